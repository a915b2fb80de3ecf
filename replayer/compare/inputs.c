/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/compare/inputs.h"

#include "replayer/compare/mix.h"
#include <lizard/error.h>
#include <lizard/mark.h>
#include <lizard/syscalls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum {
	AHEAD = 256, /* events of each run among which a pair is looked for */
	ENOUGH = 3   /* so many in a row make one, unless the stretch ends before */
};

struct item {
	uint64_t index;
	uint64_t what; /* kind, and the number of the call, signal or instruction */
	uint64_t sum;  /* of what came from outside */
};

/* One thread's events. */
struct feed {
	const struct lz_inputs *in;
	int side;
	uint32_t thread;
	uint64_t next; /* event to be looked at */
	struct item v[2 * AHEAD];
	size_t first, n; /* V[first..first + n) come next */
	bool end;
};

/* ---- one event ---- */

/* The program's own values come back, or addresses, or what threads do to each other. */
static bool is_own(const struct lz_event *ev)
{
	const struct lz_syscall *row = lz_syscall(ev->nr);

	if (lz_is_mark(ev->nr, ev->args))
		return true;
	if (row && (row->klass == LZ_SC_MAP || row->klass == LZ_SC_SIGRETURN))
		return true;
	switch (ev->nr) {
	case SYS_arch_prctl:
	case SYS_brk:
	case SYS_get_robust_list:
	case SYS_rseq:
	case SYS_rt_sigaction:
	case SYS_rt_sigprocmask:
	case SYS_sigaltstack: return true;
	default: return false;
	}
}

/* The run-time loader measures itself. */
static bool is_of_loader(const struct feed *f, const struct lz_event *ev)
{
	const struct lz_module *mod = lz_modules_at(f->in->a[f->side]->modules, ev->ip, ev->index);

	return mod && mod->interpreter;
}

/* How often futex is called depends on the order of threads alone. */
static bool is_left_out(const struct feed *f, const struct lz_event *ev)
{
	switch (ev->kind) {
	case LZ_EV_SYSCALL: return ev->nr == SYS_futex || ev->nr == SYS_sched_yield;
	case LZ_EV_SIGNAL:
	case LZ_EV_SHARED: return false;
	case LZ_EV_INSN: return ev->insn == LZ_INSN_XSAVEC || is_of_loader(f, ev);
	default: return true;
	}
}

static uint64_t sum_bytes(uint64_t sum, const uint8_t *p, uint64_t n)
{
	for (; n >= 8; p += 8, n -= 8) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		sum = lz_mix(sum, word);
	}
	for (; n; p++, n--)
		sum = lz_mix(sum, *p);
	return sum;
}

static uint64_t sum_writes(uint64_t sum, const struct lz_event *ev)
{
	for (uint32_t i = 0; i < ev->n_writes; i++)
		sum = sum_bytes(lz_mix(sum, ev->writes[i].len), ev->writes[i].bytes,
		                ev->writes[i].len);
	return sum;
}

/* A number that the kernel gives to the thread or process that the call has made or waited for. */
static bool gives_number(const struct lz_event *ev)
{
	const struct lz_syscall *row = lz_syscall(ev->nr);

	return (row && row->klass == LZ_SC_FORK) || ev->nr == SYS_set_tid_address ||
	       ev->nr == SYS_wait4;
}

static uint64_t sum_call(const struct lz_event *ev)
{
	const struct lz_syscall *row = lz_syscall(ev->nr);
	const bool failed = ev->result < 0 && ev->result > -4096;

	if (failed)
		return lz_mix(1, (uint64_t)ev->result);
	if (is_own(ev))
		return 0;
	const uint64_t sum = gives_number(ev) ? ev->result > 0 : lz_mix(0, (uint64_t)ev->result);
	return row && row->klass == LZ_SC_FORK ? sum : sum_writes(sum, ev);
}

static struct item item_of(const struct lz_event *ev)
{
	struct item one = {.index = ev->index, .what = (uint64_t)ev->kind << 32};

	switch (ev->kind) {
	case LZ_EV_SYSCALL:
		one.what |= ev->nr & UINT32_MAX;
		one.sum = sum_call(ev);
		break;
	case LZ_EV_SIGNAL: one.what |= ev->signo; break;
	case LZ_EV_INSN:
		one.what |= ev->insn;
		one.sum =
		    lz_mix(lz_mix(ev->regs.rax, ev->regs.rdx), lz_mix(ev->regs.rbx, ev->regs.rcx));
		break;
	default: one.sum = sum_writes(0, ev);
	}
	return one;
}

/* ---- all of a thread ---- */

static bool is_thread(const struct feed *f, const struct lz_event *ev)
{
	const struct lz_asked *a = f->in->a[f->side];

	return ev->tid == lz_asked_tid(a, f->thread) &&
	       lz_stream_thread_at(&a->threads, ev->index) == f->thread;
}

static int fill(struct feed *f)
{
	struct lz_reader *r = f->in->a[f->side]->reader;
	const uint64_t n = lz_reader_n_events(r);

	if (f->first >= AHEAD) {
		memmove(f->v, f->v + f->first, f->n * sizeof(*f->v));
		f->first = 0;
	}
	while (f->n < AHEAD && !f->end) {
		const struct lz_event *ev = f->next < n ? lz_reader_event(r, f->next) : NULL;

		if (!ev && f->next < n)
			return -1;
		f->end = !ev || ev->marker > f->in->to[f->side];
		if (!f->end && !is_left_out(f, ev) && is_thread(f, ev))
			f->v[f->first + f->n++] = item_of(ev);
		f->next++;
		if (lz_work_done(f->in->work, 1) < 0)
			return -1;
	}
	return 0;
}

static void drop(struct feed *f, size_t n)
{
	f->first += n;
	f->n -= n;
}

static const struct item *item(const struct feed *f, size_t i)
{
	return &f->v[f->first + i];
}

/* ---- two threads ---- */

static bool is_pair(const struct feed f[2], size_t i, size_t k)
{
	for (size_t n = 0; n < ENOUGH; n++) {
		if (i + n >= f[0].n || k + n >= f[1].n)
			return n > 0;
		if (item(&f[0], i + n)->what != item(&f[1], k + n)->what)
			return false;
	}
	return true;
}

/* How many of each have no pair before the nearest one. False: there is none. */
static bool find_pair(const struct feed f[2], size_t skip[2])
{
	for (size_t sum = 0; sum < f[0].n + f[1].n; sum++)
		for (size_t i = 0; i <= sum && i < f[0].n; i++)
			if (sum - i < f[1].n && is_pair(f, i, sum - i)) {
				skip[0] = i;
				skip[1] = sum - i;
				return true;
			}
	skip[0] = f[0].n;
	skip[1] = f[1].n;
	return false;
}

static int tell(const struct lz_inputs *in, const struct item *first, const struct item *second)
{
	const struct lz_event *ev[2] = {NULL, NULL};

	if (first && !(ev[0] = lz_reader_event(in->a[0]->reader, first->index)))
		return -1;
	if (second && !(ev[1] = lz_reader_event(in->a[1]->reader, second->index)))
		return -1;
	return in->fn(in->arg, ev[0], ev[1]);
}

static int tell_unpaired(const struct lz_inputs *in, const struct feed f[2], const size_t skip[2])
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < skip[0]; i++)
		rc = tell(in, item(&f[0], i), NULL);
	for (size_t i = 0; rc == 0 && i < skip[1]; i++)
		rc = tell(in, NULL, item(&f[1], i));
	return rc;
}

static int compare_next(const struct lz_inputs *in, struct feed f[2])
{
	size_t skip[2];

	/* the last ones may be behind what they are asked for */
	const bool last = !find_pair(f, skip) && (f[0].end || f[1].end);
	int rc = last ? 0 : tell_unpaired(in, f, skip);
	drop(&f[0], skip[0]);
	drop(&f[1], skip[1]);
	if (rc || !f[0].n || !f[1].n)
		return rc;
	if (item(&f[0], 0)->sum != item(&f[1], 0)->sum)
		rc = tell(in, item(&f[0], 0), item(&f[1], 0));
	drop(&f[0], 1);
	drop(&f[1], 1);
	return rc;
}

int lz_inputs_compare(const struct lz_inputs *in, const struct lz_paired_thread *thread)
{
	struct feed *f = calloc(2, sizeof(*f));
	int rc = f ? 0 : lz_fail("out of memory for events");

	for (int i = 0; rc == 0 && i < 2; i++) {
		f[i].in = in;
		f[i].side = i;
		f[i].thread = thread->thread[i];
		f[i].next = in->from[i]
		                ? lz_reader_event_after_marker(in->a[i]->reader, in->from[i])
		                : lz_reader_first_event(in->a[i]->reader);
	}
	while (rc == 0) {
		rc = fill(&f[0]) < 0 || fill(&f[1]) < 0 ? -1 : 0;
		if (rc < 0 || !f[0].n || !f[1].n)
			break;
		rc = compare_next(in, f);
	}
	free(f);
	return rc;
}
