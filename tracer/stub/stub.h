/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the code have in common that is copied into the program. */
#ifndef LIZARD_TRACER_STUB_H
#define LIZARD_TRACER_STUB_H

#include "tracer/state/call_page.h"

#include <stdbool.h>
#include <stdint.h>

#define STUB __attribute__((section("lz_stub"), visibility("hidden")))
#define PART static __attribute__((section("lz_stub"), noinline))
#define INLINE static inline __attribute__((always_inline))

/* For the assembly part: the page, and the entries of all kinds of sites, LZ_STUB_ENTRY apart, which go
 * on behind the last one, at label 3. */
#define PAGE "__start_lz_stub+0x8000"
#define ENTRIES                                                                                    \
	".macro entries name\n"                                                                    \
	"	.balign 16\n"                                                                            \
	"\\name:\n"                                                                                \
	"	movl $0, " PAGE "+32(%rip)\n"                                                      \
	"	jmp 3f\n"                                                                                \
	"	.balign 16\n"                                                                            \
	"	movl $1, " PAGE "+32(%rip)\n"                                                      \
	"	jmp 3f\n"                                                                                \
	"	.balign 16\n"                                                                            \
	"	movl $2, " PAGE "+32(%rip)\n"                                                      \
	".endm\n"

/* Of the results: 0: the call is to be made with a stop, 1: it has been made, 2: and the tracer is
 * to look at once. */
enum { LZ_STOP, LZ_MADE, LZ_LOOK };

/* stub.c: REGS: the number and the six arguments; the result replaces the number. */
uint32_t lz_stub_call(struct lz_call_page *p, uint64_t *regs, uint64_t r15) STUB;
/* insns.c: an rdtsc, rdtscp or xsavec. 0: it is to be done with a stop; 1: it has been done. */
uint32_t lz_stub_insn(struct lz_call_page *p, struct lz_counter_regs *regs) STUB;

/* try.c: a call that may wait; the last marker is at MARKER. */
uint32_t lz_stub_try(struct lz_call_page *p, uint64_t *regs, uint64_t marker) STUB;

/* wait.c: the result of ppoll() for N descriptors, struct pollfd, at AT; less than 0: the call is to
 * have a stop. The time limit is in P->left, which tells of the rest then. Meanwhile the signal mask is
 * the one at MASK, if that is not 0. */
int64_t lz_stub_wait(struct lz_call_page *p, uint64_t at, uint64_t n, uint64_t mask) STUB;
/* The same of pselect6() for descriptors below N in three sets; MASK: as its last argument. */
int64_t lz_stub_wait_sets(struct lz_call_page *p, uint64_t n, const uint64_t *set,
                          uint64_t mask) STUB;

/* A call with its number and arguments, which waits itself, and which the kernel makes again if a signal
 * ends the wait. -EAGAIN: it is to have a stop. */
int64_t lz_stub_wait_in(struct lz_call_page *p, const uint64_t *nr_args) STUB;

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

/* The tracer looks at it when the thread stands: no other processor must see it before. But where there
 * are guards is_still_let() follows. */
INLINE void set_busy(struct lz_call_page *p, uint32_t busy)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&p->made, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->busy, busy, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Behind set_busy(). The tracer first forbids calls, and then looks whether one is under way: before
 * others may store to what is mapped. */
INLINE bool is_still_let(const struct lz_call_page *p)
{
	if (!p->guards)
		return true;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&p->go, __ATOMIC_SEQ_CST);
}

/* What the tracer may take back at any time. */
INLINE bool is_let(const uint32_t *by)
{
	return __atomic_load_n(by, __ATOMIC_SEQ_CST);
}

/* From here on a fault does not take the call to a stop at which it would be made again: what has been
 * read from a pipe, or by a position, would be lost (lz_fast_made()). */
INLINE void set_made(struct lz_call_page *p, int64_t result)
{
	p->result = result;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&p->made, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Of a call that needs N bytes at most. */
INLINE bool has_room(struct lz_call_page *p, uint32_t head, uint64_t n)
{
	if (head <= LZ_CALL_LOG && n <= LZ_CALL_LOG - head && ++p->n_calls <= LZ_CALLS_MOST)
		return true;
	p->full = 1;
	return false;
}

/* NR_ARGS: the number and the six arguments. */
INLINE int64_t make(const uint64_t *nr_args)
{
	register uint64_t r10 __asm__("r10") = nr_args[4];
	register uint64_t r8 __asm__("r8") = nr_args[5];
	register uint64_t r9 __asm__("r9") = nr_args[6];
	int64_t result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(nr_args[0]), "D"(nr_args[1]), "S"(nr_args[2]), "d"(nr_args[3]),
	                   "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

/* A string instruction takes longer to begin than a few bytes to copy. */
INLINE void copy(uint8_t *to, uint64_t from, uint64_t n)
{
	enum { FEW = 64, WORD = 8 };

	if (n > FEW) {
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
		return;
	}
	for (; n >= WORD; n -= WORD, to += WORD, from += WORD)
		*(volatile uint64_t *)to = *(const volatile uint64_t *)from;
	for (; n; n--)
		*(volatile uint8_t *)to++ = *(const volatile uint8_t *)from++;
}

INLINE bool is_changed_code(const struct lz_call_page *p, uint64_t start, uint64_t len)
{
	for (int i = 0; i < LZ_CODE_RANGES; i++)
		if (start < p->code[i].end && start + len > p->code[i].start)
			return true;
	return false;
}

INLINE void set_fd(struct lz_call_page *p, int64_t fd, uint8_t good)
{
	if (fd < 0 || fd >= LZ_FAST_FDS)
		return;
	p->fd[fd] = good;
	p->alone[fd] = 0;
	p->leased[fd] = 0;
}

#endif
