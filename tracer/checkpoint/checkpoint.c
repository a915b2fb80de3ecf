/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints: when, and what they hold. */
#include "tracer/checkpoint/checkpoint.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/state/state.h"

#include <inttypes.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
	/* The automatic interval is never shorter than this, */
	MIN_MS = 50,
	/* nor than this many times what the last checkpoint cost the tracer: with what it costs
	 * the program afterwards, 3 %, */
	COST_FACTOR = 60,
	/* nor than this many times what its pages cost the writing thread when that is busy: it
	 * has the markers to pack too, and when it falls behind the program waits for it; */
	PACK_NS = 20000,
	PACK_FACTOR = 5,
	/* and never longer: it bounds how far a debugger has to run again. */
	MAX_MS = 3000,
	/* What the first one costs says nothing of the second: the program's pages do, each so
	 * much in tracer and program. A short program then has the first one only. */
	PAGE_NS = 5000,
	SECOND_MAX_MS = 250,
	FULL_EVERY = 16
};

/* The last one, of the one process that is traced. */
static struct {
	struct lz_pos pos;
	/* When it was done; what it cost the tracer, and will cost the writing thread; CPU time
	 * of program and tracer until then; not before is the next one due. In ns. */
	uint64_t at, cost, packing, computed, next_look;
	bool is_first; /* of its recording */
} last;

static int stack_start(void *arg, const struct lz_maps_entry *e)
{
	uint64_t *at = arg;

	if (e->end != at[0])
		return 0;
	at[1] = e->start;
	return 1;
}

/* The stack grows without a system call. */
static int refresh_stack(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_vma *v = &t->vmas.a[i].v;
		uint64_t at[2] = {v->end, 0};
		if (!(v->flags & MAP_GROWSDOWN))
			continue;
		if (lz_proc_maps(t->p.pid, stack_start, at) < 0)
			return -1;
		if (at[1] && at[1] < v->start)
			v->start = at[1];
	}
	return 0;
}

static int list_vmas(struct lz_tracer *t, struct lz_checkpoint *ck)
{
	ck->vmas = malloc((t->vmas.n + 1) * sizeof(*ck->vmas));
	if (!ck->vmas)
		return lz_fail("out of memory for a checkpoint");
	for (size_t i = 0; i < t->vmas.n; i++)
		ck->vmas[ck->n_vmas++] = t->vmas.a[i].v;
	return 0;
}

/* A file that has grown since it was mapped empty is memory of its own in replay, until it
 * becomes shorter. */
static void name_files(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_object *o = lz_object(t, t->vmas.a[i].object);

		if (o && o->file != LZ_NO_FILE)
			lz_writer_file_needed(t->w, o->file);
	}
}

static int write_it(struct lz_tracer *t, struct lz_checkpoint *ck, struct lz_page_set *set)
{
	ck->dirty = set->addr;
	ck->n_dirty = (uint32_t)set->n;
	ck->exact = set->exact;
	if (lz_stream_push(t) < 0 || list_vmas(t, ck) < 0)
		return -1;
	if (ck->whole)
		name_files(t);
	int ret = lz_writer_checkpoint(t->w, ck, set->now, ck->whole ? NULL : set->before);
	free(ck->vmas);
	return ret;
}

static uint32_t flags_of(const struct lz_tracer *t, const struct lz_thread *th)
{
	return (th->in_call ? LZ_THREAD_IN_CALL : 0) |
	       (th != t->cur && !th->seen ? LZ_THREAD_FRESH : 0);
}

/* Of those that stand in front of a call, or are on standby there. */
static int save_parked(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	int ret = 0;

	for (size_t i = 0; i < t->n_threads && ret == 0; i++) {
		lz_become(t, t->thread[i]);
		if (t->cur->parked)
			ret = lz_thread_save_xstate(t);
	}
	lz_become(t, cur);
	return ret;
}

/* The current one first. Its registers are R. */
static int list_threads(struct lz_tracer *t, struct lz_checkpoint *ck,
                        const struct user_regs_struct *r)
{
	uint64_t marker = lz_stream_offset(t);

	ck->threads = calloc(t->n_threads, sizeof(*ck->threads));
	if (!ck->threads)
		return lz_fail("out of memory for a checkpoint");
	if (lz_thread_save_xstate(t) < 0 || save_parked(t) < 0)
		return -1;
	t->cur->regs = *r;
	for (size_t i = 0, other = 1; i < t->n_threads; i++) {
		const struct lz_thread *th = t->thread[i];
		struct lz_thread_state *to = &ck->threads[th == t->cur ? 0 : other++];

		*to = (struct lz_thread_state){.tid = th->tid,
		                               .flags = flags_of(t, th),
		                               .regs = th->regs,
		                               .xstate = th->xstate,
		                               .xstate_len = th->xstate_len,
		                               .marker = marker,
		                               .buffer = t->s.base,
		                               .buffer_start = t->s.start};
		to->regs.orig_rax = (uint64_t)-1; /* nothing to restart */
	}
	ck->n_threads = (uint32_t)t->n_threads;
	ck->pos = (struct lz_pos){t->cur->tid, 1, t->next_event, marker, r->rip};
	return 0;
}

static uint64_t stack_limit(pid_t pid)
{
	struct rlimit lim = {RLIM_INFINITY, RLIM_INFINITY};

	prlimit(pid, RLIMIT_STACK, NULL, &lim);
	return lim.rlim_cur;
}

/* What replay will have to compute again: neither sleep nor a busy machine makes an interval
 * longer. */
static uint64_t computed(const struct lz_tracer *t)
{
	return lz_tracer_time() + lz_program_time(t);
}

/* What the next one will cost, of which this one has cost so much: our first copy of a page costs
 * twice as much as later ones, since its memory is new. */
static uint64_t next_cost(uint64_t cost, const struct lz_page_set *set)
{
	uint64_t first = 0;

	for (size_t i = 0; i < set->n; i++)
		first += !set->before[i];
	return set->n ? cost - cost * first / (2 * set->n) : cost;
}

int lz_checkpoint(struct lz_tracer *t, const struct user_regs_struct *r, bool whole)
{
	uint64_t begin = lz_now(), cpu = lz_tracer_time();
	unsigned every = t->opt->full_every ? t->opt->full_every : FULL_EVERY;
	struct lz_page_set set;
	struct lz_checkpoint ck = {.whole = whole || t->since_full + 1 >= every ||
	                                    lz_writer_part_due(t->w),
	                           .time_ns = begin - t->t0,
	                           .map_id = t->map_id,
	                           .brk = t->brk,
	                           .stack_limit = stack_limit(t->p.pid),
	                           .stack_start = t->stack_start,
	                           .pos_offset = t->s.pos_off};

	/* before the first one nothing has run since all mappings were read */
	int ret = list_threads(t, &ck, r) < 0 || (t->n_checkpoints && refresh_stack(t) < 0) ||
	          lz_pages_collect(t, ck.whole, &set) < 0 || write_it(t, &ck, &set) < 0;
	free(ck.threads);
	/* a whole one says of no page what it was before */
	uint64_t cost = lz_tracer_time() - cpu;
	uint64_t next = ret || ck.whole ? cost : next_cost(cost, &set);
	if (ret || lz_pages_done(t, &set, ck.whole) < 0)
		return lz_fail_in("checkpoint %u", t->n_checkpoints);
	if (lz_self_check(t) < 0)
		return -1;
	lz_counter_allow(t->cur->counter_open);
	last.is_first = !t->n_checkpoints++;
	last.pos = ck.pos;
	t->since_full = ck.whole ? 0 : t->since_full + 1;
	lz_stop_time_over();
	last.at = lz_stop_now();
	last.next_look = 0;
	last.computed = computed(t);
	last.cost = lz_tracer_time() - cpu - cost + next;
	last.packing = (uint64_t)ck.n_dirty * PACK_NS;
	lz_debug("checkpoint: %u pages, %.1f ms", ck.n_dirty, (double)cost / 1e6);
	return 0;
}

bool lz_checkpoint_at(struct lz_tracer *t, uint64_t ip)
{
	const struct lz_pos *p = &last.pos;

	return p->event == t->next_event && p->marker == lz_stream_offset(t) && p->ip == ip;
}

bool lz_checkpoint_affordable(const struct lz_tracer *t)
{
	return t->pages && lz_now() - last.at >= last.cost * COST_FACTOR;
}

/* Pages of its own that the program has in memory; 0: not known. */
static uint64_t own_pages(pid_t pid)
{
	uint64_t size, resident, of_files;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	FILE *f = fopen(path, "re");
	int n = f ? fscanf(f, "%" SCNu64 " %" SCNu64 " %" SCNu64, &size, &resident, &of_files) : 0;
	if (f)
		fclose(f);
	return n == 3 && resident > of_files ? resident - of_files : 0;
}

/* The interval behind a recording's first checkpoint, in nanoseconds. */
static uint64_t first_interval(const struct lz_tracer *t)
{
	const uint64_t most = (uint64_t)SECOND_MAX_MS * 1000000,
	               wait = own_pages(t->p.pid) * PAGE_NS * COST_FACTOR;

	return t->opt->checkpoint_ms >= 0 ? 0 : wait < most ? wait : most;
}

/* In nanoseconds. */
static uint64_t interval(const struct lz_tracer *t)
{
	uint64_t wait = last.cost * COST_FACTOR;

	if (t->opt->checkpoint_ms >= 0)
		return (uint64_t)t->opt->checkpoint_ms * 1000000;
	if (wait < last.packing * PACK_FACTOR)
		wait = last.packing * PACK_FACTOR;
	if (wait > (uint64_t)MAX_MS * 1000000)
		wait = (uint64_t)MAX_MS * 1000000;
	return wait < (uint64_t)MIN_MS * 1000000 ? (uint64_t)MIN_MS * 1000000 : wait;
}

unsigned lz_checkpoint_look_ms(const struct lz_tracer *t)
{
	uint64_t ms = interval(t) / 1000000 / 2;

	return ms ? (unsigned)ms : 1;
}

static bool is_time(const struct lz_tracer *t)
{
	uint64_t wait = interval(t), now = lz_stop_now(), used;

	if (now - last.at < wait || now < last.next_look)
		return false;
	used = computed(t) - last.computed;
	if (used >= wait && last.is_first)
		wait = first_interval(t);
	if (used < wait)
		last.next_look = now + (wait - used); /* one CPU: not before */
	return used >= wait;
}

bool lz_checkpoint_due(const struct lz_tracer *t)
{
	return lz_writer_part_due(t->w) || is_time(t);
}

int lz_checkpoint_maybe(struct lz_tracer *t, const struct user_regs_struct *r)
{
	return lz_checkpoint_due(t) ? lz_checkpoint(t, r, lz_writer_part_due(t->w)) : 0;
}
