/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/written.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 64 };

static bool is_among(uint32_t fd, const uint32_t *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] == fd)
			return true;
	return false;
}

static int add(struct lz_asked *a, const struct lz_event *ev, uint32_t fd,
               struct lz_written_list *list)
{
	if (lz_reserve(list->v, list->room, list->n + 1) < 0)
		return -1;
	list->v[list->n++] =
	    (struct lz_written){.event = ev->index,
	                        .marker = ev->marker,
	                        .fd = fd,
	                        .tid = ev->tid,
	                        .thread = lz_stream_thread_at(&a->threads, ev->index)};
	return 0;
}

int lz_written_find(struct lz_asked *a, const struct lz_event_piece *p, const uint32_t *fds,
                    size_t n, struct lz_written_list *list)
{
	uint32_t fd;

	lz_work_begin(&a->work, "reading events", p->to - p->from);
	int rc = 0;
	for (uint64_t i = p->from; rc == 0 && i < p->to; i++) {
		const struct lz_event *ev = lz_reader_event(a->reader, i);
		if (!ev)
			rc = -1;
		else if (lz_work_done(&a->work, 1) < 0)
			a->partial = true;
		else if ((!a->tid || a->tid == ev->tid) && lz_written_to(ev, &fd) &&
		         is_among(fd, fds, n))
			rc = add(a, ev, fd, list);
		if (a->partial)
			return rc;
	}
	lz_work_end(&a->work);
	return rc;
}

/* ---- stacks ---- */

struct looking {
	struct lz_written_list *list;
	size_t next; /* the first that has no stack yet */
};

static int take_stack(struct lz_written *w, const struct lz_decoder *d)
{
	const bool runs = w->thread == d->thread;
	const struct lz_act *acts = runs ? d->acts : NULL;
	size_t n = runs ? d->n : 0;

	if (!runs && w->thread < d->n_stacks) {
		acts = d->stack[w->thread].acts;
		n = d->stack[w->thread].n;
	}
	w->depth = n;
	w->n = n < FRAMES ? (uint32_t)n : FRAMES;
	w->stack = malloc((w->n + 1u) * sizeof(*w->stack));
	if (!w->stack)
		return lz_fail("out of memory for call stacks");
	for (uint32_t i = 0; i < w->n; i++)
		w->stack[i] = acts[n - 1 - i].fn;
	return 0;
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct looking *l = arg;
	int rc = 0;

	while (rc == 0 && l->next < l->list->n && l->list->v[l->next].marker <= m->offset)
		rc = take_stack(&l->list->v[l->next++], d);
	return rc;
}

int lz_written_stacks(struct lz_asked *a, struct lz_written_list *list, size_t from)
{
	struct looking l = {.list = list, .next = from};
	struct lz_walk walk = {.calls_only = true, .fn = on_mark, .arg = &l};

	if (from >= list->n || !lz_stream_len(a->stream))
		return 0;
	int rc = lz_asked_walk(a, "reading the control flow", &walk);
	if (rc == 0 && !a->partial)
		rc = on_mark(&l, lz_stream_decoder(a->stream),
		             &(struct lz_mark){.offset = UINT64_MAX});
	return rc;
}

void lz_written_free(struct lz_written_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i].stack);
	free(list->v);
	*list = (struct lz_written_list){0};
}
