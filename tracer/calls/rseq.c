/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Restartable sequences: rseq(2). The kernel does not know of the program's registration, since it
 * would store into it at instants that nobody knows. The program is told one CPU for as long as it
 * does not ask for another one, and is never interrupted in a sequence. */
#include "tracer/calls/rseq.h"
#include "tracer/log/log.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Of linux/rseq.h, which is older in Debian 12. */
enum { UNREGISTER = 1, ORIG_SIZE = 32, ALIGNMENT = 32, UNINITIALIZED = -1 };
/* TASK_SIZE_MAX */
#define USER_END 0x7ffffffff000ULL

struct area {
	uint32_t cpu_id_start, cpu_id;
	uint64_t cs;
	uint32_t flags, node_id, mm_cid;
};
#define FEATURES_END (offsetof(struct area, mm_cid) + sizeof(uint32_t))
_Static_assert(FEATURES_END == LZ_RSEQ_FEATURES, "what AT_RSEQ_FEATURE_SIZE tells");

struct sequence {
	uint32_t version, flags;
	uint64_t start_ip, post_commit_offset, abort_ip;
};

static int64_t check_old(const struct lz_rseq *q, const uint64_t *a)
{
	if (!q->at || a[0] != q->at || (uint32_t)a[1] != q->len)
		return -EINVAL;
	return (uint32_t)a[3] == q->sig ? 0 : -EPERM;
}

static int64_t check_new(const uint64_t *a)
{
	const uint32_t len = (uint32_t)a[1];

	if (len < ORIG_SIZE || a[0] % ALIGNMENT)
		return -EINVAL;
	return a[0] > USER_END - len ? -EFAULT : 0;
}

/* What it is told of its CPU; the event that is being built tells it. */
static int put(struct lz_tracer *t, const struct lz_rseq *q, const struct area *now, bool first)
{
	const struct {
		uint64_t at, len;
	} part[] = {
	    {offsetof(struct area, cpu_id_start), 8},
	    {offsetof(struct area, node_id), 8},
	    {offsetof(struct area, cs), 8},
	};

	for (int i = 0; i < (first ? 3 : 2); i++) {
		const uint64_t at = q->at + part[i].at;
		const uint8_t *from = (const uint8_t *)now + part[i].at;

		if (lz_proc_write(&t->p, at, from, part[i].len) < 0)
			return 1;
		if (lz_build_write(t, at, from, part[i].len) < 0)
			return -1;
	}
	return 0;
}

static struct area told(const struct lz_tracer *t)
{
	const struct lz_borrowed *b = &t->borrowed;

	/* One thread runs at a time: they share the first of the process's concurrency ids. */
	return (struct area){
	    .cpu_id_start = b->told_cpu, .cpu_id = b->told_cpu, .node_id = b->told_node};
}

int64_t lz_rseq_answer(const struct lz_tracer *t)
{
	const struct lz_rseq *q = &t->cur->rseq;
	const uint64_t *a = t->cur->call.args;
	const int flags = (int)a[2];
	int64_t error;

	if (flags & ~UNREGISTER)
		return -EINVAL;
	if (flags == UNREGISTER || q->at)
		error = check_old(q, a);
	else
		error = check_new(a);
	if (error)
		return error;
	if (flags != UNREGISTER && q->at)
		return -EBUSY;
	return lz_vmas_writable(&t->vmas, a[0], FEATURES_END) ? 0 : -EFAULT;
}

int lz_rseq_done(struct lz_tracer *t)
{
	struct lz_rseq *q = &t->cur->rseq;
	const uint64_t *a = t->cur->call.args;
	const struct area none = {.cpu_id = (uint32_t)UNINITIALIZED}, now = told(t);
	const bool registers = !q->at;

	if (registers)
		*q = (struct lz_rseq){a[0], (uint32_t)a[1], (uint32_t)a[3]};
	if (put(t, q, registers ? &now : &none, registers) < 0)
		return -1;
	if (!registers)
		*q = (struct lz_rseq){0};
	return 0;
}

int lz_rseq_moved(struct lz_tracer *t)
{
	const struct area now = told(t);

	for (size_t i = 0; i < t->n_threads; i++)
		if (t->thread[i]->rseq.at && put(t, &t->thread[i]->rseq, &now, false) < 0)
			return -1;
	return 0;
}

int lz_rseq_release(const struct lz_rseq *q, struct lz_proc *c)
{
	int64_t ret;

	if (!q->at)
		return 0;
	return lz_proc_syscall(c, &ret, SYS_rseq, q->at, q->len, 0, q->sig, 0, 0);
}

static bool in_sequence(const struct lz_tracer *t, uint64_t ip, struct sequence *s)
{
	const struct lz_rseq *q = &t->cur->rseq;
	uint64_t at;

	return q->at && lz_proc_read_some(&t->p, q->at + offsetof(struct area, cs), &at, 8) == 8 &&
	       at && lz_proc_read_some(&t->p, at, s, sizeof(*s)) == sizeof(*s) &&
	       ip - s->start_ip < s->post_commit_offset;
}

bool lz_rseq_inside(const struct lz_tracer *t, uint64_t ip)
{
	struct sequence s;

	return in_sequence(t, ip, &s);
}

int lz_rseq_abort(struct lz_tracer *t, uint64_t ip)
{
	const uint64_t at = t->cur->rseq.at + offsetof(struct area, cs), none = 0;
	struct user_regs_struct r;
	struct sequence s;

	if (!in_sequence(t, ip, &s))
		return 0;
	if (lz_proc_regs(&t->p, &r) < 0)
		return -1;
	r.rip = s.abort_ip;
	if (lz_proc_write(&t->p, at, &none, sizeof(none)) < 0 ||
	    lz_build_write(t, at, &none, sizeof(none)) < 0)
		return -1;
	return lz_proc_set_regs(&t->p, &r);
}
