/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time-stamp counter that the program reads. The stub cannot read the processor's, which traps
 * in the program's threads: it asks the kernel for the time and scales that. From then on the tracer
 * does the same, so that both give one counter. Threads that may read it (clock.c) get the processor's. */
#include "tracer/code/code.h"

#include <asm/hwcap2.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/* Within so many ns the reading of both clocks tells little of the rate; and within so many,
 * nothing. */
enum { SHORT = 20000000, TOO_SHORT = 1000000, TRIES = 5, NS_IN_S = 1000000000 };

static uint64_t raw_ns(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * NS_IN_S + (uint64_t)now.tv_nsec;
}

/* Both at one instant: of several tries, the one that took least. */
static struct lz_counter_pair read_pair(void)
{
	const bool could = lz_counter_allow(true);
	struct lz_counter_pair best = {0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		const uint64_t before = __rdtsc(), ns = raw_ns(), took = __rdtsc() - before;

		if (took >= least)
			continue;
		least = took;
		best = (struct lz_counter_pair){before + took / 2, ns};
	}
	lz_counter_allow(could);
	return best;
}

/* How the time is scaled, by two readings. */
static bool scale_by(struct lz_counter *c, const struct lz_counter_pair *first)
{
	const struct lz_counter_pair now = read_pair();

	if (now.tsc <= first->tsc || now.ns <= first->ns)
		return false;
	const unsigned __int128 cycles = (unsigned __int128)(now.tsc - first->tsc) << 32;
	c->scale = (uint64_t)(cycles / (now.ns - first->ns));
	c->tsc = now.tsc;
	c->ns = now.ns;
	return true;
}

/* It takes Linux 5.9, and can be turned off when that starts. */
bool lz_segments_readable(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

void lz_counter_begin(struct lz_tracer *t)
{
	if (!t->fast.counter_first.ns && lz_segments_readable())
		t->fast.counter_first = read_pair();
}

bool lz_counter_scale(struct lz_tracer *t)
{
	const struct lz_counter_pair first = t->fast.counter_first;
	struct lz_counter *c = &t->fast.counter;

	if (c->scale)
		return true;
	if (!first.ns || raw_ns() - first.ns < SHORT)
		return false;
	return scale_by(c, &first);
}

/* To read the processor's takes two changes of CR4, which a virtual machine makes in 9 us, and the
 * dynamic linker reads it eight times. So in the beginning the time is scaled by a rate that is not
 * known so well. Behind these 20 ms it is wrong by less than a microsecond. */
static const struct lz_counter *early(struct lz_tracer *t)
{
	const struct lz_counter_pair *first = &t->fast.counter_first;
	struct lz_counter *e = &t->fast.counter_early;
	const uint64_t since = first->ns ? raw_ns() - first->ns : 0;

	if (since < TOO_SHORT || since >= SHORT)
		return NULL;
	return e->scale || scale_by(e, first) ? e : NULL;
}

bool lz_counter_forbidden(const struct lz_tracer *t)
{
	for (size_t i = 0; i < t->n_threads; i++)
		if (t->thread[i]->tsc_mode == PR_TSC_SIGSEGV)
			return true;
	return false;
}

static uint64_t read_processor(void)
{
	const bool could = lz_counter_allow(true);
	const uint64_t tsc = __rdtsc();

	lz_counter_allow(could);
	return tsc;
}

uint64_t lz_counter_read(struct lz_tracer *t)
{
	uint64_t *last = t->fast.page ? &t->fast.page->counter.last : &t->fast.counter.last;
	const struct lz_counter *c = t->cur->counter_open    ? NULL
	                             : t->fast.counter.scale ? &t->fast.counter
	                                                     : early(t);
	const uint64_t now = c ? lz_counter_at(c, raw_ns()) : read_processor();

	*last = now > *last ? now : *last + 1;
	return *last;
}
