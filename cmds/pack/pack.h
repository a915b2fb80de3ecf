/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording in one file, or several: a tar archive, packed with zstd. Beside the recording's own files it
 * holds those of the other processes, `processes/`, and `sources/`, the programs' source files as
 * they are found when it is packed, each below its absolute name. A file that several processes
 * have is in it once, and hard links to it. `debug/.build-id/` has separate debug information.
 *
 * Of several recordings, each has all that in a folder of its own, `recordings/NAME/`. What they have
 * in common, by its bytes, is in it once. */
#ifndef LIZARD_CMDS_PACK_H
#define LIZARD_CMDS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmds/base/processes.h>

/* ---- source files ---- */

/* What becomes of a file that debug information names. */
enum lz_source_fate {
	LZ_SOURCE_PACKED,
	LZ_SOURCE_KEPT,   /* the recording has it as it was then: that goes in */
	LZ_SOURCE_ABSENT, /* from here on: left out */
	LZ_SOURCE_OUTSIDE,
	LZ_SOURCE_WIDE,
	LZ_SOURCE_FOREIGN,
	LZ_SOURCE_PRIVATE,
	LZ_SOURCE_HIDDEN,
	LZ_SOURCE_NO_FILE,
	LZ_SOURCE_UNREADABLE,
	LZ_SOURCE_FATES
};

struct lz_source {
	char *path;
	enum lz_source_fate fate;
	const char *root; /* the directory for whose sake it is packed */
};

struct lz_sources {
	struct lz_source *v; /* sorted by path, none absent */
	size_t n, n_packed;
	bool wanted; /* those that the recording keeps, too */
	struct lz_source_root {
		char *given, *real; /* real: NULL if nothing is taken for its sake */
	} * roots;
	size_t n_roots;
};

/* The source files that the debug information of the recordings ALL names and that are here. Below
 * DIRS, and below the compilation directory if the program is here as it was recorded, they go into
 * a pack. */
int lz_sources_find(const struct lz_processes *all, char *const *dirs, size_t n_dirs,
                    struct lz_sources *s);
void lz_sources_free(struct lz_sources *s);
/* Those that the recording DIR keeps are not taken from here. */
int lz_sources_prefer_kept(struct lz_sources *s, const char *dir);

/* pack_allow.c: may it go in? */
/* The real path of a compilation directory below which there are sources and little else, malloced.
 * NULL: it is not one; no error. */
char *lz_compilation_dir(const char *dir);
/* Whether PATH is below the real directory ROOT and may be given away. *FD, if FD is not NULL: it
 * is opened. */
enum lz_source_fate lz_source_check(const char *path, const char *root, int *fd);

/* Is the file of which COPY is a recording's copy here, at its path, with the same bytes? */
bool lz_is_here(const struct lz_file *f, int copy);

/* ---- separate debug information ---- */

struct lz_debug_files {
	struct lz_debug_file {
		char *path;
		char *name;            /* in the pack */
		char *build_id, *root; /* one is NULL; root: as for source files */
	} * v;
	size_t n;
};
/* Those of the programs and libraries of the recordings ALL that are here as they were recorded. */
int lz_debug_find(const struct lz_processes *all, struct lz_debug_files *d);
/* The one that lies beside the program or library F, of which COPY is the copy. */
int lz_debug_beside(const struct lz_file *f, int copy, struct lz_debug_files *d);
void lz_debug_free(struct lz_debug_files *d);
/* Opens it if it still is what it was taken for and others may read it. */
int lz_debug_open(const struct lz_debug_file *f);

/* ---- writing ---- */

/* A list of names; owned. */
struct lz_names {
	char **v;
	size_t n;
};
/* Unless it is there already. */
int lz_names_add(struct lz_names *names, const char *name);
void lz_names_free(struct lz_names *names);

/* The LEN bytes of a `meta` without the values of variables that look secret, whose names are added
 * to LEFT_OUT. malloced; *LEN: how long it is then. */
char *lz_pack_meta(const char *text, size_t *len, struct lz_names *left_out);

/* The directories of the compilations for whose sake there are SOURCES, a line each. malloced. */
char *lz_pack_roots(const struct lz_sources *sources, size_t *len);

/* Is NAME, within a recording, one of its own files? */
bool lz_pack_is_own(const char *name);
/* Or the copy of a file that was mapped? */
bool lz_pack_is_copy(const char *name);
/* Or what was computed again of it? */
bool lz_pack_is_index(const char *name);
/* Or one that may be a link to a file of another recording? NAME: within a pack of one recording. */
bool lz_pack_is_linked(const char *name);
/* NAME without the process that it belongs to. */
const char *lz_pack_in_recording(const char *name);

#define LZ_PACK_SEVERAL "recordings/"
enum { LZ_PACK_MOST = 100 }; /* of several recordings */

/* A recording with what goes into a pack for its sake. */
struct lz_pack_item {
	const char *name; /* among several */
	struct lz_processes all;
	struct lz_sources sources;   /* may be empty */
	struct lz_debug_files debug; /* likewise */
	bool index;                  /* what was computed again goes in */
};
struct lz_pack_wishes {
	bool no_sources, no_debug, all_env, index;
	char **dirs; /* of sources */
	size_t n_dirs;
};
/* Of the recording DIR. To be freed also on failure. */
int lz_pack_item_find(struct lz_pack_item *item, const char *dir, const struct lz_pack_wishes *w);
void lz_pack_item_free(struct lz_pack_item *item);
/* Packs the recording DIR into the directory FOLDER, made if it is missing, under the recording's
 * name. The file's path, malloced. */
char *lz_pack_into(const char *dir, const char *folder, const struct lz_pack_wishes *w);

struct lz_packed {
	uint64_t cost;            /* of all files in it, lz_pack_cost() */
	struct lz_names left_out; /* variables */
};
/* Writes N items to the new file PATH. Nothing is left behind on failure. ALL_ENV: with the values of
 * all variables. */
int lz_pack_write(const struct lz_pack_item *items, size_t n, const char *path, bool all_env,
                  struct lz_packed *packed);

/* Writes SOURCES alone to the new file PATH, the same bytes for the same files. */
int lz_pack_write_sources(const char *path, const struct lz_sources *sources);

/* ---- the sources that a recording keeps ---- */

/* In LZ_SOURCES_UNPACKED they are below `sources`, as in a pack, beside a file with the directories
 * of the compilations, a line each. */
#define LZ_SOURCES_ROOTS "roots"
/* More are not kept, nor unpacked. */
#define LZ_SOURCES_LIMIT ((uint64_t)256 << 20)

/* Keeps the source files of the recording DIR, with all its processes, by the rules for packs. A
 * recording beside it that has the same ones shares them. */
int lz_sources_keep(const char *dir);
/* Calls FN for each file in the packed archive PATH; SAME: it is here, too, with the same bytes. */
int lz_sources_each(const char *path, int (*fn)(void *arg, const char *name, bool same), void *arg);
/* Unpacks the archive PATH into the new directory DIR. As lz_pack_read(). */
int lz_sources_unpack(const char *path, const char *dir);
/* The folder of the recording DIR with its sources, unpacked if they are not yet. malloced. *NEEDED:
 * some are not here, or others. NULL with *NEEDED: lz_error(); else there are none, or they are
 * here. */
char *lz_sources_open(const char *dir, bool *needed);

/* ---- reading ---- */

/* What is unpacked if nobody says how much, by the sizes of the files, holes included. */
#define LZ_PACK_LIMIT ((uint64_t)16 << 30)
/* What a file counts for: its size, and a page for itself and for each folder. */
uint64_t lz_pack_cost(const char *name, uint64_t size);

/* Does PATH look like such a file? */
bool lz_pack_is(const char *path);
/* Unpacks PATH into the new directory DIR. The file is not trusted: what has another name than a
 * recording's files, is no plain file or lies outside is refused, as is more than LIMIT, and DIR
 * removed. NAMES: those of several recordings, each of which is a folder of DIR then; none of one. */
int lz_pack_read(const char *path, const char *dir, uint64_t limit, struct lz_names *names);
/* The directories of the packed recordings PATH, added to DIRS: each is one among the recordings,
 * named after the file, or after the recording if there are several, and the file's checksum. They are
 * unpacked unless they are there already. */
int lz_pack_open(const char *path, uint64_t limit, struct lz_names *dirs);

/* What a command was given: a packed recording, FILE/NAME of several, else as lz_recording_find().
 * malloced. */
char *lz_find(const char *what);

#endif
