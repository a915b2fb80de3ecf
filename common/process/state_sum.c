/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/state_sum.h>

#include <cpuid.h>
#include <string.h>
#include <xxhash.h>

enum { PAGE = 4096, TRAP_FLAG = 1 << 8, RESUME_FLAG = 1 << 16 };

uint64_t lz_state_from(uint64_t rsp)
{
	const uint64_t from = rsp - LZ_STATE_BELOW, page = rsp & ~(uint64_t)(PAGE - 1);

	return from < page ? page : from;
}

static void read_stack(const struct lz_proc *p, uint64_t rsp, uint8_t *to)
{
	const uint64_t end = rsp + LZ_STATE_ABOVE;

	for (uint64_t at = lz_state_from(rsp), next; at < end; at = next) {
		next = (at | (PAGE - 1)) + 1;
		if (next > end)
			next = end;
		lz_proc_read_some(p, at, to + (at - (rsp - LZ_STATE_BELOW)), next - at);
	}
}

uint64_t lz_state_sum(const struct lz_proc *p, const struct user_regs_struct *r)
{
	struct {
		uint64_t regs[19];
		uint8_t stack[LZ_STATE_BELOW + LZ_STATE_ABOVE];
	} s = {.regs = {r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
	                r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip, r->fs_base,
	                r->gs_base}};

	read_stack(p, r->rsp, s.stack);
	return XXH3_64bits_withSeed(&s, sizeof(s),
	                            r->eflags & ~(uint64_t)(TRAP_FLAG | RESUME_FLAG));
}

uint64_t lz_page_sum(const uint8_t *page)
{
	return XXH3_64bits(page, PAGE);
}

/* Where the rights of protection keys are, which replay uses itself; 0: there are none. */
static uint32_t keys_at(void)
{
	enum { XSAVE_LEAF = 0xd, KEYS = 9 };
	static uint32_t at = UINT32_MAX;
	uint32_t size, offset, c, d;

	if (at == UINT32_MAX)
		at = __get_cpuid_count(XSAVE_LEAF, KEYS, &size, &offset, &c, &d) && size ? offset
		                                                                         : 0;
	return at;
}

/* The header and the bytes that are kept for software say nothing about the program. */
uint64_t lz_vectors_sum(const struct lz_proc *p)
{
	enum { FROM = 464, TO = 576, KEYS_LEN = 8 };
	uint8_t x[LZ_XSTATE_MAX];
	uint32_t len = sizeof(x);

	if (lz_proc_xstate(p, x, &len) < 0)
		return UINT64_MAX;
	memset(x + FROM, 0, TO - FROM);
	if (keys_at() && keys_at() + KEYS_LEN <= len)
		memset(x + keys_at(), 0, KEYS_LEN);
	return XXH3_64bits(x, len);
}
