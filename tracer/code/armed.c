/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's code as it is while it is recorded: instructions that have been armed, to fault
 * and be done by the tracer (lizard/randinsn.h, lizard/xsavec.h), and the markers' adds, which
 * have been widened (lizard/widen.h). */
#include "tracer/code/code.h"
#include "tracer/log/log.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <lizard/widen.h>
#include <stdlib.h>

int lz_places_add(struct lz_places *p, uint64_t at)
{
	if (lz_reserve(p->at, p->room, p->n + 1) < 0)
		return lz_fail("out of memory for %zu instructions", p->n + 1);
	p->at[p->n++] = at;
	return 0;
}

/* One byte of each is changed. */
static const struct {
	uint8_t original, armed;
} change[LZ_ARMED_KINDS] = {
    [LZ_ARMED_INSN] = {LZ_RAND_OPCODE, LZ_RAND_ARMED},
    [LZ_ARMED_ADD] = {LZ_ADD_NARROW, LZ_ADD_WIDE},
    [LZ_ARMED_CPUID] = {LZ_CPUID_OPCODE, LZ_CPUID_ARMED},
};

bool lz_places_has(const struct lz_places *p, uint64_t at)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i] == at)
			return true;
	return false;
}

bool lz_armed_has(const struct lz_tracer *t, uint64_t at)
{
	return lz_places_has(&t->armed.at[LZ_ARMED_INSN], at);
}

/* Those of AT from number I on that are in the same page; returns the number of the next, 0 if that
 * fails. */
static size_t arm_in_page(struct lz_tracer *t, const uint64_t *at, size_t i, size_t n,
                          uint8_t armed)
{
	const uint64_t from = at[i];
	uint64_t len = 1;
	uint8_t code[LZ_PAGE];
	size_t end = i;

	for (; end < n && at[end] >= from && lz_page_down(at[end]) == lz_page_down(from); end++)
		if (at[end] - from >= len)
			len = at[end] - from + 1;
	if (lz_proc_read(&t->p, from, code, len) < 0)
		return 0;
	for (; i < end; i++)
		code[at[i] - from] = armed;
	return lz_proc_write(&t->p, from, code, len) < 0 ? 0 : end;
}

int lz_armed_sites(struct lz_tracer *t, enum lz_armed_kind kind, const uint64_t *sites, size_t n,
                   const struct lz_vma *v, bool logged)
{
	struct lz_places *p = &t->armed.at[kind];
	const size_t first = p->n;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = v->start + (sites[i] - v->offset);

		if (sites[i] < v->offset || sites[i] - v->offset >= v->end - v->start)
			continue;
		if (lz_places_add(p, at) < 0 ||
		    (logged && lz_build_write(t, at, &change[kind].armed, 1) < 0))
			return -1;
	}
	for (size_t i = first; i < p->n;)
		if (!(i = arm_in_page(t, p->at, i, p->n, change[kind].armed)))
			return -1;
	return (int)(p->n - first);
}

/* Those from number I on that are in the same page; returns the number of the next. Where
 * nothing is mapped any more, or nobody lives, nothing has to be done; nor where the program has
 * put something else. */
static size_t put_in_page(const struct lz_places *s, size_t i, const struct lz_proc *p,
                          uint8_t from, uint8_t to)
{
	const uint64_t page = lz_page_down(s->at[i]);
	uint8_t code[LZ_PAGE];
	bool there = lz_proc_read_some(p, page, code, LZ_PAGE) == LZ_PAGE, changed = false;

	for (; i < s->n && s->at[i] - page < LZ_PAGE; i++) {
		uint8_t *byte = &code[s->at[i] - page];

		if (there && *byte == from) {
			*byte = to;
			changed = true;
		}
	}
	if (changed)
		lz_proc_write(p, page, code, LZ_PAGE);
	return i;
}

void lz_places_put(const struct lz_places *s, const struct lz_proc *p, uint8_t from, uint8_t to)
{
	for (size_t i = 0; i < s->n;)
		i = put_in_page(s, i, p, from, to);
}

void lz_armed_release(const struct lz_tracer *t, const struct lz_proc *p)
{
	for (int k = 0; k < LZ_ARMED_KINDS; k++)
		lz_places_put(&t->armed.at[k], p, change[k].armed, change[k].original);
}

void lz_armed_again(struct lz_tracer *t)
{
	for (int k = 0; k < LZ_ARMED_KINDS; k++)
		lz_places_put(&t->armed.at[k], &t->p, change[k].original, change[k].armed);
}

void lz_places_moved(struct lz_places *p, uint64_t start, uint64_t end, uint64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		uint64_t at = p->at[i];

		if (at >= start && at < end)
			at = to ? to + (at - start) : 0;
		if (at)
			p->at[n++] = at;
	}
	p->n = n;
}

void lz_armed_moved(struct lz_tracer *t, uint64_t start, uint64_t end, uint64_t to)
{
	for (int k = 0; k < LZ_ARMED_KINDS; k++)
		lz_places_moved(&t->armed.at[k], start, end, to);
	lz_detours_moved(t, start, end, to);
}

void lz_armed_forget(struct lz_tracer *t)
{
	for (int k = 0; k < LZ_ARMED_KINDS; k++)
		free(t->armed.at[k].at);
	t->armed = (struct lz_armed){0};
}
