/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recordings below the recordings directory: listed and removed. */
#ifndef LIZARD_CMDS_CATALOG_H
#define LIZARD_CMDS_CATALOG_H

#include <stdbool.h>
#include <common/base/text.h>
#include <lizard/recording.h>

/* The folder of a recording in which its sources are unpacked when a debugger needs them. */
#define LZ_SOURCES_UNPACKED "sources.kept"

struct lz_entry {
	char *name, *path;
	struct lz_meta meta; /* zeroes if bad */
	char *bad;           /* why meta cannot be read, or NULL */
	uint64_t began;      /* seconds since the epoch; if bad, when meta was last written */
	bool busy;
	uint64_t bytes; /* on disk, all files; 0 in a catalog without sizes */
};

struct lz_catalog {
	char *dir;
	struct lz_entry *v; /* oldest first */
	size_t n, room;
	bool no_sizes; /* each takes a look at all files of a recording */
};

/* A directory that does not exist is empty. */
int lz_catalog_read(struct lz_catalog *c);
void lz_catalog_free(struct lz_catalog *c);
void lz_entry_free(struct lz_entry *e);
/* How it ended, or what is wrong: "exit 0", "recording", "became 12.2", ... */
const char *lz_entry_status(const struct lz_entry *e, char buf[LZ_TEXT]);
/* Adds the recording at PATH; all in the directory DIR, if it exists. In no order. */
int lz_catalog_add(struct lz_catalog *c, const char *path);
int lz_catalog_add_all(struct lz_catalog *c, const char *dir);

/* Bytes of all files of the recording at PATH; of one with several names its share. */
uint64_t lz_recording_bytes(const char *path);
/* Removes a recording's files and its directory; PROG-latest then names the newest one left of the
 * program, or goes too. Refuses what is no recording or is being written. */
int lz_recording_remove(const char *path);

#endif
