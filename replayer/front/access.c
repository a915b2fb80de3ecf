/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches for accesses to memory, and what they find as text:
 *
 *   how=written|read|both
 *   call=read(3, "...", 12) = 12    if an event did it: a system call as strace shows it, or what it was
 *   event=N
 *   none=start|frame    nothing was found, since there */
#include "replayer/front/inside.h"
#include "replayer/origin/access.h"
#include "replayer/strace/strace.h"

#include <common/base/print.h>
#include <lizard/error.h>
#include <lizard/syscalls.h>
#include <stdlib.h>

enum { STRING = 32 };

static size_t read_memory(void *arg, uint64_t addr, void *buf, size_t len)
{
	struct lz_front *f = arg;

	return lz_session_read(f->s, addr, buf, len);
}

static void print_call(FILE *to, struct lz_front *f, const struct lz_event *ev)
{
	const struct lz_strace_options o = {.string = STRING, .read = read_memory, .arg = f};
	struct lz_strace_text t;

	lz_print(to, "call=%s(", lz_call_name(ev->nr, ev->args));
	if (lz_strace_event(&o, ev, &t) < 0) {
		fputs("...)\n", to);
		return;
	}
	for (unsigned i = 0; i < t.n; i++)
		lz_print(to, "%s%s", i ? ", " : "", t.args[i] ? t.args[i] : "...");
	lz_print(to, ") = %s\n", t.result ? t.result : "?");
	lz_strace_free(&t);
}

void lz_front_print_event(FILE *to, struct lz_front *f, const struct lz_event *ev)
{
	switch (ev->kind) {
	case LZ_EV_SYSCALL: print_call(to, f, ev); return;
	case LZ_EV_SIGNAL: lz_print(to, "call=the delivery of signal %u\n", ev->signo); return;
	case LZ_EV_INSN: lz_print(to, "call=the instruction %s\n", lz_insn_name(ev->insn)); return;
	case LZ_EV_SHARED: lz_print(to, "call=another process\n"); return;
	default: lz_print(to, "call=a switch of threads\n"); return;
	}
}

static int tell_none(struct lz_front *f, const char *since)
{
	return asprintf(&f->found, "none=%s\n", since) < 0 ? lz_fail("out of memory") : 0;
}

static int tell(struct lz_front *f, const struct lz_accessed *a)
{
	size_t len;
	FILE *to = open_memstream(&f->found, &len);

	if (!to)
		return lz_fail("out of memory");
	lz_print(to, "how=%s\n", a->read && a->written ? "both" : a->read ? "read" : "written");
	const struct lz_event *ev = a->by_event ? lz_reader_event(f->reader, a->event) : NULL;
	if (ev) {
		lz_front_print_event(to, f, ev);
		lz_print(to, "event=%lu\n", (unsigned long)a->event);
	}
	fclose(to);
	return 0;
}

int lz_front_access(struct lz_front *f, const struct lz_front_move *m)
{
	const struct lz_access_query q = {.direction = m->direction,
	                                  .kind = m->access,
	                                  .addr = m->addr,
	                                  .len = m->len,
	                                  .here = m->here,
	                                  .from = {m->pos.event, m->pos.marker},
	                                  .frame = {m->entry, m->sp, *m->local ? m->local : NULL},
	                                  .code = {m->code_start, m->code_end}};
	struct lz_accessed a;

	free(f->found);
	f->found = NULL;
	int ret = lz_access_go(f->s, &q, &a);
	switch (ret) {
	case 0: return tell(f, &a);
	case LZ_ACCESS_NONE: return tell_none(f, "start");
	case LZ_ACCESS_FRAME: return tell_none(f, "frame");
	case LZ_ACCESS_INTERRUPTED: f->stop.reason = LZ_STOP_INTERRUPTED; return 0;
	default: return -1;
	}
}
