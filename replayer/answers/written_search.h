/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goes through calls that have written, by replay, with what each has written. */
#ifndef LIZARD_REPLAYER_WRITTEN_SEARCH_H
#define LIZARD_REPLAYER_WRITTEN_SEARCH_H

#include "replayer/answers/written.h"
#include "replayer/answers/written_lines.h"

struct lz_written_search {
	struct lz_asked *a;
	const struct lz_written_list
	    *list; /* earlier calls as well, for the lines that they began */
	const uint32_t *fds;
	size_t n_fds;
	const regex_t *pattern; /* only calls with a match; NULL: all */
	/* Call number I of the list. LINE and M: its text and the match; NULL without a pattern.
	 * Non-zero ends the search, and is returned: not 1 or 2. */
	int (*fn)(void *arg, size_t i, const struct lz_event *ev, struct lz_arrival *memory,
	          const struct lz_written_line *line, const regmatch_t *m);
	void *arg;
};

/* The calls from number FROM to TO, TO not among them. 0, also if a signal has ended it
 * (A->partial); -1: lz_error(). */
int lz_written_pass(const struct lz_written_search *of, size_t from, size_t to);
/* *FIRST: from this number on there are N calls with a match before number TO, or all from FROM on if
 * there are fewer. Goes backwards, from checkpoint to checkpoint. FN is not called. */
int lz_written_last(const struct lz_written_search *of, size_t from, size_t to, uint64_t n,
                    size_t *first);

#endif
