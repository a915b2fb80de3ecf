/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filters of system calls that the program has installed: seccomp(2). The kernel knows nothing
 * of them while the program is recorded, since they would judge the recorder's own calls, too. */
#ifndef LIZARD_TRACER_FILTERS_H
#define LIZARD_TRACER_FILTERS_H

#include "tracer/state/tracer.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

/* One filter, and those that were there before it: shared by the threads that have it. */
struct lz_filter {
	struct lz_filter *before; /* NULL: it is the first one */
	unsigned users;
	uint32_t flags; /* SECCOMP_FILTER_FLAG_* by which it was installed */
	bool by_prctl;
	uint16_t n;
	struct sock_filter code[];
};

/* N instructions to be filled in; NULL: lz_error(). */
struct lz_filter *lz_filter_new(unsigned n);
/* One user more of F and all before it; gives F. F may be NULL. */
struct lz_filter *lz_filter_keep(struct lz_filter *f);
void lz_filter_drop(struct lz_filter *f);
/* Is it F, or one before F? NULL is before all. */
bool lz_filter_has(const struct lz_filter *f, const struct lz_filter *before);
/* Instructions of F and all before it, as the kernel counts them against its limit. */
uint64_t lz_filter_size(const struct lz_filter *f);
/* SECCOMP_RET_*, with its data, of the call D. */
uint32_t lz_filter_judge(const struct lz_filter *f, const struct seccomp_data *d);
/* Is call NR allowed whatever its arguments are? */
bool lz_filter_allows(const struct lz_filter *f, uint32_t nr);

/* The same of thread TH, which may be in strict mode. */
bool lz_thread_may_call(const struct lz_thread *th, uint32_t nr);
/* SECCOMP_MODE_*: what thread TH is told. */
int lz_filter_mode(const struct lz_thread *th);
/* Thread TH begins with what its parent has. */
void lz_filters_inherit(struct lz_thread *th, const struct lz_thread *parent);

#endif
