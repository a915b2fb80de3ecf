/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/timeline.h"

#include <lizard/error.h>
#include <lizard/mark.h>
#include <lizard/syscalls.h>
#include <sched.h>
#include <sys/syscall.h>

const char *lz_interval_call(const struct lz_interval *v, size_t i)
{
	return lz_syscall_name(v->calls.v[i].key);
}

static bool is_birth(const struct lz_event *ev, const struct lz_syscall *row)
{
	return row && row->klass == LZ_SC_FORK && ev->result > 0;
}

static bool is_thread(const struct lz_event *ev)
{
	return ev->nr == SYS_clone && ev->args[0] & CLONE_THREAD;
}

static int count(struct lz_interval *v, const struct lz_event *ev)
{
	const struct lz_syscall *row = ev->kind == LZ_EV_SYSCALL ? lz_syscall(ev->nr) : NULL;

	v->events++;
	v->signals += ev->kind == LZ_EV_SIGNAL;
	v->turns += ev->kind == LZ_EV_SWITCH;
	v->mappings += ev->n_ops;
	v->threads += is_birth(ev, row) && is_thread(ev);
	v->programs += !!(ev->flags & LZ_EVF_REBASE);
	v->processes += is_birth(ev, row) && !is_thread(ev);
	if (ev->kind != LZ_EV_SYSCALL)
		return 0;
	if (lz_is_mark(ev->nr, ev->args)) {
		v->marks += ev->n_writes;
		return 0;
	}
	v->n_calls++;
	return lz_tally_add(&v->calls, ev->nr, 1);
}

/* Where interval I ends: the events before, and the markers. */
static int ends(struct lz_asked *a, uint32_t i, uint64_t *event, uint64_t *marker)
{
	const struct lz_checkpoint *ck = NULL;

	*event = lz_reader_n_events(a->reader);
	*marker = lz_stream_len(a->stream);
	if (i + 1 >= lz_reader_n_checkpoints(a->reader))
		return 0;
	if (!(ck = lz_reader_checkpoint(a->reader, i + 1)))
		return -1;
	*event = ck->pos.event;
	*marker = ck->pos.marker;
	return 0;
}

static int fill(struct lz_asked *a, const struct lz_event_piece *p, uint64_t from, uint64_t to,
                struct lz_interval *v)
{
	for (uint64_t i = from > p->from ? from : p->from; i < to && i < p->to; i++) {
		const struct lz_event *ev = lz_reader_event(a->reader, i);
		if (!ev)
			return -1;
		if (lz_work_done(&a->work, 1) < 0) {
			a->partial = true;
			return 0;
		}
		if ((!a->tid || a->tid == ev->tid) && count(v, ev) < 0)
			return -1;
	}
	lz_tally_sort(&v->calls);
	return 0;
}

static uint64_t overlap(const struct lz_asked *a, uint64_t from, uint64_t to)
{
	from = from > a->from ? from : a->from;
	to = to < a->to ? to : a->to;
	return to > from ? to - from : 0;
}

static int tell(struct lz_asked *a, const struct lz_event_piece *p, uint32_t i, lz_timeline_fn *fn,
                void *arg)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(a->reader, i);
	uint64_t event, marker;

	if (!ck)
		return -1;
	struct lz_interval v = {.number = i, .begin = ck->pos, .time_ns = ck->time_ns};
	int rc = ends(a, i, &event, &marker);
	if (rc < 0)
		return rc;
	v.markers = overlap(a, v.begin.marker, marker);
	rc = fill(a, p, v.begin.event, event, &v);
	if (rc == 0 && !a->partial && (v.markers || v.events))
		rc = fn(arg, &v);
	lz_tally_free(&v.calls);
	return rc;
}

int lz_timeline(struct lz_asked *a, const struct lz_event_piece *p, lz_timeline_fn *fn, void *arg)
{
	const uint32_t n = lz_reader_n_checkpoints(a->reader);
	int rc = 0;

	lz_work_begin(&a->work, "reading events", p->to > p->from ? p->to - p->from : 0);
	for (uint32_t i = 0; rc == 0 && i < n && !a->partial; i++)
		rc = tell(a, p, i, fn, arg);
	if (!a->partial)
		lz_work_end(&a->work);
	return rc;
}
