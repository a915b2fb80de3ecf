/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hello call of the program's runtime: from here on it has a ring of marker buffers. */
#include "tracer/calls/calls.h"
#include "tracer/code/code.h"
#include "tracer/log/gather.h"
#include "tracer/log/log.h"
#include "tracer/state/process.h"

#include <inttypes.h>
#include <lizard/error.h>
#include <sys/mman.h>

static int add_area(struct lz_tracer *t, uint64_t start, uint64_t end, uint32_t prot)
{
	struct lz_area a = {.v = {.start = start,
	                          .end = end,
	                          .prot = prot,
	                          .flags = MAP_PRIVATE,
	                          .file = LZ_NO_FILE,
	                          .role = LZ_VMA_BUFFER}};

	return lz_vmas_add(&t->vmas, &a);
}

/* The event shows what replay has to map: private memory, filled from the stream. */
static int log_ring(struct lz_tracer *t, uint64_t ring)
{
	const uint32_t rw = PROT_READ | PROT_WRITE, fl = MAP_PRIVATE | MAP_ANONYMOUS;
	struct lz_map_op map = {LZ_MAP, ring, LZ_RING_LEN, rw, fl, LZ_NO_FILE, 0, 0, 0};
	uint64_t from = ring;

	if (lz_build_op(t, &map) < 0)
		return -1;
	for (uint64_t base = ring; base < ring + LZ_RING_SIZE; base += LZ_BUFFER_SIZE) {
		uint64_t guard = base + LZ_BUFFER_GUARD, top = base + LZ_BUFFER_SIZE;
		struct lz_map_op none = {LZ_PROTECT, guard, LZ_PAGE, PROT_NONE, fl,
		                         LZ_NO_FILE, 0,     0,       0};

		if (lz_build_op(t, &none) < 0 || add_area(t, from, guard, rw) < 0 ||
		    add_area(t, guard, top, PROT_NONE) < 0)
			return -1;
		from = top;
	}
	return add_area(t, from, ring + LZ_RING_LEN, rw);
}

/* Maps the ring, with its guards, into the program and logs it. */
static int make_ring(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;
	cpu_set_t cpus;

	s->base = LZ_STUB_ADDR + LZ_RING_SIZE;
	s->ring = lz_share(t, LZ_RING_LEN, &s->base, LZ_RING_SIZE, 0);
	if (!s->ring)
		return -1;
	s->parsed = s->pushed = s->fence_len = 0;
	for (uint32_t at = LZ_BUFFER_GUARD; at < LZ_RING_SIZE; at += LZ_BUFFER_SIZE)
		if (lz_stream_protect(t, at, LZ_PAGE, PROT_NONE) < 0)
			return -1;
	lz_other_cpus(t, &cpus);
	s->gather = lz_gather_start(t->w, t->tid, s->ring, &cpus);
	if (!s->gather)
		return -1;
	s->mem = s->ring;
	return log_ring(t, s->base);
}

int lz_call_hello(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;
	const uint64_t *args = t->cur->call.args;
	uint64_t version = lz_hello_version(t->cur->call.nr, args);
	uint32_t one = 1;

	/* another copy of the runtime, and what is bound to it */
	if (s->mem)
		return lz_wide_join_all(t);
	if (version > LZ_HELLO_VERSION) {
		lz_warn("the program's markers have version %" PRIu64
		        ", this lizard knows %d: only system calls are recorded",
		        version, LZ_HELLO_VERSION);
		return 0;
	}
	s->sink = args[1];
	s->pos_addr = args[2];
	s->pos_off = args[3];
	s->traced_addr = args[4];
	s->checking = args[5] & LZ_HELLO_CHECKING;
	if (make_ring(t) < 0)
		return -1;
	if (lz_proc_write(&t->p, s->pos_addr, &s->base, 8) < 0 ||
	    lz_build_write(t, s->pos_addr, &s->base, 8) < 0)
		return lz_fail_in("hello call");
	if (s->traced_addr && (lz_proc_write(&t->p, s->traced_addr, &one, sizeof(one)) < 0 ||
	                       lz_build_write(t, s->traced_addr, &one, sizeof(one)) < 0))
		return lz_fail_in("hello call");
	if (lz_wide_hello(t) < 0)
		return -1;
	t->meta.instrumented = 1;
	return 1;
}
