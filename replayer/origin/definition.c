/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which instructions ran is read from the markers (replayer/insn), in lists that get longer. One that
 * is found is gone to as the last arrival at its address. */
#include "replayer/origin/definition.h"
#include "replayer/origin/own_stops.h"
#include <lizard/error.h>
#include <stdlib.h>

enum { FIRST = 32, GROW = 8, LONGEST = 8192, MOST_CALLS = 8192 };

struct search {
	struct lz_session *s;
	const struct lz_location *of; /* NULL: a conditional jump */
	uint64_t *addrs;
	size_t n;
};

static bool decode(struct lz_session *s, uint64_t addr, struct lz_decoded *i)
{
	uint8_t code[LZ_INSN_LONGEST];
	const size_t n = lz_session_read(s, addr, code, sizeof code);

	return lz_insn_decode(code, n, i);
}

static int to_last(struct lz_session *s, uint64_t addr)
{
	struct lz_stop stop;

	if (lz_session_jump(s, LZ_BACKWARD, s->pos.tid, &addr, 1, &stop) < 0)
		return -1;
	return stop.reason == LZ_STOP_INTERRUPTED ? LZ_DEFINITION_INTERRUPTED : 0;
}

/* ---- calls ---- */

static bool is_kept_by_calls(ZydisRegister r)
{
	switch (r) {
	case ZYDIS_REGISTER_RBX:
	case ZYDIS_REGISTER_RBP:
	case ZYDIS_REGISTER_R12:
	case ZYDIS_REGISTER_R13:
	case ZYDIS_REGISTER_R14:
	case ZYDIS_REGISTER_R15: return true;
	default: return false;
	}
}

static bool at_stack_pointer(void *arg, uint64_t addr, struct lz_arrival *a)
{
	struct user_regs_struct r;

	(void)addr;
	return lz_arrival_regs(a, &r) < 0 || r.rsp == *(uint64_t *)arg;
}

/* The addresses at which a call may stand that returns to NEXT. */
static size_t calls_before(struct lz_session *s, uint64_t next, uint64_t addrs[LZ_INSN_LONGEST])
{
	struct lz_decoded i;
	size_t n = 0;

	for (uint64_t len = 2; len < LZ_INSN_LONGEST; len++)
		if (decode(s, next - len, &i) && i.in.length == len &&
		    i.in.meta.category == ZYDIS_CATEGORY_CALL)
			addrs[n++] = next - len;
	return n;
}

static int run_back_to(struct lz_session *s, const uint64_t *addrs, size_t n, uint64_t sp,
                       struct lz_stop *stop)
{
	struct lz_own_stops users;
	int ret = 0;

	lz_own_stops_begin(s, &users);
	for (size_t i = 0; !ret && i < n; i++)
		ret = lz_own_break(s, addrs[i], at_stack_pointer, &sp);
	if (!ret)
		ret = lz_session_run(s, LZ_BACKWARD, stop);
	lz_own_stops_end(s, &users);
	return ret;
}

/* From right behind a return to right before the call. FAR: there is none, or it has not kept OF. */
static int over_call(struct lz_session *s, ZydisRegister kept)
{
	uint64_t addrs[LZ_INSN_LONGEST];
	struct user_regs_struct r;
	struct lz_stop stop;

	if (lz_session_regs(s, &r) < 0)
		return -1;
	const uint64_t value = lz_register_value(&r, kept);
	const size_t n = calls_before(s, r.rip, addrs);
	if (!n)
		return LZ_DEFINITION_FAR;
	if (run_back_to(s, addrs, n, r.rsp, &stop) < 0)
		return -1;
	if (stop.reason == LZ_STOP_INTERRUPTED)
		return LZ_DEFINITION_INTERRUPTED;
	if (stop.reason != LZ_STOP_BREAKPOINT || lz_session_regs(s, &r) < 0 ||
	    lz_register_value(&r, kept) != value)
		return LZ_DEFINITION_FAR;
	return 0;
}

/* ---- the search ---- */

static bool is_it(const struct search *x, const struct lz_decoded *i)
{
	/* a register does not depend on where memory operands lead */
	static const struct user_regs_struct none;

	if (!x->of)
		return i->in.meta.category == ZYDIS_CATEGORY_COND_BR;
	struct lz_location of = *x->of;
	return lz_source_writes(i, &none, &of);
}

/* Behind the K-th instruction back; 0: here. */
static int to_behind(struct search *x, size_t k)
{
	return k ? to_last(x->s, x->addrs[k - 1]) : 0;
}

enum { FOUND = -10, AGAIN = -11, NOT_THERE = -12 };

/* The nearest of the instructions that are known, but for the first SEEN. AGAIN: the session has gone
 * over a call. */
static int look(struct search *x, size_t seen)
{
	for (size_t k = seen; k < x->n; k++) {
		struct lz_decoded i;
		int ret;
		if (!decode(x->s, x->addrs[k], &i))
			return LZ_DEFINITION_FAR;
		if (is_it(x, &i))
			return (ret = to_last(x->s, x->addrs[k])) ? ret : FOUND;
		if (i.in.meta.category != ZYDIS_CATEGORY_RET || !x->of ||
		    !is_kept_by_calls(x->of->reg))
			continue;
		ret = to_behind(x, k);
		if (!ret)
			ret = over_call(x->s, x->of->reg);
		return ret ? ret : AGAIN;
	}
	return NOT_THERE;
}

static int search(struct search *x)
{
	size_t calls = 0, seen = 0, want = FIRST;

	while (seen < LONGEST && calls < MOST_CALLS) {
		if (lz_session_instructions(x->s, LZ_BACKWARD, 0, want, x->addrs, &x->n) < 0)
			return -1;
		if (x->n <= seen)
			return LZ_DEFINITION_FAR;
		int ret = look(x, seen);
		if (ret == FOUND)
			return 0;
		if (ret == AGAIN) {
			want = FIRST;
			seen = 0;
			calls++;
			continue;
		}
		if (ret != NOT_THERE)
			return ret;
		seen = x->n;
		want = want * GROW < LONGEST ? want * GROW : LONGEST;
	}
	return LZ_DEFINITION_FAR;
}

static int go(struct lz_session *s, const struct lz_location *of)
{
	struct search x = {.s = s, .of = of, .addrs = calloc(LONGEST, sizeof *x.addrs)};

	if (!x.addrs)
		return lz_fail("out of memory");
	int ret = search(&x);
	free(x.addrs);
	return ret;
}

int lz_definition_go(struct lz_session *s, const struct lz_location *of)
{
	return go(s, of);
}

int lz_definition_branch(struct lz_session *s)
{
	return go(s, NULL);
}
