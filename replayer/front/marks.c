/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last mark that the program has made before an instant. */
#include "replayer/front/inside.h"

#include <common/base/array.h>
#include <common/base/printable.h>
#include <lizard/error.h>
#include <lizard/mark.h>

static int add(void *arg, const struct lz_event *ev, const char *text)
{
	struct lz_front_marks *m = arg;

	(void)text;
	if (lz_reserve(m->v, m->cap, m->n + 1) < 0)
		return lz_fail("out of memory for the program's marks");
	m->v[m->n++] = ev->index;
	return 0;
}

static int read_on(struct lz_front *f, uint64_t now)
{
	struct lz_front_marks *m = &f->marks;

	if (m->read >= now)
		return 0;
	const uint64_t from = m->read;
	m->read = now;
	return lz_marks_each(f->reader, from, now, add, m);
}

uint64_t lz_front_last_mark(struct lz_front *f, uint64_t now, char *text, size_t size)
{
	const struct lz_front_marks *m = &f->marks;
	char all[LIZARD_MARK_MOST + 1];
	const struct lz_event *ev;

	if (read_on(f, now) < 0)
		lz_debug("marks: %s", lz_error());
	const size_t n = lz_lower_bound(i, m->n, m->v[i] < now);
	if (!n || !(ev = lz_reader_event(f->reader, m->v[n - 1])) || !lz_mark_text(ev, all))
		return 0;
	lz_copy_printable(text, size, all, "");
	return n;
}
