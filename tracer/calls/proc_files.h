/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program reads of itself in /proc: it sees what it would see without the recorder. */
#ifndef LIZARD_TRACER_PROC_FILES_H
#define LIZARD_TRACER_PROC_FILES_H

#include "tracer/state/tracer.h"

/* proc_own.c */
enum { LZ_PROC_NAME = 16 };
struct lz_proc_file {
	const struct lz_thread *who;
	char name[LZ_PROC_NAME]; /* "status" */
};
/* Is FD a file of /proc of the program, or of one of its threads? Those of the program that this one
 * was before an execve are not. */
bool lz_proc_file_own(const struct lz_tracer *t, int fd, struct lz_proc_file *file);

/* proc_text.c */
struct lz_proc_text {
	char *bytes; /* malloced, or NULL; a zero is behind them */
	size_t len, room;
};
/* What the program is shown of FILE, its descriptor FD, which COPY is for, too: what has been read the last
 * time, or ANEW. NULL: lz_error(). */
const struct lz_proc_text *lz_proc_text_of(const struct lz_tracer *t, int fd, int copy,
                                           const struct lz_proc_file *file, bool anew);
/* It has been read to its end. */
void lz_proc_text_read(int fd);

/* proc_files.c */
/* After a call with *RESULT, which may become another one: mends what it has read. */
int lz_proc_files_show(struct lz_tracer *t, int64_t *result);

/* proc_status.c */
/* Mends the status of thread WHO. -1: lz_error(). */
int lz_proc_status_mend(const struct lz_tracer *t, const struct lz_thread *who,
                        struct lz_proc_text *x);

/* proc_mappings.c */
/* Mends maps, smaps or numa_maps. -1: lz_error(). */
int lz_proc_mappings_mend(const struct lz_tracer *t, struct lz_proc_text *x);

#endif
