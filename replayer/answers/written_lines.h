/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines that calls write, of each descriptor by itself. A line may be written by several calls. */
#ifndef LIZARD_REPLAYER_WRITTEN_LINES_H
#define LIZARD_REPLAYER_WRITTEN_LINES_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So much of a call is looked at, and so much of a line that earlier calls have begun. */
enum { LZ_WRITTEN_MOST = 1 << 20, LZ_WRITTEN_BEFORE = 4096 };

struct lz_written_line {
	uint32_t fd;
	bool begins;   /* the text begins where a line does */
	size_t old;    /* bytes of earlier calls; those of the present one follow */
	uint8_t *text; /* with a zero behind it, to which the sanitizers' regexec() reads */
	size_t n, room;
};

struct lz_written_lines {
	struct lz_written_line *v;
	size_t n, room;
};

/* That of FD, empty if nothing was written before; NULL: no memory. Valid until the next one is new. */
struct lz_written_line *lz_written_line(struct lz_written_lines *l, uint32_t fd);
/* Takes bytes of a call, as lz_written_each() gives them to a struct lz_written_line *. 1: that is all
 * that is looked at. */
int lz_written_line_take(void *line, const uint8_t *bytes, size_t n);
/* The present call is over: what it left of a line without an end stays. */
void lz_written_line_over(struct lz_written_line *line);
/* Is there a match with bytes of the present call in it? M: where in the text the first one is. */
bool lz_written_line_match(const struct lz_written_line *line, const regex_t *pattern,
                           regmatch_t *m);
void lz_written_lines_free(struct lz_written_lines *l);

#endif
