/* The marker stream: the ring of buffers that the tracer and the program share, their guard pages and the
 * fence. The program sees private memory; see docs/design/recording.md. */
#include "tracer/log/gather.h"
#include "tracer/state/tracer.h"

#include <common/markers.h>
#include <lizard/error.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	LEN = LZ_RING_SIZE + LZ_SINK_PAD,
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

int lz_stream_call(struct lz_tracer *t, const struct user_regs_struct *r)
{
	struct lz_stream *s = &t->s;
	uint64_t at = r->r15 - s->base, pos;

	if (!s->mem || at < s->parsed + WORTH_ASKING || at > LZ_BUFFER_GUARD || s->mem[at] ||
	    lz_proc_read(&t->p, s->pos_addr, &pos, sizeof(pos)) < 0 || pos != r->r15)
		return 0;
	if (lz_self_check_markers(t, (uint32_t)at) < 0)
		return -1;
	s->parsed = (uint32_t)at;
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

/* The store that found the guard restarts at the base of the ring's next buffer. It is the first one of its marker,
 * since a marker is stored from its highest address down. __lizard_pos need not be set: who has used the pointer puts
 * it there before code that reads it can run. */
static int take(struct lz_tracer *t, struct user_regs_struct *r)
{
	struct lz_stream *s = &t->s;
	uint32_t end = (uint32_t)(r->r15 - s->base);

	/* The pointer says where the markers end: to parse them here as well would hold the program up for
	 * as long as it takes to write them. The thread that writes the recording does it. */
	if (end < s->parsed)
		return lz_fail("the marker stream is broken: markers end at offset %#x of the "
		               "buffer, the program's pointer is at %#x (at %#llx); is there code "
		               "that uses r15?",
		               s->parsed, end, r->rip);
	if (lz_gather_lend(s->gather, s->pushed, end) < 0)
		return -1;
	s->start += end;
	s->parsed = s->pushed = 0;
	s->base = lz_ring_next(s->base);
	s->mem = s->ring + s->base % LZ_RING_SIZE;
	r->r15 = s->base;
	lz_instant_stamp(r);
	return lz_proc_set_regs(&t->p, r);
}

/* FROM: offset in the ring. */
static int protect(struct lz_tracer *t, uint32_t from, uint32_t len, int prot)
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
	return protect(t, s->fence, s->fence_len, PROT_NONE);
}

int lz_stream_unfence(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;
	uint32_t len = s->fence_len;

	if (!len)
		return 0;
	s->fence_len = 0;
	return protect(t, s->fence, len, PROT_READ | PROT_WRITE);
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

bool lz_stream_inside_marker(struct lz_tracer *t, const struct user_regs_struct *r)
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

bool lz_stream_deliverable(struct lz_tracer *t, uint64_t addr, const struct user_regs_struct *r)
{
	static const uint8_t movb[3] = {0x41, 0xc6, 0x07}; /* movb $id, (%r15) */
	uint8_t insn[4];

	return addr == r->r15 && lz_proc_read(&t->p, r->rip, insn, sizeof(insn)) == 0 &&
	       memcmp(insn, movb, sizeof(movb)) == 0 && lz_marker_size(insn[3]) == 1;
}

/* Memory that both can write, without a descriptor left in the program. */
static int share(struct lz_tracer *t, uint64_t *addr)
{
	struct lz_proc *p = &t->p;
	struct user_regs_struct r;
	uint8_t saved[16];
	char path[64];
	int64_t fd, ret = -1;

	if (lz_proc_regs(p, &r) < 0)
		return -1;
	uint64_t scratch = (r.rsp - 512) & ~15ULL;
	if (lz_proc_read(p, scratch, saved, sizeof(saved)) < 0 ||
	    lz_proc_write(p, scratch, "lizard", 7) < 0 ||
	    lz_proc_syscall(p, &fd, SYS_memfd_create, scratch, 0, 0, 0, 0, 0) < 0 ||
	    lz_proc_write(p, scratch, saved, sizeof(saved)) < 0)
		return -1;
	if (fd < 0)
		return lz_fail("memfd_create in the program failed: %s", strerror((int)-fd));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)p->pid, (int)fd);
	int own = open(path, O_RDWR | O_CLOEXEC);
	if (own < 0)
		return lz_fail_errno("cannot open %s", path);
	if (ftruncate(own, LEN) == 0)
		t->s.ring = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
	close(own);
	if (!t->s.ring || t->s.ring == MAP_FAILED) {
		t->s.ring = NULL;
		return lz_fail_errno("cannot map the marker buffers");
	}
	for (int i = 1; i < 256 && ret < 0; i++) {
		*addr = LZ_STUB_ADDR + (uint64_t)i * LZ_RING_SIZE;
		if (lz_proc_syscall(p, &ret, SYS_mmap, *addr, LEN, PROT_READ | PROT_WRITE,
		                    MAP_SHARED | MAP_FIXED_NOREPLACE, (uint64_t)fd, 0) < 0)
			return -1;
	}
	int64_t closed;
	if (lz_proc_syscall(p, &closed, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0) < 0)
		return -1;
	if (ret < 0)
		return lz_fail("no room for the marker buffers in the program: %s",
		               strerror((int)-ret));
	return 0;
}

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
	struct lz_map_op map = {LZ_MAP, ring, LEN, rw, fl, LZ_NO_FILE, 0, 0, 0};
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
	return add_area(t, from, ring + LEN, rw);
}

/* Maps the ring, with its guards, into the program and logs it. */
static int make_ring(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;
	cpu_set_t cpus;

	if (share(t, &s->base) < 0)
		return -1;
	s->parsed = s->pushed = s->fence_len = 0;
	for (uint32_t at = LZ_BUFFER_GUARD; at < LZ_RING_SIZE; at += LZ_BUFFER_SIZE)
		if (protect(t, at, LZ_PAGE, PROT_NONE) < 0)
			return -1;
	lz_other_cpus(t, &cpus);
	s->gather = lz_gather_start(t->w, t->tid, s->ring, &cpus);
	if (!s->gather)
		return -1;
	s->mem = s->ring;
	return log_ring(t, s->base);
}

/* At the exit stop of the hello call, its event under construction. 1: welcome. */
int lz_stream_hello(struct lz_tracer *t)
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

void lz_stream_forget(struct lz_tracer *t)
{
	struct lz_stream *s = &t->s;

	if (!s->mem)
		return;
	uint64_t length = lz_stream_offset(t);
	lz_gather_stop(s->gather);
	munmap(s->ring, LEN);
	*s = (struct lz_stream){.start = length};
}
