/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions that the program does by itself, and writes down: rdtsc, rdtscp, and the dynamic linker's
 * xsavec. See stub.c. */
#include "tracer/stub/clock.h"
#include "tracer/stub/segments.h"

#include <common/process/sites.h>
#include <lizard/xsave_parts.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

_Static_assert(LZ_RDTSCP_INSN == 3 && LZ_JUMP == 5, "the assembly part has these numbers");

/* As lz_stub_entry, but that the address behind the site is in rax, and the one behind the detour's own
 * instruction in rdx. All registers go into the log. */
__asm__(ENTRIES ".pushsection lz_stub,\"ax\",@progbits\n"
                ".globl lz_stub_counter, lz_stub_rdtscp, lz_stub_xsavec\n"
                "	entries lz_stub_counter\n"
                "3:	movl $2, " PAGE "+36(%rip)\n"
                "	jmp 4f\n"
                "	entries lz_stub_rdtscp\n"
                "3:	movl $3, " PAGE "+36(%rip)\n"
                "	jmp 4f\n"
                "	entries lz_stub_xsavec\n"
                "3:	movl $5, " PAGE "+36(%rip)\n"
                "4:	movq %rax, " PAGE "(%rip)\n"
                "	movq %rdx, " PAGE "+8(%rip)\n"
                "	movq %rsp, " PAGE "+24(%rip)\n"
                "	leaq " PAGE "+0x1040(%rip), %rsp\n"
                "	pushq " PAGE "+24(%rip)\n"
                "	pushfq\n"
                "	pushq %r15\n"
                "	pushq %r14\n"
                "	pushq %r13\n"
                "	pushq %r12\n"
                "	pushq %rbp\n"
                "	pushq %rbx\n"
                "	pushq %r11\n"
                "	pushq %r10\n"
                "	pushq %r9\n"
                "	pushq %r8\n"
                "	pushq %rdi\n"
                "	pushq %rsi\n"
                "	pushq %rcx\n"
                "	pushq %rdx\n"
                "	pushq %rax\n"
                "	cld\n"
                "	leaq " PAGE "(%rip), %rdi\n"
                "	movq %rsp, %rsi\n"
                "	call lz_stub_insn\n"
                "	movq " PAGE "+8(%rip), %rdx\n"
                "	testl %eax, %eax\n"
                "	jne 1f\n"
                "	movl " PAGE "+36(%rip), %ecx\n"
                "	subq %rcx, %rdx\n"
                "1:	movq %rdx, " PAGE "+16(%rip)\n"
                "	popq %rax\n"
                "	popq %rdx\n"
                "	popq %rcx\n"
                "	popq %rsi\n"
                "	popq %rdi\n"
                "	popq %r8\n"
                "	popq %r9\n"
                "	popq %r10\n"
                "	popq %r11\n"
                "	addq $48, %rsp\n" /* rbx, rbp, r12 to r15 are as they were */
                "	popfq\n"
                "	movq " PAGE "+24(%rip), %rsp\n"
                "	jmp *" PAGE "+16(%rip)\n"
                ".popsection\n");

INLINE uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

INLINE int64_t clock_now(uint64_t now[2])
{
	int64_t result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(SYS_clock_gettime), "D"(CLOCK_MONOTONIC_RAW), "S"(now)
	                 : "rcx", "r11", "memory");
	return result;
}

/* What rdtsc gives. False: that is not known. */
INLINE bool read_counter(struct lz_call_page *p, uint64_t *value)
{
	uint64_t now[2];

	if (is_open(p)) {
		*value = rdtsc();
		return true;
	}
	if (clock_now(now) != 0)
		return false;
	*value = lz_counter_at(&p->counter, now[0] * 1000000000 + now[1]);
	return true;
}

PART uint32_t do_rdtsc(struct lz_call_page *p, struct lz_counter_regs *regs)
{
	const uint32_t len = sizeof(struct lz_call_record) + sizeof(struct lz_counter_entry);
	uint64_t marker, value;

	if (!p->go || !p->counter.scale || !find_marker(p, regs->r15, &marker))
		return 0;
	set_busy(p, 1);
	const uint32_t head = *(volatile uint32_t *)&p->head;
	if (!has_room(p, head, len) || !read_counter(p, &value)) {
		set_busy(p, 0);
		return 0;
	}
	if (value <= p->counter.last)
		value = p->counter.last + 1;
	p->counter.last = value;
	regs->rax = (uint32_t)value;
	regs->rdx = value >> 32;
	if (p->insn == LZ_RDTSCP_INSN)
		regs->rcx = p->node << 12 | p->cpu;
	struct lz_call_record *r = (struct lz_call_record *)(p->log + head);
	r->flags = 0;
	r->nr = LZ_CALL_RDTSC;
	r->ip = p->site;
	r->marker = marker;
	r->result = p->insn;
	r->len = len;
	struct lz_counter_entry *e = (struct lz_counter_entry *)(r + 1);
	copy((uint8_t *)&e->regs, (uint64_t)regs, sizeof(*regs));
	read_segments(e);
	__atomic_store_n(&p->head, head + len, __ATOMIC_RELEASE);
	set_busy(p, 0);
	return 1;
}

/* Where the instruction stores, as its displacement has one byte: the last one of the detour's own. */
INLINE uint64_t area_of(const struct lz_call_page *p, const struct lz_counter_regs *regs)
{
	return regs->rsp + (uint64_t)(int64_t) * (const volatile int8_t *)(p->back - 1);
}

INLINE void xsavec(uint64_t area, const struct lz_counter_regs *regs)
{
	__asm__ volatile("xsavec (%0)"
	                 :
	                 : "r"(area), "a"((uint32_t)regs->rax), "d"((uint32_t)regs->rdx)
	                 : "memory");
}

/* What the processor stores is left to chance, so it goes into the log. Nothing else depends on it: if
 * that cannot be, it is done once more, with a stop. It does not fault: the area is smaller than a page,
 * and the linker has stored to the stack on both sides of it. */
PART uint32_t do_xsavec(struct lz_call_page *p, struct lz_counter_regs *regs)
{
	const uint64_t area = area_of(p, regs);
	volatile uint64_t *header = (volatile uint64_t *)(area + LZ_XSAVE_HEADER);
	struct lz_xsavec_part part[LZ_XSAVEC_PARTS];
	uint32_t len = sizeof(struct lz_call_record) + sizeof(struct lz_counter_entry) + 16;
	uint64_t marker;

	regs->rax = header[0];
	regs->rdx = header[1];
	if (!p->go || !find_marker(p, regs->r15, &marker))
		return 0;
	set_busy(p, 1);
	const uint32_t head = *(volatile uint32_t *)&p->head;
	if (head > LZ_CALL_LOG || len + LZ_XSAVE_MOST > LZ_CALL_LOG - head) {
		set_busy(p, 0);
		return 0;
	}
	xsavec(area, regs);
	struct lz_call_record *r = (struct lz_call_record *)(p->log + head);
	struct lz_counter_entry *e = (struct lz_counter_entry *)(r + 1);
	uint64_t *shown = (uint64_t *)(e + 1);
	shown[0] = header[0];
	shown[1] = header[1];
	const uint32_t n = lz_xsave_parts(p->component, shown[0], shown[1], part);
	for (uint32_t i = 0; i < n; i++) {
		if (part[i].len > sizeof(*r) + sizeof(*e) + 16 + LZ_XSAVE_MOST - len) {
			set_busy(p, 0);
			return 0;
		}
		copy((uint8_t *)r + len, area + part[i].at, part[i].len);
		len += part[i].len;
	}
	r->flags = 0;
	r->nr = LZ_CALL_XSAVEC;
	r->ip = p->site;
	r->marker = marker;
	r->args[0] = area;
	r->result = p->insn;
	r->len = len;
	copy((uint8_t *)&e->regs, (uint64_t)regs, sizeof(*regs));
	read_segments(e);
	__atomic_store_n(&p->head, head + len, __ATOMIC_RELEASE);
	set_busy(p, 0);
	return 1;
}

uint32_t lz_stub_insn(struct lz_call_page *p, struct lz_counter_regs *regs)
{
	return p->insn == LZ_JUMP ? do_xsavec(p, regs) : do_rdtsc(p, regs);
}
