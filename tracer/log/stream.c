/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marker stream: the ring of buffers that the tracer and the program share, their guard
 * pages and the fence. calls/hello.c makes it. The program sees private memory. */
#include "tracer/log/gather.h"
#include "tracer/log/log.h"

#include <common/recording/markers.h>
#include <lizard/error.h>
#include <lizard/widen.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
	WORTH_ASKING = 4096 /* bytes that take longer to parse than to read __lizard_pos */
};

/* Parses on from the last known boundary; returns the stream's length. */
uint64_t lz_stream_offset(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;

	if (!s->mem)
		return s->start;
	s->parsed = lz_markers_end(s->mem, s->parsed, LZ_BUFFER_GUARD);
	return s->start + s->parsed;
}

/* Is it worth asking whether r15 is the pointer? */
static bool may_be_pointer(const struct lz_stream *s, uint64_t r15)
{
	const uint64_t at = r15 - s->base;

	return s->mem && at >= s->parsed + WORTH_ASKING && at <= LZ_BUFFER_GUARD;
}

int lz_stream_call(struct lz_tracer *t, const struct user_regs_struct *r)
{
	struct lz_stream *s = &t->s;
	uint32_t at = (uint32_t)(r->r15 - s->base);
	uint64_t pos;

	if (!may_be_pointer(s, r->r15) || s->mem[at] ||
	    lz_proc_read(&t->p, s->pos_addr, &pos, sizeof(pos)) < 0 || pos != r->r15)
		return 0;
	if (lz_self_check_markers(t, at) < 0)
		return -1;
	s->parsed = at;
	return 0;
}

int lz_stream_pointer(struct lz_tracer *t, const struct user_regs_struct *r)
{
	struct lz_stream *s = &t->s;
	uint32_t at = (uint32_t)(r->r15 - s->base);

	if (!may_be_pointer(s, r->r15))
		return 0;
	if (lz_self_check_boundary(t, at) < 0)
		return -1;
	s->parsed = at;
	return 0;
}

int lz_stream_push(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;

	if (s->parsed < LZ_BUFFER_GUARD)
		lz_stream_offset(t);
	if (!s->mem)
		return 0;
	if (lz_gather_all(s->gather) < 0)
		return -1;
	if (s->pushed == s->parsed)
		return 0;
	uint32_t from = s->pushed;
	s->pushed = s->parsed;
	return lz_writer_markers(t->w, t->tid, s->mem + from, s->parsed - from);
}

/* Where no CPU is idle, nothing is gained by handing on what is only summed: here it is still in
 * the cache. */
static int hand_on(struct lz_tracer *t, uint32_t from, uint32_t to)
{
	struct lz_gather *g = t->s.gather;

	lz_writer_crowded(t->w, t->crowded);
	return lz_writer_only_sums(t->w) ? lz_gather_sum(g, from, to) : lz_gather_lend(g, from, to);
}

/* The store that found the guard restarts at the base of the ring's next buffer. It is the first
 * one of its marker, since a marker is stored from its highest address down. __lizard_pos need
 * not be set: who has used the pointer puts it there before code that reads it can run. */
static int take(struct lz_tracer *t, struct user_regs_struct *r)
{
	struct lz_stream *s = &t->s;
	uint32_t end = (uint32_t)(r->r15 - s->base);

	/* The pointer says where the markers end: to parse them here as well would hold the
	 * program up for as long as it takes to write them. The thread that writes the recording
	 * does it. */
	if (end < s->parsed)
		return lz_fail("the marker stream is broken: markers end at offset %#x of the "
		               "buffer, the program's pointer is at %#x (at %#llx); is there code "
		               "that uses r15?",
		               s->parsed, end, r->rip);
	if (hand_on(t, s->pushed, end) < 0)
		return -1;
	s->start += end;
	s->parsed = s->pushed = 0;
	s->base = lz_ring_next(s->base);
	s->mem = s->ring + s->base % LZ_RING_SIZE;
	r->r15 = s->base;
	lz_instant_stamp(r);
	return lz_proc_set_regs(&t->p, r);
}

int lz_stream_protect(struct lz_tracer *t, uint32_t from, uint32_t len, int prot)
{
	int64_t ret;

	if (lz_proc_syscall(&t->p, &ret, SYS_mprotect, lz_ring_of(t->s.base) + from, len,
	                    (uint64_t)prot, 0, 0, 0) < 0)
		return -1;
	if (ret < 0)
		return lz_fail("mprotect of the marker buffer failed: %s", strerror((int)-ret));
	return 0;
}

/* Makes the next marker fault. Two pages, if it may cross into the next one. */
int lz_stream_fence(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;

	if (!s->mem || s->fence_len)
		return 0;
	lz_stream_offset(t);
	uint32_t page = s->parsed & ~(LZ_PAGE - 1);
	if (page >= LZ_BUFFER_GUARD)
		return 0;
	uint32_t end = (s->parsed + LZ_MARKER_MAX_SIZE + LZ_PAGE - 1) & ~(LZ_PAGE - 1);
	if (end > LZ_BUFFER_GUARD)
		end = LZ_BUFFER_GUARD;
	s->fence = (uint32_t)(s->base % LZ_RING_SIZE) + page;
	s->fence_len = end - page;
	return lz_stream_protect(t, s->fence, s->fence_len, PROT_NONE);
}

int lz_stream_unfence(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;
	uint32_t len = s->fence_len;

	if (!len)
		return 0;
	s->fence_len = 0;
	return lz_stream_protect(t, s->fence, len, PROT_READ | PROT_WRITE);
}

bool lz_stream_has(const struct lz_tracer *t, uint64_t addr)
{
	return t->s.mem && addr - lz_ring_of(t->s.base) < LZ_RING_SIZE;
}

int lz_stream_fault(struct lz_tracer *t, uint64_t addr, struct user_regs_struct *r)
{
	struct lz_stream *s = &t->s;

	if (!lz_stream_has(t, addr))
		return 0;
	uint64_t off = addr - s->base;
	if (off - LZ_BUFFER_GUARD < LZ_PAGE && r->r15 - s->base <= LZ_BUFFER_GUARD &&
	    addr - r->r15 < LZ_MARKER_MAX_SIZE)
		return take(t, r) < 0 ? -1 : 1;
	return s->fence_len && addr % LZ_RING_SIZE - s->fence < s->fence_len ? 2 : 0;
}

/* Between a marker's first store and its add both are near. */
static bool is_near_marker(const struct lz_tracer *t, uint64_t at)
{
	enum { BEFORE = LZ_SITE_LEN, BEHIND = 96 };
	uint8_t code[BEFORE + BEHIND] = {0};
	const size_t n = lz_proc_read_some(&t->p, at - BEFORE, code, sizeof(code));

	/* no function begins that near to the start of what is mapped */
	return lz_widen_next(code, n, 0) < n;
}

/* By the pointer and the bytes behind it. Behind a call r15 may still be what it was before it. */
static bool looks_inside(struct lz_tracer *t, const struct user_regs_struct *r)
{
	struct lz_stream *s = &t->s;

	if (!s->mem || r->r15 < s->base || r->r15 >= s->base + LZ_BUFFER_GUARD)
		return false;
	uint32_t at = (uint32_t)(r->r15 - s->base);
	lz_stream_offset(t);
	if (at < s->parsed)
		return s->parsed - at <= LZ_MARKER_MAX_SIZE;
	for (unsigned i = 1; at == s->parsed && i < LZ_MARKER_MAX_SIZE; i++)
		if (s->mem[at + i])
			return true;
	return false;
}

bool lz_stream_inside_marker(struct lz_tracer *t, const struct user_regs_struct *r)
{
	return looks_inside(t, r) && is_near_marker(t, r->rip);
}

bool lz_stream_deliverable(struct lz_tracer *t, uint64_t addr, const struct user_regs_struct *r)
{
	static const uint8_t movb[3] = {0x41, 0xc6, 0x07}; /* movb $id, (%r15) */
	uint8_t insn[4];

	return addr == r->r15 && lz_proc_read(&t->p, r->rip, insn, sizeof(insn)) == 0 &&
	       memcmp(insn, movb, sizeof(movb)) == 0 && lz_marker_size(insn[3]) == 1;
}

void lz_stream_forget(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;

	if (!s->mem)
		return;
	uint64_t length = lz_stream_offset(t);
	lz_gather_stop(s->gather);
	munmap(s->ring, LZ_RING_LEN);
	*s = (struct lz_stream){.start = length};
}
