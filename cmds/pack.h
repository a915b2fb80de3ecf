/* A recording in one file: a tar archive, packed with zstd. Beside the recording's own files it holds those of the other
 * processes, `processes/`, and `sources/`, the programs' source files as they are found when it is packed, each below its
 * absolute name. A file that several processes have is in it once, and hard links to it. */
#ifndef LIZARD_CMDS_PACK_H
#define LIZARD_CMDS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmds/processes.h>

/* A sorted list of names; owned. */
struct lz_names {
	char **v;
	size_t n;
};
void lz_names_free(struct lz_names *names);

/* The source files that the debug information of the recordings ALL names and that can be read here. */
int lz_pack_sources(const struct lz_processes *all, struct lz_names *names);

/* Is NAME, within a recording, one of its own files? */
bool lz_pack_is_own(const char *name);
/* Or the copy of a file that was mapped? */
bool lz_pack_is_copy(const char *name);
/* Writes the recordings ALL to the new file PATH, with SOURCES (may be empty). Nothing is left behind on failure. */
int lz_pack_write(const struct lz_processes *all, const char *path, const struct lz_names *sources);

/* What is unpacked if nobody says how much, by the sizes of the files, holes included. */
#define LZ_PACK_LIMIT ((uint64_t)16 << 30)
/* What a file counts for: its size, and a page for itself and for each folder. */
uint64_t lz_pack_cost(const char *name, uint64_t size);

/* Does PATH look like such a file? */
bool lz_pack_is(const char *path);
/* Unpacks PATH into the new directory DIR. The file is not trusted: what has another name than a
 * recording's files, is no plain file or lies outside is refused, as is more than LIMIT, and DIR
 * removed. */
int lz_pack_read(const char *path, const char *dir, uint64_t limit);
/* The directory of the packed recording PATH, malloced: one among the recordings, named after the file and its checksum,
 * unpacked unless it is there already. */
char *lz_pack_open(const char *path, uint64_t limit);

/* What a command was given: a packed recording, else as lz_recording_find(). malloced. */
char *lz_find(const char *what);

#endif
