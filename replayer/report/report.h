/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What there is to say of a recording without asking: how it ended, where its threads were, what
 * they did last. Facts are JSON, whose form lizard-report(1) describes; text and Markdown are made
 * of them. Strings of a recording are in them as they are, and are escaped where they are shown. */
#ifndef LIZARD_REPLAYER_REPORT_H
#define LIZARD_REPLAYER_REPORT_H

#include <jansson.h>
#include <lizard/recording.h>
#include <stdbool.h>
#include <stdio.h>

struct lz_report_options {
	unsigned lines, calls; /* so many of the last ones */
	unsigned seconds;      /* for GDB, and for the output, of each process */
	/* May a line of the source file PATH be shown? A recording could name any file of this
	 * machine. */
	bool (*shows)(void *arg, const char *path);
	void *arg;
};

/* Of the recording DIR of one process: what `meta` tells. */
json_t *lz_report_facts(const char *dir, const struct lz_meta *m);
/* Adds to these facts what replay tells. What cannot be had is named in them. -1: nothing can. */
int lz_report_details(json_t *facts, const char *dir, const struct lz_report_options *o);

/* The parts of that (-1: lz_error()). */
int lz_report_calls(json_t *facts, struct lz_reader *r, const struct lz_report_options *o);
int lz_report_output(json_t *facts, const char *dir, const struct lz_report_options *o);
/* *PART: the one that failed. */
int lz_report_stacks(json_t *facts, const char *dir, const struct lz_report_options *o,
                     const char **part);
/* Line NUMBER of the file PATH, malloced; NULL: there is none, or it is no line of text. */
char *lz_report_source(const char *path, unsigned number);

/* REPORT: {"recording": ..., "processes": [facts...]} */
void lz_report_text(FILE *to, const json_t *report);
/* For a page that renders it: no text of the recording can be taken for markup. */
void lz_report_markdown(FILE *to, const json_t *report);

/* One part of a report about a process, in lines. */
struct lz_report_part {
	const char *title;
	void (*print)(FILE *to, const json_t *facts);
};
enum { LZ_REPORT_PARTS = 5 };
extern const struct lz_report_part lz_report_parts[LZ_REPORT_PARTS];
/* What PART prints, malloced; NULL: nothing. */
char *lz_report_lines(const struct lz_report_part *part, const json_t *facts);
/* Prints the lines of TEXT, each behind INDENT. */
void lz_report_each_line(FILE *to, const char *text, const char *indent);

#endif
