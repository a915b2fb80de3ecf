/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/show.h"

#include <common/base/print.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

enum { SIGNALS = 64 };

/* ---- sets ---- */

/* Of more than two thirds those are named that are missing. */
static void show_set(struct lz_show *s, uint64_t set)
{
	const bool most = __builtin_popcountll(set) > SIGNALS * 2 / 3;
	bool any = false;

	if (most)
		set = ~set;
	fputs(most ? "~[" : "[", s->to);
	for (int i = 1; i <= SIGNALS; i++) {
		const char *name = i < NSIG ? sigabbrev_np(i) : NULL;

		if (!(set >> (i - 1) & 1))
			continue;
		fputs(any ? " " : "", s->to);
		any = true;
		if (name)
			lz_print(s->to, "%s", name);
		else if (i == 32)
			fputs("RTMIN", s->to);
		else
			fprintf(s->to, "RT_%d", i - 32);
	}
	fputc(']', s->to);
}

void lz_show_sigset(struct lz_show *s, uint64_t addr, uint64_t len)
{
	uint64_t set = 0;

	if (!addr || !len || len > sizeof(set) || lz_show_bytes(s, addr, &set, len) < len)
		lz_show_address(s, addr);
	else
		show_set(s, set);
}

/* pselect6 is given the set and its size behind a pointer. */
static void show_set6(struct lz_show *s, uint64_t v, unsigned i)
{
	uint64_t pair[2];

	(void)i;
	if (!v || lz_show_bytes(s, v, pair, sizeof(pair)) < sizeof(pair)) {
		lz_show_address(s, v);
		return;
	}
	fputs("{sigmask=", s->to);
	lz_show_sigset(s, pair[0], pair[1]);
	fprintf(s->to, ", sigsetsize=%" PRIu64 "}", pair[1]);
}

/* ---- what is done about a signal ---- */

struct kernel_sigaction {
	uint64_t handler, flags, restorer, mask;
};

static void show_action(struct lz_show *s, const void *bytes)
{
	enum { RESTORER = 0x04000000 };
	const struct kernel_sigaction *a = bytes;

	fputs("{sa_handler=", s->to);
	if (a->handler == (uintptr_t)SIG_DFL)
		fputs("SIG_DFL", s->to);
	else if (a->handler == (uintptr_t)SIG_IGN)
		fputs("SIG_IGN", s->to);
	else
		lz_show_address(s, a->handler);
	fputs(", sa_mask=", s->to);
	show_set(s, a->mask);
	fputs(", sa_flags=", s->to);
	lz_show_flags(s, "sa", a->flags);
	if (a->flags & RESTORER) {
		fputs(", sa_restorer=", s->to);
		lz_show_address(s, a->restorer);
	}
	fputc('}', s->to);
}

static void show_stack(struct lz_show *s, const void *bytes)
{
	const stack_t *t = bytes;

	fputs("{ss_sp=", s->to);
	lz_show_address(s, (uintptr_t)t->ss_sp);
	fputs(", ss_flags=", s->to);
	lz_show_flags(s, "ss", (uint32_t)t->ss_flags);
	fprintf(s->to, ", ss_size=%zu}", t->ss_size);
}

/* ---- where one comes from ---- */

static void show_code(struct lz_show *s, int signo, int code)
{
	static const struct {
		int signo;
		const char *table;
	} own[] = {{SIGSEGV, "si_segv"}, {SIGBUS, "si_bus"},   {SIGFPE, "si_fpe"},
	           {SIGILL, "si_ill"},   {SIGTRAP, "si_trap"}, {SIGCHLD, "si_chld"}};
	const char *name = lz_name_of("si", (uint64_t)code);

	for (size_t i = 0; !name && i < sizeof(own) / sizeof(*own); i++)
		if (own[i].signo == signo)
			name = lz_name_of(own[i].table, (uint64_t)code);
	if (name)
		lz_print(s->to, "%s", name);
	else
		lz_show_int(s, code);
}

static void show_child(struct lz_show *s, const siginfo_t *si)
{
	const bool exited = si->si_code == CLD_EXITED;

	fprintf(s->to, ", si_pid=%d, si_uid=%u, si_status=", si->si_pid, si->si_uid);
	if (exited)
		lz_show_int(s, si->si_status);
	else
		lz_show_signal(s, (uint64_t)si->si_status);
	fprintf(s->to, ", si_utime=%ld, si_stime=%ld", si->si_utime, si->si_stime);
}

static bool is_fault(const siginfo_t *si)
{
	return si->si_code > 0 && si->si_code != SI_KERNEL &&
	       (si->si_signo == SIGSEGV || si->si_signo == SIGBUS || si->si_signo == SIGFPE ||
	        si->si_signo == SIGILL || si->si_signo == SIGTRAP);
}

static void show_value(struct lz_show *s, const siginfo_t *si)
{
	fprintf(s->to, ", si_int=%d, si_ptr=", si->si_int);
	lz_show_address(s, (uintptr_t)si->si_ptr);
}

void lz_show_siginfo(struct lz_show *s, const uint8_t *bytes)
{
	siginfo_t si;

	memcpy(&si, bytes, sizeof(si));
	fputs("{si_signo=", s->to);
	lz_show_signal(s, (uint64_t)si.si_signo);
	fputs(", si_code=", s->to);
	show_code(s, si.si_signo, si.si_code);
	if (is_fault(&si)) {
		fputs(", si_addr=", s->to);
		lz_show_address(s, (uintptr_t)si.si_addr);
	} else if (si.si_signo == SIGCHLD && si.si_code > 0) {
		show_child(s, &si);
	} else if (si.si_code == SI_TIMER) {
		fprintf(s->to, ", si_timerid=%#x, si_overrun=%d", (unsigned)si.si_timerid,
		        si.si_overrun);
		show_value(s, &si);
	} else if (si.si_code != SI_KERNEL || si.si_pid) {
		fprintf(s->to, ", si_pid=%d, si_uid=%u", si.si_pid, si.si_uid);
		if (si.si_code == SI_QUEUE)
			show_value(s, &si);
	}
	fputc('}', s->to);
}

static void show_info(struct lz_show *s, const void *bytes)
{
	lz_show_siginfo(s, bytes);
}

/* The frame lies where the stack pointer was, which no argument says. */
static void show_frame(struct lz_show *s, uint64_t v, unsigned i)
{
	(void)v, (void)i;
	fputs("...", s->to);
}

const struct lz_shape lz_shapes_signals[] = {
    {"sigaction", sizeof(struct kernel_sigaction), show_action},
    {"stack", sizeof(stack_t), show_stack},
    {"siginfo", sizeof(siginfo_t), show_info},
    {0}};
const struct lz_form lz_forms_signals[] = {{"sigset6", show_set6}, {"sigframe", show_frame}, {0}};
