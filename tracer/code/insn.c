/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions whose result is not determined by the program: rdtsc, rdtscp, cpuid, and rdrand,
 * rdseed and xsavec where they are armed. They fault and are done here. */
#include "tracer/code/code.h"
#include "tracer/log/log.h"

#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <lizard/xsavec.h>
#include <asm/prctl.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef ARCH_SET_CPUID
#define ARCH_SET_CPUID 0x1012
#endif

/* Where a call can tell us what the program has set, in memory of its own; 0: nowhere, or it is
 * known. *WAS: what is there. */
static uint64_t mode_at(struct lz_tracer *t, uint32_t *was)
{
	enum { BELOW_RED_ZONE = 1024 };
	struct user_regs_struct r;

	if (t->cur->tsc_mode || lz_proc_regs(&t->p, &r) < 0)
		return 0;
	const uint64_t at = (r.rsp - BELOW_RED_ZONE) & ~15ULL;
	return lz_proc_read_some(&t->p, at, was, sizeof(*was)) == sizeof(*was) ? at : 0;
}

/* PR_TSC_ENABLE or PR_TSC_SIGSEGV. */
static int learn_mode(struct lz_tracer *t, uint64_t at, uint32_t was, int64_t ret)
{
	uint32_t mode = PR_TSC_ENABLE;

	if (!t->cur->tsc_mode)
		t->cur->tsc_mode = PR_TSC_ENABLE;
	if (!at)
		return 0;
	if (lz_proc_read(&t->p, at, &mode, sizeof(mode)) < 0)
		return -1;
	if (ret == 0 && mode == PR_TSC_SIGSEGV)
		t->cur->tsc_mode = PR_TSC_SIGSEGV;
	return lz_proc_write(&t->p, at, &was, sizeof(was));
}

/* A processor that cannot do that tells us as well, without a stop; for us it stays as it is. */
static int trap_cpuid(struct lz_tracer *t)
{
	int64_t ret = syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);

	if (ret == 0 &&
	    lz_proc_syscall(&t->p, &ret, SYS_arch_prctl, ARCH_SET_CPUID, 0, 0, 0, 0, 0) < 0)
		return -1;
	t->cpuid_faults = ret == 0;
	return 0;
}

int lz_insn_trap(struct lz_tracer *t, struct lz_proc_call *others, size_t n)
{
	enum { OWN = 2 };
	uint32_t was;
	const uint64_t at = mode_at(t, &was);
	struct lz_proc_call c[OWN + LZ_INSN_TRAP_OTHERS] = {
	    {.nr = SYS_prctl, .args = {PR_GET_TSC, at}},
	    {.nr = SYS_prctl, .args = {PR_SET_TSC, PR_TSC_SIGSEGV}}};
	const size_t first = at ? 0 : 1;

	memcpy(c + OWN, others, n * sizeof(*c));
	if (lz_proc_calls(&t->p, c + first, OWN - first + n) < 0 ||
	    learn_mode(t, at, was, c[0].result) < 0)
		return -1;
	memcpy(others, c + OWN, n * sizeof(*c));
	if (c[1].result < 0)
		return lz_fail("cannot trap rdtsc in the program: %s", strerror((int)-c[1].result));
	return trap_cpuid(t);
}

int lz_insn_release(const struct lz_tracer *t, struct lz_proc *child)
{
	const uint32_t mode = t->cur->tsc_mode;
	int64_t ret;

	/* 0: it has not been trapped yet */
	if (mode && lz_proc_syscall(child, &ret, SYS_prctl, PR_SET_TSC, mode, 0, 0, 0, 0) < 0)
		return -1;
	if (!t->cpuid_faults)
		return 0;
	return lz_proc_syscall(child, &ret, SYS_arch_prctl, ARCH_SET_CPUID, 1, 0, 0, 0, 0);
}

/* The trap is ours: the program sees what it has set. */
int lz_insn_show(struct lz_tracer *t, int64_t result)
{
	const uint64_t *a = t->cur->call.args;

	if (a[0] != PR_GET_TSC || result < 0)
		return 0;
	return lz_proc_write(&t->p, a[1], &t->cur->tsc_mode, sizeof(t->cur->tsc_mode));
}

bool lz_insn_answer(struct lz_tracer *t, int64_t *result)
{
	const uint64_t *a = t->cur->call.args;
	const uint32_t mode = (uint32_t)a[1];

	if (t->cur->call.nr != SYS_prctl || a[0] != PR_SET_TSC)
		return false;
	*result = mode == PR_TSC_ENABLE || mode == PR_TSC_SIGSEGV ? 0 : -EINVAL;
	if (*result == 0)
		t->cur->tsc_mode = mode;
	if (*result == 0 && mode == PR_TSC_SIGSEGV) {
		lz_detours_end_counters(t);
		lz_clock_never(t);
	}
	return true;
}

/* What replay could not repeat is hidden: rdrand and rdseed where they are not armed, TSX,
 * rdpid. */
static void hide(bool random, uint32_t leaf, uint32_t sub, uint32_t *b, uint32_t *c)
{
	enum { RDRAND = 1u << 30, RDSEED = 1u << 18 };

	if (leaf == 1 && random)
		*c &= ~(uint32_t)RDRAND;
	if (leaf == 7 && sub == 0) {
		*b &= ~(1u << 4 | 1u << 11 | (random ? (uint32_t)RDSEED : 0));
		*c &= ~(1u << 22);
	}
}

static bool may_read_counter(const struct lz_tracer *t)
{
	return t->cur->tsc_mode != PR_TSC_SIGSEGV;
}

/* Prefixes that do not change what an rdtsc is. */
static int n_prefixes(const uint8_t *insn)
{
	enum { MOST = 4 };
	int n = 0;

	while (n < MOST && insn[n] && strchr("\x66\x67\x2e\x36\x3e\x26\x64\x65", insn[n]))
		n++;
	return (insn[n] & 0xf0) == 0x40 ? n + 1 : n;
}

static uint32_t execute(struct lz_tracer *t, const uint8_t *code, struct user_regs_struct *r,
                        int *len)
{
	const int prefixes = n_prefixes(code);
	const uint8_t *insn = code + prefixes;
	struct lz_rand_insn in;

	if (lz_rand_decode(code, LZ_RAND_MAX, true, &in) && lz_armed_has(t, r->rip + in.at)) {
		lz_rand_do(&in, r);
		return in.seed ? LZ_INSN_RDSEED : LZ_INSN_RDRAND;
	}
	if (insn[0] == 0x0f && insn[1] == 0x31 && may_read_counter(t)) {
		uint64_t tsc = lz_counter_read(t);
		r->rax = (uint32_t)tsc;
		r->rdx = tsc >> 32;
		*len = prefixes + 2;
		return LZ_INSN_RDTSC;
	}
	if (insn[0] == 0x0f && insn[1] == 0x01 && insn[2] == 0xf9 && may_read_counter(t)) {
		uint64_t tsc = lz_counter_read(t);
		r->rax = (uint32_t)tsc;
		r->rdx = tsc >> 32;
		r->rcx = t->borrowed.told_node << 12 | t->borrowed.told_cpu;
		*len = prefixes + 3;
		return LZ_INSN_RDTSCP;
	}
	if (lz_cpuid_does(t, r->rip, code)) {
		uint32_t x[4], leaf = (uint32_t)r->rax, sub = (uint32_t)r->rcx;
		lz_cpuid_ask(leaf, sub, x);
		hide(!lz_random_known(r->rip), leaf, sub, &x[1], &x[2]);
		r->rax = x[0], r->rbx = x[1], r->rcx = x[2], r->rdx = x[3];
		*len = 2;
		return LZ_INSN_CPUID;
	}
	return 0;
}

/* The program's instruction at IP. */
static size_t read_insn(const struct lz_tracer *t, uint64_t ip, uint8_t insn[LZ_XSAVEC_MAX])
{
	const size_t n = lz_proc_read_some(&t->p, ip, insn, LZ_XSAVEC_MAX);

	lz_sites_show_some(&t->fast.sites, ip, insn, n);
	return n;
}

int lz_insn_known(struct lz_tracer *t, struct user_regs_struct *r)
{
	uint8_t insn[LZ_XSAVEC_MAX] = {0};

	read_insn(t, r->rip, insn);
	if (!lz_cpuid_does(t, r->rip, insn) || !lz_cpuid_known(r))
		return 0;
	return lz_proc_set_regs(&t->p, r) < 0 ? -1 : 1;
}

int lz_insn_fault(struct lz_tracer *t, struct user_regs_struct *r)
{
	uint8_t insn[LZ_XSAVEC_MAX] = {0};
	int len = 0;
	const size_t n = read_insn(t, r->rip, insn);

	if (lz_build(t, LZ_EV_INSN, r->rip) < 0)
		return -1;
	uint32_t which = execute(t, insn, r, &len);
	if (!which) {
		int done = lz_xsavec_fault(t, insn, n, r);
		if (done <= 0)
			return done;
		which = LZ_INSN_XSAVEC;
	}
	r->rip += (uint64_t)len;
	lz_instant_stamp(r);
	if (lz_proc_set_regs(&t->p, r) < 0)
		return -1;
	t->b.ev.insn = which;
	if (lz_build_regs(t, r, false) < 0 || lz_build_commit(t) < 0)
		return -1;
	return lz_instant_here(t, r) < 0 ? -1 : 1;
}
