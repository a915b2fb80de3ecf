/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions whose result is not determined by the program: rdtsc, rdtscp, cpuid, and rdrand,
 * rdseed and xsavec where they are armed. They fault and are done here. */
#include "tracer/code/code.h"
#include "tracer/log/log.h"

#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <lizard/xsavec.h>
#include <asm/prctl.h>
#include <cpuid.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <x86intrin.h>

#ifndef ARCH_SET_CPUID
#define ARCH_SET_CPUID 0x1012
#endif

int lz_insn_trap(struct lz_tracer *t)
{
	int64_t ret;

	if (lz_proc_syscall(&t->p, &ret, SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0, 0) < 0)
		return -1;
	if (ret < 0)
		return lz_fail("cannot trap rdtsc in the program: %s", strerror((int)-ret));
	if (lz_proc_syscall(&t->p, &ret, SYS_arch_prctl, ARCH_SET_CPUID, 0, 0, 0, 0, 0) < 0)
		return -1;
	t->cpuid_faults = ret == 0;
	return 0;
}

int lz_insn_release(struct lz_proc *child, bool cpuid)
{
	int64_t ret;

	if (lz_proc_syscall(child, &ret, SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0, 0) < 0)
		return -1;
	if (!cpuid)
		return 0;
	return lz_proc_syscall(child, &ret, SYS_arch_prctl, ARCH_SET_CPUID, 1, 0, 0, 0, 0);
}

/* The trap is ours: the program's counter is on. */
int lz_insn_show(struct lz_tracer *t, int64_t result)
{
	const int enabled = PR_TSC_ENABLE;
	const uint64_t *a = t->cur->call.args;

	if (a[0] != PR_GET_TSC || result < 0)
		return 0;
	return lz_proc_write(&t->p, a[1], &enabled, sizeof(enabled));
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

static uint64_t read_counter(unsigned *aux)
{
	bool could = lz_counter_allow(true);
	uint64_t tsc = aux ? __rdtscp(aux) : __rdtsc();

	lz_counter_allow(could);
	return tsc;
}

static uint32_t execute(const struct lz_tracer *t, const uint8_t *insn, struct user_regs_struct *r,
                        int *len)
{
	struct lz_rand_insn in;

	if (lz_rand_decode(insn, LZ_RAND_MAX, true, &in) && lz_armed_has(t, r->rip + in.at)) {
		lz_rand_do(&in, r);
		return in.seed ? LZ_INSN_RDSEED : LZ_INSN_RDRAND;
	}
	if (insn[0] == 0x0f && insn[1] == 0x31) {
		uint64_t tsc = read_counter(NULL);
		r->rax = (uint32_t)tsc;
		r->rdx = tsc >> 32;
		*len = 2;
		return LZ_INSN_RDTSC;
	}
	if (insn[0] == 0x0f && insn[1] == 0x01 && insn[2] == 0xf9) {
		unsigned aux;
		uint64_t tsc = read_counter(&aux);
		r->rax = (uint32_t)tsc;
		r->rdx = tsc >> 32;
		r->rcx = aux;
		*len = 3;
		return LZ_INSN_RDTSCP;
	}
	if (lz_cpuid_does(t, r->rip, insn)) {
		uint32_t a, b, c, d, leaf = (uint32_t)r->rax, sub = (uint32_t)r->rcx;
		__cpuid_count(leaf, sub, a, b, c, d);
		hide(!lz_random_known(r->rip), leaf, sub, &b, &c);
		r->rax = a, r->rbx = b, r->rcx = c, r->rdx = d;
		*len = 2;
		return LZ_INSN_CPUID;
	}
	return 0;
}

int lz_insn_fault(struct lz_tracer *t, struct user_regs_struct *r)
{
	uint8_t insn[LZ_XSAVEC_MAX] = {0};
	int len = 0;
	size_t n = lz_proc_read_some(&t->p, r->rip, insn, sizeof(insn));

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
