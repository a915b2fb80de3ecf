/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole events. */
#include "replayer/strace/kinds.h"
#include "replayer/strace/show.h"

#include <common/base/print.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <lizard/mark.h>
#include <lizard/syscalls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { CALLS = 512, SPEC = 160 };

/* By the call's number. */
static const char *const specs[CALLS] = {
#define LZ_SHOW(name, spec) [SYS_##name] = spec,
#include "replayer/strace/calls.tbl"
#undef LZ_SHOW
};

static const char *spec_of(const struct lz_event *ev)
{
	const bool hello = strcmp(lz_call_name(ev->nr, ev->args), lz_syscall_name(ev->nr));

	if (lz_is_mark(ev->nr, ev->args))
		return ev->args[2] ? "none,<buf:ret,none" : "none,none,none";
	return ev->nr < sizeof(specs) / sizeof(*specs) && !hello ? specs[ev->nr] : NULL;
}

/* ---- texts ---- */

static int open_text(FILE **to, char **text, size_t *len)
{
	*to = open_memstream(text, len);
	return *to ? 0 : lz_fail_errno("no memory for the text of a system call");
}

/* ---- arguments ---- */

static void show_number(struct lz_show *s, uint64_t v)
{
	if (v < 10000)
		lz_show_unsigned(s, v);
	else
		lz_show_hex(s, v);
}

static int add_arg(struct lz_show *s, char *kind, unsigned i, struct lz_strace_text *t)
{
	size_t len;

	if (open_text(&s->to, &t->args[t->n], &len) < 0)
		return -1;
	if (kind)
		lz_show_kind(s, kind, i);
	else
		show_number(s, s->ev->args[i]);
	fclose(s->to);
	t->n++;
	/* what shows nothing is no argument of this call */
	if (kind && !len)
		free(t->args[--t->n]), t->args[t->n] = NULL;
	return 0;
}

static int show_plainly(struct lz_show *s, struct lz_strace_text *t)
{
	const struct lz_syscall *row = lz_syscall(s->ev->nr);
	const unsigned n = row && row->n_args <= LZ_STRACE_ARGS ? row->n_args : LZ_STRACE_ARGS;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = add_arg(s, NULL, i, t);
	return rc;
}

/* *RESULT: the kind of the result. */
static int show_args(struct lz_show *s, const char *spec, char *copy, char **result,
                     struct lz_strace_text *t)
{
	unsigned i = 0;
	int rc = 0;

	if (!spec)
		return show_plainly(s, t);
	snprintf(copy, SPEC, "%s", spec);
	if ((*result = strchr(copy, '=')))
		*(*result)++ = 0;
	for (char *at = copy; rc == 0 && at && *at && i < LZ_STRACE_ARGS; i++) {
		char *kind = strsep(&at, ",");
		rc = add_arg(s, kind, i, t);
	}
	return rc;
}

/* ---- the result ---- */

/* What the kernel says to itself of a call that a signal has interrupted. */
static const char *restarted(int e)
{
	switch (e) {
	case 512: return "? ERESTARTSYS (To be restarted if SA_RESTART is set)";
	case 513: return "? ERESTARTNOINTR (To be restarted)";
	case 514: return "? ERESTARTNOHAND (To be restarted if no handler)";
	case 516: return "? ERESTART_RESTARTBLOCK (Interrupted by signal)";
	default: return NULL;
	}
}

static void show_failure(struct lz_show *s, int64_t result)
{
	const int e = (int)-result;

	if (restarted(e)) {
		lz_print(s->to, "%s", restarted(e));
		return;
	}
	fputs("-1 ", s->to);
	lz_show_errno(s, e);
	lz_print(s->to, " (%s)", strerrordesc_np(e) ? strerrordesc_np(e) : "?");
}

static void show_flags_behind(struct lz_show *s, const char *table)
{
	lz_show_hex(s, (uint64_t)s->ev->result);
	fputs(" (flags ", s->to);
	lz_show_flags(s, table, (uint64_t)s->ev->result);
	fputc(')', s->to);
}

static void show_success(struct lz_show *s, const char *kind)
{
	enum { GETFD = 1, GETFL = 3 };
	const uint64_t v = (uint64_t)s->ev->result;
	const bool fcntl = kind && !strcmp(kind, "fcntl");

	if (kind && !strcmp(kind, "ptr"))
		fprintf(s->to, "%#" PRIx64, v);
	else if (kind && !strcmp(kind, "mode"))
		fprintf(s->to, "%#" PRIo64, v);
	else if (kind && !strcmp(kind, "sched") && lz_name_of("sched", v))
		lz_print(s->to, "%" PRIu64 " (%s)", v, lz_name_of("sched", v));
	else if (kind && !strcmp(kind, "sig")) {
		fprintf(s->to, "%" PRIu64 " (", v);
		lz_show_signal(s, v);
		fputc(')', s->to);
	} else if (fcntl && s->ev->args[1] == GETFL)
		show_flags_behind(s, "open");
	else if (fcntl && s->ev->args[1] == GETFD && v)
		show_flags_behind(s, "fd");
	else
		lz_show_int(s, s->ev->result);
}

static int show_result(struct lz_show *s, const char *kind, const char *note,
                       struct lz_strace_text *t)
{
	size_t len;

	if (open_text(&s->to, &t->result, &len) < 0)
		return -1;
	/* where a signal handler returns to, the result is that of the call that it has interrupted */
	const bool back = s->ev->nr == SYS_rt_sigreturn && s->ev->has_regs;
	const int64_t result = back ? (int64_t)s->ev->regs.rax : s->ev->result;
	if (kind && !strcmp(kind, "none"))
		fputc('?', s->to);
	else if (result < 0 && result > -4096)
		show_failure(s, result);
	else if (back)
		lz_show_int(s, result);
	else
		show_success(s, kind);
	if (note && *note)
		lz_print(s->to, " (%s)", note);
	fclose(s->to);
	return 0;
}

static int show_call(struct lz_show *s, struct lz_strace_text *t)
{
	char copy[SPEC], *kind = NULL, *note = NULL;
	size_t len;

	if (open_text(&s->note, &note, &len) < 0)
		return -1;
	int rc = show_args(s, spec_of(s->ev), copy, &kind, t);
	fclose(s->note);
	if (rc == 0)
		rc = show_result(s, kind, note, t);
	free(note);
	return rc;
}

static int show_signal(struct lz_show *s, struct lz_strace_text *t)
{
	size_t len;

	if (open_text(&s->to, &t->signal, &len) < 0)
		return -1;
	lz_show_signal(s, s->ev->signo);
	fputc(' ', s->to);
	lz_show_siginfo(s, s->ev->siginfo);
	fclose(s->to);
	return 0;
}

int lz_strace_event(const struct lz_strace_options *o, const struct lz_event *ev,
                    struct lz_strace_text *t)
{
	struct lz_show s = {.o = o, .ev = ev};
	int rc = 0;

	*t = (struct lz_strace_text){.n = 0};
	if (ev->kind == LZ_EV_SYSCALL || (ev->kind == LZ_EV_SWITCH && ev->flags & LZ_EVF_IN_CALL))
		rc = show_call(&s, t);
	else if (ev->kind == LZ_EV_SIGNAL)
		rc = show_signal(&s, t);
	if (rc < 0)
		lz_strace_free(t);
	return rc;
}

void lz_strace_free(struct lz_strace_text *t)
{
	for (unsigned i = 0; i < LZ_STRACE_ARGS; i++)
		free(t->args[i]);
	free(t->result);
	free(t->signal);
	*t = (struct lz_strace_text){.n = 0};
}

bool lz_strace_takes(const struct lz_event *ev)
{
	const char *spec = ev->kind == LZ_EV_SYSCALL ? spec_of(ev) : NULL;
	unsigned i = 0;

	for (; spec && *spec && i < LZ_STRACE_ARGS; i++) {
		if ((*spec == '>' || *spec == '*') && ev->args[i])
			return true;
		spec += strcspn(spec, ",");
		spec += *spec == ',';
	}
	return false;
}
