/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening and closing a front, and its notes: see include/lizard/front.h. */
#include "replayer/front/inside.h"
#include "replayer/program/lines.h"
#include "replayer/strace/descriptors.h"

#include <common/base/print.h>
#include <common/base/printable.h>
#include <lizard/error.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void lz_front_say(struct lz_front *f, const char *fmt, ...)
{
	char *text, *all;
	va_list ap;

	va_start(ap, fmt);
	text = lz_printed_lines(fmt, ap);
	va_end(ap);
	if (!text)
		return;
	if (asprintf(&all, "%s%s\n", f->note ? f->note : "", text) >= 0) {
		free(f->note);
		f->note = all;
	}
	free(text);
}

void lz_front_forget_outcome(struct lz_front *f)
{
	free(f->note);
	free(f->failure);
	f->note = f->failure = NULL;
}

void lz_front_outcome(struct lz_front *f, char **note, char **failure)
{
	*note = f->note;
	*failure = f->failure;
	f->note = f->failure = NULL;
}

char *lz_front_outcome_text(struct lz_front *f)
{
	char *note, *failure;

	if (f->failure)
		lz_front_say(f, "error: %s", f->failure);
	lz_front_outcome(f, &note, &failure);
	free(failure);
	return note;
}

char *lz_front_note(struct lz_front *f)
{
	return f->quiet && f->move.kind ? NULL : lz_front_outcome_text(f);
}

void lz_front_quiet(struct lz_front *f)
{
	f->quiet = true;
}

void lz_front_follow_gdb(struct lz_front *f, unsigned major)
{
	(void)f; /* a process has one debugger at a time */
	lz_lines_follow_gdb(major);
}

static int set_up(struct lz_front *f)
{
	const struct lz_regfile *regs = lz_front_regs(f);

	if (!regs)
		return lz_fail_in("reading the first registers");
	f->map = lz_regmap_new(regs->xstate, regs->xstate_len);
	if (!f->map)
		return lz_fail("out of memory for the registers' description");
	lz_front_first_stop(f);
	if (lz_session_read_ahead(f->s) < 0)
		lz_debug("nothing is read ahead: %s", lz_error());
	return 0;
}

struct lz_front *lz_front_new(struct lz_session *s, bool host_files, const char *name)
{
	struct lz_front *f = calloc(1, sizeof *f);

	if (!f) {
		lz_fail("out of memory for the debugger's state");
		return NULL;
	}
	f->s = s;
	f->host_files = host_files;
	f->name = name;
	f->reader = lz_session_reader(s);
	lz_session_keep_interrupts(s);

	lz_session_stop_at_programs(s);
	f->pid = lz_reader_meta(f->reader)->tid;
	/* to debuggers 0 is no process */
	if (!f->pid)
		lz_fail("the recording does not tell its process: `tid` of its meta is 0");
	else if (lz_front_programs_new(f) == 0 && set_up(f) == 0)
		return f;
	lz_front_free(f);
	return NULL;
}

void lz_front_free(struct lz_front *f)
{
	lz_front_undivert(f);
	lz_front_scratch_free(f);
	lz_front_here_free(f);
	while (f->breaks.n) {
		const struct lz_front_break *b = &f->breaks.v[f->breaks.n - 1];

		lz_front_remove(f, b->kind, b->addr, b->len);
	}
	free(f->breaks.v);
	lz_regmap_free(f->map);
	free(f->found);
	lz_descriptors_free(f->descriptors);
	free(f->names.v);
	free(f->marks.v);
	lz_front_programs_free(f);
	free(f->armed);
	lz_session_skip(f->s, NULL);
	lz_skips_free(f->skips);
	lz_front_forget_places(f);
	lz_front_libs_free(&f->libs.told);
	lz_front_forget_outcome(f);
	free(f);
}

uint32_t lz_front_pid(const struct lz_front *f)
{
	return f->pid;
}

uint32_t lz_front_tid(const struct lz_front *f)
{
	struct lz_pos pos;

	if (f->div.stepped_tid)
		return f->div.stepped_tid;
	if (f->run.waiting_tid)
		return f->run.waiting_tid;
	lz_session_present(f->s, &pos);
	return f->div.run && f->div.called ? f->div.tid : pos.tid;
}
