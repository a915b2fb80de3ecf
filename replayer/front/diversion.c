/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diversions: a copy of the present that may be changed and run freely, then thrown away.
 * Nothing in it is compared with the recording. */
#include "replayer/front/diversion_calls.h"
#include "replayer/session/session.h"
#include <cpuid.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/randinsn.h>
#include <lizard/restore.h>
#include <lizard/xsavec.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PTRACE_SYSEMU
#define PTRACE_SYSEMU 31
#define PTRACE_SYSEMU_SINGLESTEP 32
#endif
enum { ARCH_SET_CPUID = 0x1012 };

struct lz_diversion {
	struct lz_session *s;
	struct lz_engine *e;
	bool exited;
};

struct lz_diversion *lz_diversion_new(struct lz_session *s)
{
	struct lz_diversion *d = calloc(1, sizeof *d);
	int64_t result;

	if (!d) {
		lz_fail("out of memory");
		return NULL;
	}
	d->s = s;
	d->e = s->lost ? NULL : lz_engine_fork(s->e);
	if (s->lost)
		lz_fail("replay has diverged here: nothing can be run");
	if (!d->e ||
	    lz_proc_syscall(&d->e->proc, &result, SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0,
	                    0) < 0 ||
	    lz_proc_syscall(&d->e->proc, &result, SYS_arch_prctl, ARCH_SET_CPUID, 1, 0, 0, 0, 0) <
	        0) {
		lz_diversion_free(d);
		return NULL;
	}
	return d;
}

void lz_diversion_free(struct lz_diversion *d)
{
	if (!d)
		return;
	lz_engine_free(d->e);
	free(d);
}

int lz_diversion_write(struct lz_diversion *d, uint64_t addr, const void *buf, size_t len)
{
	return lz_proc_write(&d->e->proc, addr, buf, len);
}

size_t lz_diversion_read(struct lz_diversion *d, uint64_t addr, void *buf, size_t len)
{
	return lz_engine_read_allowed(d->e, addr, buf, len);
}

int lz_diversion_regs(struct lz_diversion *d, struct user_regs_struct *r)
{
	*r = *lz_engine_regs(d->e);
	return 0;
}

int lz_diversion_set_regs(struct lz_diversion *d, const struct user_regs_struct *r)
{
	if (lz_engine_leave_call(d->e) < 0)
		return -1;
	d->e->regs = *r;
	d->e->regs.orig_rax = (uint64_t)-1;
	d->e->regs_dirty = true;
	return 0;
}

int lz_diversion_xstate(struct lz_diversion *d, uint8_t *buf, uint32_t *len)
{
	return lz_proc_xstate(&d->e->proc, buf, len);
}

int lz_diversion_set_xstate(struct lz_diversion *d, const uint8_t *buf, uint32_t len)
{
	return lz_proc_set_xstate(&d->e->proc, buf, len);
}

/* The copy makes it, as if its code did. */
static int call_in_copy(struct lz_diversion *d, const struct user_regs_struct *r)
{
	int64_t result = 0;

	if (lz_engine_leave_call(d->e) < 0 || lz_diversion_call(d->e, r, &result) < 0)
		return -1;
	if (result < 0 && result > -4096)
		return lz_fail("the copy cannot have memory at 0x%llx: %s", r->rdi,
		               strerror((int)-result));
	return 0;
}

int lz_diversion_map(struct lz_diversion *d, uint64_t addr, uint64_t len, int prot)
{
	const struct user_regs_struct r = {
	    .orig_rax = SYS_mmap,
	    .rdi = addr,
	    .rsi = len,
	    .rdx = (uint64_t)prot,
	    .r10 = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
	    .r8 = UINT64_MAX,
	};

	return call_in_copy(d, &r);
}

int lz_diversion_unmap(struct lz_diversion *d, uint64_t addr, uint64_t len)
{
	const struct user_regs_struct r = {.orig_rax = SYS_munmap, .rdi = addr, .rsi = len};

	return call_in_copy(d, &r);
}

/* ---- system calls ---- */

/* Of one write: a stranger's code may ask for all its memory to be shown. */
enum { OUT_MAX = 1 << 20 };

static int64_t write_out(struct lz_diversion *d, uint64_t addr, uint64_t len)
{
	int fd = d->s->opt.echo_fd >= 0 ? d->s->opt.echo_fd : STDERR_FILENO;
	uint8_t buf[4096];
	uint64_t done = 0;

	if (len > OUT_MAX)
		len = OUT_MAX;
	while (done < len) {
		size_t n = len - done < sizeof buf ? len - done : sizeof buf;
		n = lz_engine_read(d->e, addr + done, buf, n);
		ssize_t w = n ? write(fd, buf, n) : 0;
		if (w <= 0)
			return done ? (int64_t)done : -EFAULT;
		done += (uint64_t)w;
	}
	return (int64_t)done;
}

static int64_t writev_out(struct lz_diversion *d, uint64_t vec, uint64_t n)
{
	int64_t done = 0;

	for (uint64_t i = 0; i < n && i < 1024; i++) {
		struct iovec v;
		if (lz_engine_read(d->e, vec + i * sizeof v, &v, sizeof v) != sizeof v)
			return -EFAULT;
		int64_t w = write_out(d, (uint64_t)v.iov_base, v.iov_len);
		if (w < 0)
			return done ? done : w;
		done += w;
	}
	return done;
}

/* Is it a question about standard output or error? *TO: where the answer goes. */
static bool asks_about_output(struct lz_diversion *d, const struct user_regs_struct *r,
                              uint64_t *to)
{
	char path = 1;

	*to = r->orig_rax == SYS_fstat ? r->rsi : r->rdx;
	if (r->rdi != 1 && r->rdi != 2)
		return false;
	return r->orig_rax == SYS_fstat || (r->orig_rax == SYS_newfstatat &&
	                                    lz_engine_read(d->e, r->rsi, &path, 1) == 1 && !path);
}

/* A terminal, so that stdio writes each line at once: what it kept would be lost with the copy. */
static int64_t stat_output(struct lz_diversion *d, uint64_t to)
{
	enum { PTY_MAJOR = 136 };
	struct stat st = {.st_mode = S_IFCHR | 0620, .st_nlink = 1, .st_blksize = 1024};

	st.st_rdev = makedev(PTY_MAJOR, 0);
	return lz_proc_write(&d->e->proc, to, &st, sizeof st) < 0 ? -EFAULT : 0;
}

/* The signal that the copy sends itself, as abort() does; 0: none. It knows the recorded process's ids, or has asked for its own. */
static uint32_t sent_to_itself(struct lz_diversion *d, const struct user_regs_struct *r)
{
	const uint32_t to = (uint32_t)(r->orig_rax == SYS_tgkill ? r->rsi : r->rdi);
	const uint32_t signo = (uint32_t)(r->orig_rax == SYS_tgkill ? r->rdx : r->rsi);

	if (r->orig_rax != SYS_tgkill && r->orig_rax != SYS_tkill && r->orig_rax != SYS_kill)
		return 0;
	if (to != (uint32_t)d->e->proc.pid && to != lz_engine_tid(d->e))
		return 0;
	return signo < NSIG ? signo : 0;
}

/* What has no effect but on the output. */
static int64_t pretend(struct lz_diversion *d, const struct user_regs_struct *r)
{
	bool to_output = r->rdi == 1 || r->rdi == 2;
	uint64_t to;

	if (asks_about_output(d, r, &to))
		return stat_output(d, to);
	switch (r->orig_rax) {
	case SYS_write: return to_output ? write_out(d, r->rsi, r->rdx) : -ENOSYS;
	case SYS_writev: return to_output ? writev_out(d, r->rsi, r->rdx) : -ENOSYS;
	/* no heap there: malloc then maps */
	case SYS_brk: return 0;
	/* nobody else runs */
	case SYS_futex: return (r->rsi & 127) == 0 ? -EAGAIN : 0;
	default: return -ENOSYS;
	}
}

/* Breakpoints as the program does not see them. */
static int arm(struct lz_engine *e)
{
	return lz_engine_insert(e) < 0 || lz_engine_arm_user(e) < 0 || lz_engine_guard(e) < 0 ? -1
	                                                                                      : 0;
}

static int disarm(struct lz_engine *e)
{
	lz_engine_unbreak(e);
	return lz_engine_unguard(e);
}

/* *SIGNO: it stops for that. */
static int answer(struct lz_diversion *d, bool *gone, uint32_t *signo)
{
	struct lz_engine *e = d->e;
	struct user_regs_struct r = e->regs;
	int64_t result = 0;

	*gone = r.orig_rax == SYS_exit || r.orig_rax == SYS_exit_group;
	*signo = sent_to_itself(d, &r);
	if (*gone)
		return 0;
	/* it may map memory, or protect it */
	if (lz_engine_leave_call(e) < 0 || disarm(e) < 0)
		return -1;
	int done = lz_diversion_call(e, &r, &result);
	if (done < 0)
		return -1;
	if (!done)
		result = *signo ? 0 : pretend(d, &r);
	e->regs = r;
	e->regs.orig_rax = (uint64_t)-1;
	e->regs.rax = (uint64_t)result;
	e->regs_dirty = true;
	return 0;
}

/* ---- running ---- */

static int empty_buffer(struct lz_engine *e)
{
	static const uint8_t zeroes[LZ_BUFFER_GUARD];
	uint64_t pos_addr = lz_engine_pos_addr(e, &e->regs);

	if (lz_proc_write(&e->proc, e->buffer.base, zeroes, sizeof zeroes) < 0 ||
	    lz_proc_write(&e->proc, pos_addr, &e->buffer.base, sizeof e->buffer.base) < 0)
		return -1;
	e->regs.r15 = e->buffer.base;
	e->regs_dirty = true;
	return 0;
}

int lz_diversion_thread(struct lz_diversion *d, uint32_t tid)
{
	struct lz_engine *e = d->e;

	if (tid == lz_engine_tid(e))
		return 0;
	if (lz_engine_become(e, tid) < 0)
		return -1;
	uint64_t r15 = e->regs.r15;
	if (e->buffer.base && e->buffer.hello && empty_buffer(e) < 0)
		return -1;
	if (!e->buffer.base || r15 - lz_ring_of(e->buffer.base) >= LZ_RING_SIZE)
		e->regs.r15 = r15; /* control is outside of instrumented code */
	return 0;
}

static bool do_xsavec(struct lz_engine *e, const struct lz_xsavec *in)
{
	uint8_t xstate[LZ_XSTATE_MAX], image[LZ_XSAVEC_ROOM];
	struct lz_xsavec_part part[LZ_XSAVEC_PARTS];
	uint64_t addr = lz_xsavec_addr(in, &e->regs);
	uint32_t len = sizeof xstate;
	int n = lz_proc_xstate(&e->proc, xstate, &len) < 0
	            ? -1
	            : lz_xsavec_image(xstate, len, lz_xsavec_mask(&e->regs), image, part);

	for (int i = 0; i < n; i++)
		if (lz_proc_write(&e->proc, addr + part[i].at, image + part[i].at, part[i].len) < 0)
			return false;
	e->regs.rip += in->len;
	return n >= 0;
}

static void do_cpuid(struct lz_engine *e)
{
	struct user_regs_struct *r = &e->regs;
	uint32_t a, b, c, d;

	if (lz_cpuid_answer(&e->rp->cpuid, r))
		return;
	__cpuid_count((uint32_t)r->rax, (uint32_t)r->rcx, a, b, c, d);
	r->rax = a, r->rbx = b, r->rcx = c, r->rdx = d;
	r->rip += LZ_CPUID_LEN;
}

/* What is armed faults (lizard/randinsn.h, lizard/xsavec.h) and is done here. */
static bool do_armed(struct lz_engine *e)
{
	uint8_t code[LZ_XSAVEC_MAX];
	size_t n = lz_engine_read(e, e->regs.rip, code, sizeof code);
	struct lz_rand_insn in;
	struct lz_xsavec save;

	if (lz_rand_decode(code, n, true, &in))
		lz_rand_do(&in, &e->regs);
	else if (n >= LZ_CPUID_LEN && code[0] == 0x0f && code[1] == LZ_CPUID_ARMED)
		do_cpuid(e);
	else if (!lz_xsavec_decode(code, n, true, &save) || !do_xsavec(e, &save))
		return false;
	e->regs_dirty = true;
	return true;
}

static int finish(struct lz_diversion *d, struct lz_stop *stop, enum lz_stop_reason reason,
                  uint32_t signo)
{
	stop->reason = reason;
	stop->signo = signo;
	stop->pos = d->s->pos;
	stop->pos.tid = lz_engine_tid(d->e);
	stop->pos.ip = d->e->regs.rip;
	return 1;
}

static int one(struct lz_diversion *d, bool step, struct lz_stop *stop);

/* The instruction at hand looks at a page with an int3. */
static int pass_guard(struct lz_diversion *d, struct lz_stop *stop)
{
	if (disarm(d->e) < 0)
		return -1;
	int ret = one(d, true, stop);
	if (ret <= 0 || stop->reason != LZ_STOP_STEP)
		return ret;
	if (lz_engine_has_break(d->e, d->e->regs.rip))
		return finish(d, stop, LZ_STOP_BREAKPOINT, SIGTRAP);
	*stop = (struct lz_stop){0};
	return 0;
}

static int on_signal(struct lz_diversion *d, int sig, bool step, struct lz_stop *stop)
{
	struct lz_engine *e = d->e;
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, e->proc.pid, 0, &info) < 0)
		return lz_fail_errno("cannot ask why the copy stopped");
	uint64_t at = (uint64_t)(uintptr_t)info.si_addr;
	if (sig == SIGSEGV && e->buffer.base && at - e->buffer.base - LZ_BUFFER_GUARD < LZ_PAGE)
		return empty_buffer(e);
	const struct lz_guarded *g = lz_engine_guard_of(e, at);
	if (sig == SIGSEGV && info.si_code > 0 && info.si_code != SI_KERNEL && g && g->in)
		return pass_guard(d, stop);
	if (sig == SIGSEGV && info.si_code == SI_KERNEL && do_armed(e))
		return step ? finish(d, stop, LZ_STOP_STEP, SIGTRAP) : 0;
	if (sig == SIGTRAP && info.si_code == SI_KERNEL &&
	    lz_engine_has_break(e, e->regs.rip - 1)) {
		e->regs.rip--;
		e->regs_dirty = true;
		return finish(d, stop, LZ_STOP_BREAKPOINT, SIGTRAP);
	}
	if (sig == SIGTRAP && info.si_code == TRAP_HWBKPT && !step &&
	    lz_engine_has_break(e, e->regs.rip))
		return finish(d, stop, LZ_STOP_BREAKPOINT, SIGTRAP);
	if (sig == SIGTRAP && info.si_code != SI_KERNEL)
		return step ? finish(d, stop, LZ_STOP_STEP, SIGTRAP) : 0;
	if (sig == SIGSTOP)
		return d->s->rp.interrupted ? finish(d, stop, LZ_STOP_INTERRUPTED, SIGINT) : 0;
	return info.si_code > 0 ? finish(d, stop, LZ_STOP_SIGNAL, (uint32_t)sig) : 0;
}

/* One resume; 1: stopped. */
static int one(struct lz_diversion *d, bool step, struct lz_stop *stop)
{
	struct lz_engine *e = d->e;
	uint32_t signo;
	pid_t got;
	int status;
	bool gone;

	if ((!step && arm(e) < 0) || lz_engine_flush(e) < 0)
		return -1;
	d->s->rp.running = e->proc.pid;
	if (d->s->rp.interrupted) {
		d->s->rp.running = 0;
		return finish(d, stop, LZ_STOP_INTERRUPTED, SIGINT);
	}
	if (ptrace(step ? PTRACE_SYSEMU_SINGLESTEP : PTRACE_SYSEMU, e->proc.pid, 0, 0) < 0)
		return lz_fail_errno("cannot run the copy");
	e->in_call = false;
	do {
		got = waitpid(e->proc.pid, &status, __WALL);
	} while (got < 0 && errno == EINTR);
	d->s->rp.running = 0;
	if (got != e->proc.pid || !WIFSTOPPED(status))
		return lz_fail("the copy died");
	if (lz_proc_regs(&e->proc, &e->regs) < 0)
		return -1;
	if (WSTOPSIG(status) != (SIGTRAP | 0x80))
		return on_signal(d, WSTOPSIG(status), step, stop);
	e->in_call = true;
	if (answer(d, &gone, &signo) < 0)
		return -1;
	if (signo)
		return finish(d, stop, LZ_STOP_SIGNAL, signo);
	if (gone) {
		d->exited = true;
		return finish(d, stop, LZ_STOP_END, 0);
	}
	return step ? finish(d, stop, LZ_STOP_STEP, SIGTRAP) : 0;
}

int lz_diversion_run(struct lz_diversion *d, bool step, const uint64_t *addrs, size_t n_addrs,
                     struct lz_stop *stop)
{
	struct lz_engine *e = d->e;
	int ret = 0;

	*stop = (struct lz_stop){0};
	lz_session_begin(d->s);
	if (d->exited)
		return finish(d, stop, LZ_STOP_END, 0), 0;
	if (lz_engine_break(e, addrs, n_addrs) < 0)
		return -1;
	/* off the breakpoint at hand */
	if (!step && lz_engine_has_break(e, e->regs.rip)) {
		while (!stop->reason && ret >= 0)
			ret = one(d, true, stop);
		bool again = stop->reason == LZ_STOP_STEP;
		if (ret < 0 || !again)
			return ret < 0 ? -1 : 0;
		if (lz_engine_has_break(e, e->regs.rip))
			return finish(d, stop, LZ_STOP_BREAKPOINT, SIGTRAP), 0;
		*stop = (struct lz_stop){0};
		ret = 0;
	}
	while (!ret)
		ret = one(d, step, stop);
	if (disarm(e) < 0 || lz_engine_break(e, NULL, 0) < 0 || lz_engine_arm_user(e) < 0)
		return -1;
	return ret < 0 ? -1 : 0;
}
