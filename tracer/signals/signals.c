/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals: what the program does about them, and those that are held until it is at an instant
 * that replay can find again: run/deliver.c. */
#include "tracer/log/log.h"
#include "tracer/signals/signals.h"
#include "tracer/state/process.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where our own page is: calls/newimage.c has put an int3 there. */
static void use_traps(struct lz_tracer *t)
{
	if (t->p.syscall_insn != t->meta.stub_addr)
		return;
	t->p.on_trap = &t->act[SIGTRAP].handler;
	t->p.calls_at = t->meta.stub_addr + LZ_STUB_CALLS;
}

int lz_signal_init(struct lz_tracer *t)
{
	char path[64], line[128];
	uint64_t ignored = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)t->p.pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return lz_fail_errno("cannot open %s", path);
	while (fgets(line, sizeof(line), f)) {
		if (*line != 'S') /* sscanf() takes its time, and there are sixty lines */
			continue;
		sscanf(line, "SigIgn: %" SCNx64, &ignored);
		sscanf(line, "SigBlk: %" SCNx64, &t->cur->sig.blocked);
	}
	fclose(f);
	for (int s = 1; s < LZ_SIGNALS; s++)
		t->act[s] = (struct lz_disposition){
		    .handler = ignored >> (s - 1) & 1 ? (uint64_t)(uintptr_t)SIG_IGN : 0};
	use_traps(t);
	return 0;
}

/* After an execve: handlers are gone, what was ignored stays ignored. */
int lz_signal_exec(struct lz_tracer *t)
{
	t->cur->sig.spin = false;
	t->cur->at_valid = false;
	return lz_signal_init(t);
}

static int push(struct lz_held **list, size_t *n, size_t *room, int signo, const siginfo_t *info)
{
	if (lz_reserve(*list, *room, *n + 1) < 0)
		return lz_fail("out of memory for pending signals");
	(*list)[(*n)++] = (struct lz_held){signo, *info};
	return 0;
}

uint64_t lz_signal_handler(const struct lz_tracer *t, int signo)
{
	return t->act[signo].handler;
}

/* The kernel spares the first process of a PID namespace the signals that it has no handler for. */
static bool is_spared(const struct lz_tracer *t, int signo)
{
	return t->own_tid == 1 && signo != SIGKILL && signo != SIGSTOP;
}

bool lz_signal_ignored(const struct lz_tracer *t, int signo)
{
	uint64_t h = lz_signal_handler(t, signo);

	if (h == (uint64_t)(uintptr_t)SIG_IGN)
		return true;
	return h == 0 && (is_spared(t, signo) || signo == SIGCHLD || signo == SIGCONT ||
	                  signo == SIGURG || signo == SIGWINCH);
}

static bool stops(const struct lz_tracer *t, int signo)
{
	if (signo == SIGSTOP)
		return true;
	return lz_signal_handler(t, signo) == 0 &&
	       (signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU);
}

/* The kernel makes it of what an instruction does. */
static bool is_of_instructions(int signo)
{
	switch (signo) {
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
	case SIGSYS: return true;
	}
	return false;
}

bool lz_signal_synchronous(int signo, const siginfo_t *info)
{
	return is_of_instructions(signo) && info->si_code > 0;
}

bool lz_signal_fault_pending(struct lz_tracer *t)
{
	struct __ptrace_peeksiginfo_args args = {.nr = 32};
	siginfo_t info[32];
	long n = ptrace(PTRACE_PEEKSIGINFO, t->p.pid, &args, info);

	for (long i = 0; i < n; i++)
		if (lz_signal_synchronous(info[i].si_signo, &info[i]))
			return true;
	return false;
}

/* 1: all that are not blocked are ignored, and there are some; 0: none; -1: others. */
static int pending_ignored(const struct lz_tracer *t, uint32_t queue)
{
	struct __ptrace_peeksiginfo_args args = {.flags = queue, .nr = 32};
	siginfo_t info[32];
	long n = ptrace(PTRACE_PEEKSIGINFO, t->p.pid, &args, info);
	int ret = 0;

	for (long i = 0; i < n; i++) {
		if (t->cur->sig.blocked >> (info[i].si_signo - 1) & 1)
			continue;
		if (!lz_signal_ignored(t, info[i].si_signo))
			return -1;
		ret = 1;
	}
	return ret;
}

bool lz_signal_all_ignored(struct lz_tracer *t)
{
	int own = pending_ignored(t, 0), group = pending_ignored(t, PTRACE_PEEKSIGINFO_SHARED);

	return own >= 0 && group >= 0 && (own || group);
}

static int send(struct lz_tracer *t, int signo, const siginfo_t *info)
{
	struct lz_thread_signals *s = &t->cur->sig;

	if (push(&s->sent, &s->n_sent, &s->sent_room, signo, info) < 0)
		return -1;
	if (syscall(SYS_tgkill, t->tid, t->cur->tid, signo) < 0)
		return lz_fail_errno("cannot send signal %d to the program", signo);
	return 0;
}

int lz_signal_release_in_call(struct lz_tracer *t)
{
	struct lz_thread_signals *s = &t->cur->sig;

	for (size_t i = 0; i < s->n_held; i++)
		if (send(t, s->held[i].signo, &s->held[i].info) < 0)
			return -1;
	s->n_held = 0;
	s->armed = false;
	return 0;
}

int lz_signal_release(struct lz_tracer *t)
{
	if (lz_signal_release_in_call(t) < 0)
		return -1;
	return lz_stream_unfence(t);
}

bool lz_signal_find_sent(struct lz_tracer *t, int signo, siginfo_t *info)
{
	struct lz_thread_signals *s = &t->cur->sig;

	/* in a PID namespace of its own we are nobody */
	if (info->si_code != SI_TKILL || (info->si_pid && info->si_pid != getpid()))
		return false;
	for (size_t i = 0; i < s->n_sent; i++) {
		if (s->sent[i].signo != signo)
			continue;
		*info = s->sent[i].info;
		memmove(s->sent + i, s->sent + i + 1, (s->n_sent - i - 1) * sizeof(*s->sent));
		s->n_sent--;
		return true;
	}
	return false;
}

int lz_signal_put_back(struct lz_tracer *t, int signo)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0)
		return 0; /* killed */
	lz_signal_find_sent(t, signo, &info);
	return send(t, signo, &info);
}

void lz_signal_await(struct lz_thread_signals *s)
{
	s->armed = true;
	s->armed_since = lz_now();
	s->brief = 0;
}

int lz_signal_arm(struct lz_tracer *t)
{
	struct lz_thread_signals *s = &t->cur->sig;

	if (s->armed)
		return 0;
	lz_signal_await(s);
	return lz_stream_fence(t);
}

static bool is_of_same_timer(const siginfo_t *a, const siginfo_t *b)
{
	return a->si_code == SI_TIMER && b->si_code == SI_TIMER && a->si_timerid == b->si_timerid;
}

/* Ordinary signals do not queue; nor do those of one timer, which are counted. */
int lz_signal_keep(struct lz_tracer *t, int signo, const siginfo_t *info)
{
	struct lz_thread_signals *s = &t->cur->sig;

	t->cur->at_valid = false;
	for (size_t i = 0; i < s->n_held; i++) {
		struct lz_held *h = &s->held[i];

		if (h->signo != signo)
			continue;
		if (is_of_same_timer(&h->info, info)) {
			h->info.si_overrun += 1 + info->si_overrun;
			return 0;
		}
		if (signo < 32)
			return 0;
	}
	return push(&s->held, &s->n_held, &s->held_room, signo, info);
}

static int set_blocked(struct lz_tracer *t, uint64_t blocked)
{
	if (ptrace(PTRACE_SETSIGMASK, t->p.pid, sizeof(blocked), &blocked) < 0 && errno != ESRCH)
		return lz_fail_errno("cannot set the program's signal mask");
	return 0;
}

int lz_signal_shut(struct lz_tracer *t, int signo)
{
	/* Another thread would get it; blocked, a fault of our own making would be fatal. */
	if (t->n_threads > 1 || is_of_instructions(signo))
		return 0;
	t->cur->sig.shut = true;
	return set_blocked(t, t->cur->sig.blocked | 1ULL << (signo - 1));
}

bool lz_signal_none_due(const struct lz_thread *th)
{
	const struct lz_thread_signals *s = &th->sig;

	return !s->armed && !s->interrupted && !s->stop_due && !s->n_held && !s->n_sent;
}

int lz_signal_open(struct lz_tracer *t)
{
	if (!t->cur->sig.shut)
		return 0;
	t->cur->sig.shut = false;
	return set_blocked(t, t->cur->sig.blocked);
}

int lz_signal_hold(struct lz_tracer *t, int signo, const siginfo_t *info)
{
	return lz_signal_keep(t, signo, info) < 0 ? -1 : lz_signal_arm(t);
}

bool lz_signal_unseen(const struct lz_tracer *t, int signo)
{
	return lz_signal_ignored(t, signo) || stops(t, signo);
}

/* SIGSTOP from inside does not reach the first process of a PID namespace, without a tracer. */
static bool is_lost(const struct lz_tracer *t, int signo, const siginfo_t *info)
{
	return t->own_tid == 1 && signo == SIGSTOP && info->si_pid;
}

int lz_signal_pass(struct lz_tracer *t, int signo, siginfo_t *info, int *deliver)
{
	*deliver = is_lost(t, signo, info) ? 0 : signo;
	if (ptrace(PTRACE_SETSIGINFO, t->p.pid, 0, info) < 0 && errno != ESRCH)
		return lz_fail_errno("cannot pass on signal %d", signo);
	return 0;
}

int lz_signal_passes(struct lz_tracer *t, int signo, int *deliver)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0 ||
	    lz_signal_synchronous(signo, &info) || !lz_signal_unseen(t, signo))
		return 0;
	lz_signal_find_sent(t, signo, &info);
	return lz_signal_pass(t, signo, &info, deliver) < 0 ? -1 : 1;
}

int lz_signal_hold_stop(struct lz_tracer *t, int signo)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0)
		return 1;
	if (lz_signal_synchronous(signo, &info) || lz_signal_ignored(t, signo) || stops(t, signo))
		return 1;
	lz_signal_find_sent(t, signo, &info);
	return lz_signal_hold(t, signo, &info);
}

void lz_signal_call_done(struct lz_tracer *t, int64_t result)
{
	uint64_t signo = t->cur->call.args[0];

	switch (t->cur->call.nr) {
	case SYS_rt_sigaction:
		if (result == 0 && t->cur->call.args[1] && signo < LZ_SIGNALS)
			t->act[signo] = t->cur->call.act;
		break;
	case SYS_rt_sigprocmask:
	case SYS_rt_sigreturn:
		ptrace(PTRACE_GETSIGMASK, t->p.pid, sizeof(t->cur->sig.blocked),
		       &t->cur->sig.blocked);
		break;
	}
}

/* force_sig() in the kernel takes a blocked or ignored signal back to its default and unblocks it,
 * before we see it. */
int lz_signal_undo_force(struct lz_tracer *t, int signo)
{
	const struct lz_disposition *act = &t->act[signo];
	bool blocked = t->cur->sig.blocked >> (signo - 1) & 1;
	int64_t ret;

	if (!blocked && act->handler != (uint64_t)(uintptr_t)SIG_IGN)
		return 0;
	const uint64_t at = lz_scratch(t, &t->p);
	if (act->handler &&
	    (lz_proc_write(&t->p, at, act, sizeof(*act)) < 0 ||
	     lz_proc_syscall(&t->p, &ret, SYS_rt_sigaction, (uint64_t)signo, at, 0, 8, 0, 0) < 0))
		return -1;
	if (ptrace(PTRACE_SETSIGMASK, t->p.pid, sizeof(t->cur->sig.blocked), &t->cur->sig.blocked) <
	    0)
		return lz_fail_errno("cannot restore the program's signal mask");
	return 0;
}
