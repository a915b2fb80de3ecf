/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A divergence, said in words. */
#include "replayer/engine/engine.h"
#include <common/base/printable.h>
#include <lizard/error.h>
#include <lizard/syscalls.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_event(FILE *f, const struct lz_event *ev)
{
	fprintf(f, "\n  event %" PRIu64 ", thread %u, at marker %" PRIu64 ", %#" PRIx64 ": ",
	        ev->index, ev->tid, ev->marker, ev->ip);
	switch (ev->kind) {
	case LZ_EV_SYSCALL:
		fprintf(f, "%s(%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ") = %" PRId64,
		        lz_syscall_name(ev->nr), ev->args[0], ev->args[1], ev->args[2], ev->result);
		break;
	case LZ_EV_SIGNAL:
		fprintf(f, "signal %u (%s)", ev->signo, strsignal((int)ev->signo));
		break;
	case LZ_EV_SWITCH: fprintf(f, "switch to thread %u", ev->next); break;
	case LZ_EV_INSN: fprintf(f, "%s", lz_insn_name(ev->insn)); break;
	case LZ_EV_SHARED: fprintf(f, "stores of other processes"); break;
	default: fprintf(f, "exit");
	}
}

/* What the recorder has named as not recorded faithfully. */
static void print_outside(FILE *f, char **outside)
{
	if (outside && *outside)
		fprintf(f, "\nThe probable reason: what others stored meanwhile in memory that the "
		           "program shared with them is not recorded:");
	for (; outside && *outside; outside++) {
		fprintf(f, "\n  ");
		lz_put_printable(f, *outside, "");
	}
}

int lz_engine_diverge(struct lz_engine *e, const char *fmt, ...)
{
	char *text = NULL, *what = NULL, where[LZ_POS_TEXT];
	size_t len;
	struct lz_pos pos = {lz_engine_tid(e), 1, e->event, e->marker, e->regs.rip};
	FILE *f = open_memstream(&text, &len);
	va_list ap;

	if (!f)
		return lz_fail("out of memory");
	lz_pos_print(&pos, where);
	fprintf(f, "event %" PRIu64 ", position %s: ", e->event, where);
	va_start(ap, fmt);
	if (vasprintf(&what, fmt, ap) < 0)
		what = NULL;
	va_end(ap);
	lz_put_printable(f, what ? what : "out of memory", "\n");
	free(what);
	uint64_t first = lz_reader_first_event(e->rp->reader);
	if (e->event > first + 4)
		first = e->event - 4;
	if (e->event > first)
		fprintf(f, "\nthe last events:");
	for (uint64_t i = first; i < e->event; i++) {
		const struct lz_event *ev = lz_reader_event(e->rp->reader, i);
		if (ev)
			print_event(f, ev);
	}
	print_outside(f, lz_reader_meta(e->rp->reader)->outside);
	fclose(f);
	free(e->rp->divergence);
	e->rp->divergence = text;
	e->rp->diverged = true;
	if (e->rp->answered && !e->rp->always_answer)
		e->rp->stop_at_calls = true;
	lz_fail("replay diverged: %s", text ? text : "?");
	return 1;
}
