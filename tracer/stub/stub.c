/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: makes system calls that need no tracer and writes them down.
 *
 * A site's detour (tracer/code/detour.c) comes here with the address behind the site in rcx and
 * the one behind the detour's own system call instruction in r11: a system call overwrites both.
 * What is left of this is what a system call leaves. Neither the program's stack nor any other
 * register is touched. It is compiled without vector registers, constants in memory and calls of
 * a library (tracer/build.mk), and copied into the program. */
#include "tracer/state/call_page.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define STUB __attribute__((section("lz_stub")))
#define INLINE static inline __attribute__((always_inline))

_Static_assert(offsetof(struct lz_call_page, site) == 0 &&
                   offsetof(struct lz_call_page, back) == 8 &&
                   offsetof(struct lz_call_page, target) == 16 &&
                   offsetof(struct lz_call_page, rsp) == 24 &&
                   offsetof(struct lz_call_page, kind) == 32 &&
                   offsetof(struct lz_call_page, stack) + LZ_STUB_STACK == 0x1040 &&
                   LZ_STUB_CODE == 0x2000,
               "the assembly part has these numbers");

#define PAGE "__start_lz_stub+0x2000"
/* The result of lz_stub_call(): 0: the call is to be made with a stop, 1: it has been made,
 * 2: and the tracer is to look at once. */
__asm__(".pushsection lz_stub,\"ax\",@progbits\n"
        ".globl lz_stub_entry, lz_stub_trap\n"
        ".balign 16\n"
        "lz_stub_entry:\n"
        "	movl $0, " PAGE "+32(%rip)\n"
        "	jmp 3f\n"
        ".balign 16\n"
        "	movl $1, " PAGE "+32(%rip)\n"
        "	jmp 3f\n"
        ".balign 16\n"
        "	movl $2, " PAGE "+32(%rip)\n"
        "3:	movq %rcx, " PAGE "(%rip)\n"
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
        "	movq %rsp, %rsi\n"
        "	movq %r15, %rdx\n"
        "	call lz_stub_call\n"
        "	movq " PAGE "+8(%rip), %rcx\n"
        "	cmpl $1, %eax\n"
        "	je 2f\n"
        "	ja 1f\n"
        "	subq $2, %rcx\n"
        "	jmp 2f\n"
        "1:	int3\n"
        "lz_stub_trap:\n"
        "2:	movq %rcx, " PAGE "+16(%rip)\n"
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

INLINE void set_busy(struct lz_call_page *p, uint32_t busy)
{
	__atomic_store_n(&p->busy, busy, __ATOMIC_SEQ_CST);
}

INLINE int64_t make(const uint64_t *regs)
{
	register uint64_t r10 __asm__("r10") = regs[4];
	register uint64_t r8 __asm__("r8") = regs[5];
	register uint64_t r9 __asm__("r9") = regs[6];
	int64_t result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(regs[0]), "D"(regs[1]), "S"(regs[2]), "d"(regs[3]), "r"(r10),
	                   "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

INLINE void copy(uint8_t *to, uint64_t from, uint64_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/* Nothing is stored there yet. */
INLINE bool is_pointer(const struct lz_call_page *p, uint64_t at)
{
	return at - p->ring < p->guard && !*(const volatile uint8_t *)at;
}

/* False: it is not known. */
INLINE bool find_marker(const struct lz_call_page *p, uint64_t r15, uint64_t *marker)
{
	*marker = 0;
	if (!p->ring)
		return true;
	*marker = r15;
	if (p->kind != LZ_SITE_MARKERS && !p->pos_addr)
		return false;
	if (p->kind != LZ_SITE_MARKERS)
		*marker = *(const volatile uint64_t *)p->pos_addr;
	return (p->kind != LZ_SITE_ANY || *marker == r15) && is_pointer(p, *marker);
}

INLINE bool is_changed_code(const struct lz_call_page *p, uint64_t start, uint64_t len)
{
	for (int i = 0; i < LZ_CODE_RANGES; i++)
		if (start < p->code[i].end && start + len > p->code[i].start)
			return true;
	return false;
}

/* How many bytes the call may put into the log; UINT64_MAX: too many. */
INLINE uint64_t most_of(const struct lz_call_page *p, const struct lz_fast_call *c,
                        const uint64_t *args)
{
	const uint64_t limit = args[c->most];
	uint64_t sum = 0;

	if (c->takes)
		return limit <= LZ_FAST_TAKEN && !is_changed_code(p, args[c->takes - 1], limit)
		           ? limit
		           : UINT64_MAX;
	for (int i = 0; i < c->n_outs; i++) {
		if (!c->out[i].size && limit > LZ_FAST_MOST)
			return UINT64_MAX;
		sum += c->out[i].size ? c->out[i].size : limit;
	}
	return sum;
}

INLINE uint32_t add_bytes(const struct lz_fast_call *c, const uint64_t *args, int64_t result,
                          uint8_t *to)
{
	uint32_t done = 0;

	if (result < 0)
		return 0;
	if (c->takes) {
		copy(to, args[c->takes - 1], (uint64_t)result);
		return (uint32_t)result;
	}
	for (int i = 0; i < c->n_outs; i++) {
		uint64_t n = c->out[i].size ? c->out[i].size : (uint64_t)result;

		if (!args[c->out[i].arg])
			continue;
		copy(to + done, args[c->out[i].arg], n);
		done += (uint32_t)n;
	}
	return done;
}

/* REGS: the number and the six arguments; the result replaces the number. */
uint32_t lz_stub_call(struct lz_call_page *p, uint64_t *regs, uint64_t r15) STUB;
uint32_t lz_stub_call(struct lz_call_page *p, uint64_t *regs, uint64_t r15)
{
	const uint64_t nr = regs[0], *args = regs + 1;
	const struct lz_fast_call *c = &p->call[nr < LZ_FAST_CALLS ? nr : 0];
	uint64_t marker, most;

	if (!p->go || nr >= LZ_FAST_CALLS || !c->may)
		return 0;
	if (c->fd && (args[0] >= LZ_FAST_FDS || !(p->fd[args[0]] & c->fd)))
		return 0;
	most = most_of(p, c, args);
	if (most == UINT64_MAX || !find_marker(p, r15, &marker))
		return 0;
	/* From here on the tracer leaves the log where it is. */
	set_busy(p, 1);
	const uint32_t head = *(volatile uint32_t *)&p->head;
	if (head > LZ_CALL_LOG || most + sizeof(struct lz_call_record) + 8 > LZ_CALL_LOG - head) {
		set_busy(p, 0);
		return 0;
	}
	struct lz_call_record *r = (struct lz_call_record *)(p->log + head);
	for (int i = 0; i < 6; i++)
		r->args[i] = args[i];
	if (c->close)
		p->fd[args[0]] = 0;
	int64_t result = make(regs);
	regs[0] = (uint64_t)result;
	uint32_t n = sizeof(*r);
	r->flags = result == -EFAULT ? LZ_CALL_UNREAD : 0;
	r->nr = (uint16_t)nr;
	r->ip = p->site;
	r->marker = marker;
	r->result = result;
	n += add_bytes(c, args, result, (uint8_t *)(r + 1));
	r->len = (n + 7) & ~7u;
	__atomic_store_n(&p->head, head + r->len, __ATOMIC_RELEASE);
	set_busy(p, 0);
	return result == -EFAULT ? 2 : 1;
}
