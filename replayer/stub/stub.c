/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the replayed process: answers the system calls that the log has next.
 *
 * A site's detour (common/process/detour.c) comes here with the address behind the site in rcx and the one
 * behind the detour's own system call instruction in r11: a system call overwrites both. A call
 * that is not the next one in the log is made there, which is a stop. It is compiled without vector
 * registers, constants in memory, calls of a library, and registers that it would have to restore
 * (replayer/build.mk): the engine can leave it anywhere. */
#include "replayer/stub/call_log.h"

#include <lizard/restore.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

#define STUB __attribute__((section("lz_replay")))
#define INLINE static inline __attribute__((always_inline))

_Static_assert(offsetof(struct lz_call_log, site) == 0 && offsetof(struct lz_call_log, back) == 8 &&
                   offsetof(struct lz_call_log, target) == 16 &&
                   offsetof(struct lz_call_log, rsp) == 24 &&
                   offsetof(struct lz_call_log, map_insn) == 32 &&
                   offsetof(struct lz_call_log, saved) + sizeof(struct lz_stub_saved) == 0x1040 &&
                   LZ_CALL_STUB_CODE == 0x1000,
               "the assembly part has these numbers");

#define PAGE "__start_lz_replay+0x1000"
__asm__(".pushsection lz_replay,\"ax\",@progbits\n"
        ".globl lz_call_stub_entry, lz_call_stub_exit\n"
        "lz_call_stub_entry:\n"
        "	movq %rcx, " PAGE "(%rip)\n"
        "	movq %r11, " PAGE "+8(%rip)\n"
        "	movq %rsp, " PAGE "+24(%rip)\n"
        "	leaq " PAGE "+0x1040(%rip), %rsp\n"
        "	pushfq\n"
        "	pushq %r9\n"
        "	pushq %r8\n"
        "	pushq %r10\n"
        "	pushq %rdx\n"
        "	pushq %rsi\n"
        "	pushq %rdi\n"
        "	pushq %rax\n"
        "	cld\n"
        "	leaq " PAGE "(%rip), %rdi\n"
        "	call lz_stub_answer\n"
        "	movq " PAGE "+8(%rip), %rcx\n"
        "	testl %eax, %eax\n"
        "	jne 1f\n"
        "	subq $2, %rcx\n"
        "1:	movq %rcx, " PAGE "+16(%rip)\n"
        "lz_call_stub_exit:\n"
        "	popq %rax\n"
        "	popq %rdi\n"
        "	popq %rsi\n"
        "	popq %rdx\n"
        "	popq %r10\n"
        "	popq %r8\n"
        "	popq %r9\n"
        "	movq (%rsp), %r11\n"
        "	popfq\n"
        "	movq " PAGE "(%rip), %rcx\n"
        "	movq " PAGE "+24(%rip), %rsp\n"
        "	jmp *" PAGE "+16(%rip)\n"
        ".popsection\n");

INLINE void copy(uint64_t to, uint64_t from, uint64_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

INLINE uint8_t byte_at(uint64_t addr)
{
	return *(const volatile uint8_t *)addr;
}

INLINE bool is_next(const struct lz_call_log *p, const struct lz_logged_call *c)
{
	const struct lz_stub_saved *s = &p->saved;
	const uint64_t args[6] = {s->rdi, s->rsi, s->rdx, s->r10, s->r8, s->r9};

	if (c->site != p->site || c->nr != s->rax)
		return false;
#pragma GCC unroll 6
	for (int i = 0; i < 6; i++)
		if (i < c->n_args && c->args[i] != args[i])
			return false;
	return (!c->free || !byte_at(c->free)) && (!c->written || byte_at(c->written));
}

INLINE int64_t make(const struct lz_logged_step *s, uint64_t prot, uint64_t flags)
{
	register uint64_t r10 __asm__("r10") = flags, r8 __asm__("r8") = ~0ULL,
	                      r9 __asm__("r9") = 0;
	int64_t ret = s->nr;

	__asm__ volatile("call *" PAGE "+32(%%rip)"
	                 : "+a"(ret)
	                 : "D"(s->addr), "S"(s->len), "d"(prot), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory", "cc");
	return ret;
}

/* False: the kernel refuses it. */
INLINE bool change_map(const struct lz_logged_step *s)
{
	if (s->nr == SYS_mmap)
		return make(s, s->prot, LZ_OWN_FLAGS) == (int64_t)s->addr;
	return make(s, s->nr == SYS_madvise ? MADV_DONTNEED : s->prot, 0) == 0;
}

/* ---- turns ---- */

INLINE void keep(const struct lz_call_log *p, struct lz_turn_context *c)
{
	struct lz_turn_regs *r = &c->regs;

	copy((uint64_t)&r->saved, (uint64_t)&p->saved, sizeof(r->saved));
	__asm__ volatile("movq %%rbx, %0" : "=m"(r->rbx));
	__asm__ volatile("movq %%rbp, %0" : "=m"(r->rbp));
	__asm__ volatile("movq %%r12, %0" : "=m"(r->r12));
	__asm__ volatile("movq %%r13, %0" : "=m"(r->r13));
	__asm__ volatile("movq %%r14, %0" : "=m"(r->r14));
	__asm__ volatile("movq %%r15, %0" : "=m"(r->r15));
	r->rsp = p->rsp;
	__asm__ volatile("rdfsbase %0" : "=r"(r->fs_base));
	__asm__ volatile("rdgsbase %0" : "=r"(r->gs_base));
	__asm__ volatile("xsave64 (%0)"
	                 :
	                 : "r"(c->xsave), "a"((uint32_t)p->parts), "d"((uint32_t)(p->parts >> 32))
	                 : "memory");
}

/* The registers that C code does not touch here are the last. */
INLINE void go_on_as(struct lz_call_log *p, const struct lz_logged_turn *t)
{
	__asm__ volatile("xrstor64 (%0)"
	                 :
	                 : "r"(p->context[t->to].xsave), "a"((uint32_t)p->parts),
	                   "d"((uint32_t)(p->parts >> 32))
	                 : "memory");
	copy((uint64_t)&p->saved, (uint64_t)&t->regs.saved, sizeof(p->saved));
	p->site = t->ip;
	p->back = t->go_on;
	p->rsp = t->regs.rsp;
	__asm__ volatile("wrfsbase %0" : : "r"(t->regs.fs_base));
	__asm__ volatile("wrgsbase %0" : : "r"(t->regs.gs_base));
	__asm__ volatile("movq %0, %%rbx" : : "m"(t->regs.rbx));
	__asm__ volatile("movq %0, %%rbp" : : "m"(t->regs.rbp));
	__asm__ volatile("movq %0, %%r12" : : "m"(t->regs.r12));
	__asm__ volatile("movq %0, %%r13" : : "m"(t->regs.r13));
	__asm__ volatile("movq %0, %%r14" : : "m"(t->regs.r14));
	__asm__ volatile("movq %0, %%r15" : : "m"(t->regs.r15));
}

/* r15 is given anew; rax, the first of those saved, is the result. */
INLINE bool is_as_recorded(const struct lz_call_log *p, const struct lz_logged_turn *t)
{
	const struct lz_turn_regs *had = &p->context[t->to].regs, *want = &t->regs;
	const uint64_t *a = (const uint64_t *)&had->saved, *b = (const uint64_t *)&want->saved;
	bool same = had->rbx == want->rbx && had->rbp == want->rbp && had->r12 == want->r12 &&
	            had->r13 == want->r13 && had->r14 == want->r14 && had->rsp == want->rsp &&
	            had->fs_base == want->fs_base && had->gs_base == want->gs_base;

#pragma GCC unroll 7
	for (int i = 1; i < 8; i++)
		same &= a[i] == b[i];
	return same;
}

/* True: the call is answered. One that is not may have done some steps, which are done again at its
 * stop. */
uint32_t lz_stub_answer(struct lz_call_log *p) STUB;
uint32_t lz_stub_answer(struct lz_call_log *p)
{
	const uint32_t next = p->next;
	const struct lz_logged_call *c = (const struct lz_logged_call *)(p->log + next);

	if (next >= p->end || !is_next(p, c))
		return false;
	uint64_t at = (uint64_t)(c + 1);
	const struct lz_logged_turn *turn = (const struct lz_logged_turn *)at;
	if (c->turn && !is_as_recorded(p, turn))
		return false;
	if (c->turn)
		at += sizeof(*turn);
	if (c->take_len)
		copy((uint64_t)c + c->len - ((c->take_len + 7) & ~7ULL), c->takes, c->take_len);
	for (int i = 0; i < c->n_steps; i++) {
		const struct lz_logged_step *s = (const struct lz_logged_step *)at;

		at += sizeof(*s);
		if (s->nr == LZ_STEP_KEPT) {
			copy(s->addr, (uint64_t)p->kept + s->prot, s->len);
			continue;
		}
		if (s->nr && !change_map(s))
			return false;
		if (s->nr)
			continue;
		copy(s->addr, at, s->len);
		at += (s->len + 7) & ~7ULL;
	}
	if (c->turn) {
		keep(p, &p->context[turn->from]);
		go_on_as(p, turn);
	} else {
		p->saved.rax = (uint64_t)c->result;
	}
	__asm__ volatile("" : : : "memory");
	p->next = next + c->len;
	return true;
}
