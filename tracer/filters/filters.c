/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/filters/filters.h"

#include "tracer/filters/bpf.h"

#include <linux/audit.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <sys/syscall.h>

/* The kernel counts what it makes of a filter: about two instructions of each, and a beginning. Four
 * more are its price for each filter. */
enum { MADE = 2, BEGINNING = 3, PENALTY = 4 };

struct lz_filter *lz_filter_new(unsigned n)
{
	struct lz_filter *f = calloc(1, sizeof(*f) + n * sizeof(f->code[0]));

	if (!f) {
		lz_fail("out of memory for a filter of system calls");
		return NULL;
	}
	f->users = 1;
	f->n = (uint16_t)n;
	return f;
}

struct lz_filter *lz_filter_keep(struct lz_filter *f)
{
	if (f)
		f->users++;
	return f;
}

void lz_filter_drop(struct lz_filter *f)
{
	while (f && --f->users == 0) {
		struct lz_filter *before = f->before;

		free(f);
		f = before;
	}
}

bool lz_filter_has(const struct lz_filter *f, const struct lz_filter *before)
{
	while (f && f != before)
		f = f->before;
	return f == before;
}

uint64_t lz_filter_size(const struct lz_filter *f)
{
	uint64_t sum = 0;

	for (; f; f = f->before)
		sum += f->n * (uint64_t)MADE + BEGINNING + PENALTY;
	return sum;
}

static int32_t rank_of(uint32_t ret)
{
	return (int32_t)(ret & SECCOMP_RET_ACTION_FULL);
}

/* All are asked; the lowest action counts, of equals the latest filter's. */
uint32_t lz_filter_judge(const struct lz_filter *f, const struct seccomp_data *d)
{
	uint32_t worst = SECCOMP_RET_ALLOW, ret;

	for (; f; f = f->before)
		if (lz_bpf_run(f->code, d, sizeof(*d), &ret) && rank_of(ret) < rank_of(worst))
			worst = ret;
	return worst;
}

bool lz_filter_allows(const struct lz_filter *f, uint32_t nr)
{
	const struct seccomp_data d = {.nr = (int)nr, .arch = AUDIT_ARCH_X86_64};
	uint32_t ret;

	for (; f; f = f->before)
		if (!lz_bpf_run(f->code, &d, LZ_BPF_NUMBER, &ret) ||
		    (ret & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ALLOW)
			return false;
	return true;
}

static bool is_strict_call(uint32_t nr)
{
	return nr == SYS_read || nr == SYS_write || nr == SYS_exit || nr == SYS_rt_sigreturn;
}

bool lz_thread_may_call(const struct lz_thread *th, uint32_t nr)
{
	return th->strict ? is_strict_call(nr) : lz_filter_allows(th->filter, nr);
}

int lz_filter_mode(const struct lz_thread *th)
{
	if (th->strict)
		return SECCOMP_MODE_STRICT;
	return th->filter ? SECCOMP_MODE_FILTER : SECCOMP_MODE_DISABLED;
}

void lz_filters_inherit(struct lz_thread *th, const struct lz_thread *parent)
{
	th->filter = lz_filter_keep(parent->filter);
	th->strict = parent->strict;
	th->no_new_privs = parent->no_new_privs;
}
