/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which source files a report may quote: those that the recording itself holds. Its debug
 * information could name any file of this machine. */
#ifndef LIZARD_CMDS_REPORT_SOURCES_H
#define LIZARD_CMDS_REPORT_SOURCES_H

#include <jansson.h>
#include <stdbool.h>

struct lz_report_sources {
	json_t *same; /* names of files that are here as the recording keeps them */
	char *dir;    /* the recording, without links */
};

/* Of the recording DIR. What cannot be read is not quoted. */
void lz_report_sources_read(struct lz_report_sources *s, const char *dir);
void lz_report_sources_free(struct lz_report_sources *s);
/* SOURCES: a struct lz_report_sources. */
bool lz_report_source_is_kept(void *sources, const char *path);

#endif
