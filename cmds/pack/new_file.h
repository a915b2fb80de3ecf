/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that is whole when it gets its name: nothing half is left if the process dies before. */
#ifndef LIZARD_CMDS_NEW_FILE_H
#define LIZARD_CMDS_NEW_FILE_H

#include <stdbool.h>

struct lz_new_file {
	int fd; /* to be written to */
	const char *path;
	bool named; /* already: the file system has no files without a name */
};

/* PATH must not exist, and be valid until the end. */
int lz_new_file_begin(struct lz_new_file *f, const char *path);
/* Closes it. If it is not WHOLE, nothing is left, and the result is -1 without a text. */
int lz_new_file_end(struct lz_new_file *f, bool whole);

#endif
