/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/event_piece.h"

#include <lizard/error.h>
#include <lizard/syscalls.h>
#include <stdlib.h>
#include <string.h>

static int event_of(const struct lz_asked *a, const char *text, uint64_t *event)
{
	const uint64_t first = lz_reader_first_event(a->reader), n = lz_reader_n_events(a->reader);
	uint64_t offset;
	struct lz_pos pos;

	if (lz_asked_offset(a, text, &offset) < 0)
		return -1;
	if (!strcmp(text, "start"))
		*event = first;
	else if (!strcmp(text, "end"))
		*event = n;
	else if (lz_pos_parse(text, &pos) == 0)
		*event = pos.event;
	else if (strchr(text, '%') && !lz_stream_len(a->stream))
		*event = first + (uint64_t)(strtod(text, NULL) / 100 * (double)(n - first));
	else if (offset >= lz_stream_len(a->stream) && strchr(text, '%'))
		*event = n;
	else
		*event = lz_reader_event_after_marker(a->reader, offset);
	return 0;
}

int lz_event_piece(const struct lz_asked *a, const char *from, const char *to,
                   struct lz_event_piece *p)
{
	const uint64_t first = lz_reader_first_event(a->reader), n = lz_reader_n_events(a->reader);

	*p = (struct lz_event_piece){first, n};
	if (from && event_of(a, from, &p->from) < 0)
		return -1;
	if (to && event_of(a, to, &p->to) < 0)
		return -1;
	if (p->from < first)
		p->from = first;
	if (p->to > n)
		p->to = n;
	return 0;
}

const char *lz_event_instant(const struct lz_event *ev, char buf[LZ_EVENT_INSTANT])
{
	const struct lz_syscall *row = ev->kind == LZ_EV_SYSCALL ? lz_syscall(ev->nr) : NULL;
	const bool exits = row && row->klass == LZ_SC_EXIT;
	const bool goes_on = !exits &&
	                     (ev->kind == LZ_EV_SYSCALL || ev->kind == LZ_EV_SIGNAL ||
	                      ev->kind == LZ_EV_INSN || ev->kind == LZ_EV_SHARED) &&
	                     !(ev->flags & (LZ_EVF_FATAL | LZ_EVF_THREAD_END | LZ_EVF_REBASE));
	char instant[LZ_INSTANT_TEXT];
	const struct lz_pos pos = {.tid = ev->tid,
	                           .event = ev->index + 1,
	                           .marker = ev->marker,
	                           .ip = ev->has_regs ? ev->regs.rip : ev->ip,
	                           .n = 1};

	if (goes_on)
		lz_pos_print(&pos, buf);
	else
		strcpy(buf, lz_asked_instant(ev->kind == LZ_EV_SWITCH ? ev->next : ev->tid,
		                             ev->marker, instant));
	return buf;
}
