/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: waits as long as no other thread could run meanwhile.
 *
 * A wait for descriptors changes nothing of the program's. So the tracer may end it at any time: the
 * thread then stands where it was about to make its call, which is made with a stop
 * (lz_fast_leave_wait()). A signal that only the wait's own mask lets in comes in that call. Other calls
 * wait themselves. The kernel tells whether such a call has a result, or would be made again: then
 * nothing has been done, and it is the same. */
#include "tracer/stub/stub.h"

#include <errno.h>
#include <sys/syscall.h>

/* A call that has its result is over for the tracer when the thread stands at the label, or when it
 * does not wait any more: nothing is between these. */
PART __attribute__((noclone)) int64_t make_wait(struct lz_call_page *p, const uint64_t *nr_args)
{
	register uint64_t r10 __asm__("r10") = nr_args[4];
	register uint64_t r8 __asm__("r8") = nr_args[5];
	register uint64_t r9 __asm__("r9") = nr_args[6];
	int64_t result;

	__asm__ volatile("syscall\n"
	                 ".globl lz_stub_waited\n"
	                 "lz_stub_waited:\n"
	                 "	movl $0, %[waits]"
	                 : "=a"(result), [waits] "=m"(p->waits)
	                 : "a"(nr_args[0]), "D"(nr_args[1]), "S"(nr_args[2]), "d"(nr_args[3]),
	                   "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

/* The tracer first forbids a wait, and then looks whether there is one. False: there has been none. */
PART bool wait_by(struct lz_call_page *p, const uint64_t *nr_args, uint32_t how, int64_t *result)
{
	__atomic_store_n(&p->waits, how, __ATOMIC_SEQ_CST);
	if (is_let(&p->may_wait) && is_let(&p->go)) {
		p->n_waits++;
		p->waited = 1;
		*result = make_wait(p, nr_args);
		return true;
	}
	__atomic_store_n(&p->waits, LZ_WAITS_NO, __ATOMIC_SEQ_CST);
	return false;
}

INLINE uint64_t limit_of(const struct lz_call_page *p)
{
	return p->left[0] == LZ_NO_LIMIT ? 0 : (uint64_t)p->left;
}

/* The call has yet to be made: that is not to be if something has happened that is to be looked at. */
INLINE int64_t wait_before(struct lz_call_page *p, const uint64_t *nr_args)
{
	int64_t result;

	if (!wait_by(p, nr_args, LZ_WAITS_BEFORE, &result))
		return -EAGAIN;
	/* the tracer sees that it does not wait any more, or this sees what the tracer has forbidden */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return is_let(&p->go) ? result : -EAGAIN;
}

int64_t lz_stub_wait(struct lz_call_page *p, uint64_t at, uint64_t n, uint64_t mask)
{
	uint64_t regs[7];

	regs[0] = SYS_ppoll;
	regs[1] = at;
	regs[2] = n;
	regs[3] = limit_of(p);
	regs[4] = mask;
	regs[5] = LZ_MASK_LEN;
	regs[6] = 0;
	return wait_before(p, regs);
}

int64_t lz_stub_wait_sets(struct lz_call_page *p, uint64_t n, const uint64_t *set, uint64_t mask)
{
	uint64_t regs[7];

	regs[0] = SYS_pselect6;
	regs[1] = n;
	regs[2] = set[0];
	regs[3] = set[1];
	regs[4] = set[2];
	regs[5] = limit_of(p);
	regs[6] = mask;
	return wait_before(p, regs);
}

int64_t lz_stub_wait_in(struct lz_call_page *p, const uint64_t *nr_args)
{
	int64_t result;

	p->left[0] = LZ_NO_LIMIT;
	return wait_by(p, nr_args, LZ_WAITS_INSIDE, &result) ? result : -EAGAIN;
}
