/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks: calls by which the program notes instants of its own. What it includes is <lizard.h>. The
 * call does not reach the kernel, and its event holds the text as if the call had written it. */
#ifndef LIZARD_MARK_H
#define LIZARD_MARK_H

#include <lizard.h>
#include <stdbool.h>
#include <stdint.h>

struct lz_event;
struct lz_reader;

/* Is this call a mark, or the question whether somebody records? That has no bytes. */
static inline bool lz_is_mark(uint64_t nr, const uint64_t *args)
{
	const uint64_t nr_write = 1;

	return nr == nr_write && (uint32_t)args[0] == (uint32_t)LIZARD_MARK_FD;
}

/* The text of a mark, as a string, which ends at a zero byte; false: the event is no mark. It may
 * hold anything else. */
bool lz_mark_text(const struct lz_event *ev, char text[LIZARD_MARK_MOST + 1]);
/* Calls FN for each mark among the events from number FROM to TO, TO not among them, in order. What
 * FN returns ends it if it is not 0, and is returned. -1: lz_error(). */
int lz_marks_each(struct lz_reader *r, uint64_t from, uint64_t to,
                  int (*fn)(void *arg, const struct lz_event *ev, const char *text), void *arg);

#endif
