/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: waits for descriptors, as long as no other thread could run meanwhile.
 *
 * Nothing of the program's is changed. So the tracer may end the wait at any time: the thread then
 * stands where it was about to make its call, which is made with a stop (lz_fast_leave_wait()). */
#include "tracer/stub/stub.h"

#include <errno.h>
#include <sys/syscall.h>

INLINE bool is_let(const uint32_t *by)
{
	return __atomic_load_n(by, __ATOMIC_SEQ_CST);
}

/* The tracer first forbids a wait, and then looks whether there is one. */
PART int64_t wait_by(struct lz_call_page *p, const uint64_t *regs)
{
	int64_t result = -EAGAIN;

	__atomic_store_n(&p->waits, 1, __ATOMIC_SEQ_CST);
	if (is_let(&p->may_wait) && is_let(&p->go)) {
		p->n_waits++;
		p->waited = 1;
		result = make(regs);
	}
	__atomic_store_n(&p->waits, 0, __ATOMIC_SEQ_CST);
	/* something may have happened that the next call has a stop for */
	return is_let(&p->go) ? result : -EAGAIN;
}

int64_t lz_stub_wait(struct lz_call_page *p, uint64_t at, uint64_t n)
{
	uint64_t regs[7];

	regs[0] = SYS_ppoll;
	regs[1] = at;
	regs[2] = n;
	regs[3] = p->left[0] == LZ_NO_LIMIT ? 0 : (uint64_t)p->left;
	regs[4] = regs[5] = regs[6] = 0;
	return wait_by(p, regs);
}

int64_t lz_stub_wait_sets(struct lz_call_page *p, uint64_t n, const uint64_t *set)
{
	uint64_t regs[7];

	p->left[0] = LZ_NO_LIMIT;
	regs[0] = SYS_pselect6;
	regs[1] = n;
	regs[2] = set[0];
	regs[3] = set[1];
	regs[4] = set[2];
	regs[5] = regs[6] = 0;
	return wait_by(p, regs);
}
