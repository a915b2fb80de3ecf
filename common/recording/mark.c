/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <lizard/event.h>
#include <lizard/mark.h>
#include <lizard/recording.h>
#include <string.h>

bool lz_mark_text(const struct lz_event *ev, char text[LIZARD_MARK_MOST + 1])
{
	if (ev->kind != LZ_EV_SYSCALL || !lz_is_mark(ev->nr, ev->args) || ev->n_writes != 1 ||
	    ev->writes[0].len > LIZARD_MARK_MOST)
		return false;
	memcpy(text, ev->writes[0].bytes, ev->writes[0].len);
	text[ev->writes[0].len] = 0;
	return true;
}

int lz_marks_each(struct lz_reader *r, uint64_t from, uint64_t to,
                  int (*fn)(void *arg, const struct lz_event *ev, const char *text), void *arg)
{
	char text[LIZARD_MARK_MOST + 1];
	int rc = 0;

	if (from < lz_reader_first_event(r))
		from = lz_reader_first_event(r);
	for (uint64_t i = from; rc == 0 && (i = lz_reader_event_telling(r, i)) < to; i++) {
		const struct lz_event *ev = lz_reader_event(r, i);

		if (!ev)
			return -1;
		if (lz_mark_text(ev, text))
			rc = fn(arg, ev, text);
	}
	return rc;
}
