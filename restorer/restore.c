/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds the address space of a checkpoint in the stub, call by injected call. */
#include "restorer/give.h"
#include "restorer/share.h"

#include <common/base/cleanup.h>
#include <lizard/restore.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WRITE_CHUNK = 1 << 20 };

static int call(struct lz_proc *p, const char *what, uint64_t addr, uint64_t want, uint64_t nr,
                const uint64_t a[6])
{
	int64_t result;

	if (lz_proc_syscall(p, &result, nr, a[0], a[1], a[2], a[3], a[4], a[5]) < 0)
		return -1;
	if ((uint64_t)result != want)
		return lz_fail("the replay process cannot %s at %#lx: %s", what,
		               (unsigned long)addr,
		               result < 0 ? strerror((int)-result) : "another address came back");
	return 0;
}

/* Opened here: the process itself cannot open anything. */
static int give_copy(struct lz_proc *p, struct lz_reader *r, uint32_t file, int64_t *to)
{
	lz_auto_free char *copy = lz_reader_copy(r, file);

	if (!copy)
		return -1;
	lz_auto_close int fd = open(copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd < 0 ? lz_fail_errno("the recording's copy %s", copy) : lz_give(p, fd, to);
}

static int map_range(struct lz_proc *p, struct lz_reader *r, uint64_t addr, uint64_t len,
                     uint32_t prot, uint32_t flags, uint32_t file, uint64_t offset)
{
	if (file == LZ_NO_FILE && lz_flags_object(flags))
		return lz_share_map(p, &(struct lz_share){.addr = addr,
		                                          .len = len,
		                                          .prot = prot & 7,
		                                          .object = lz_flags_object(flags),
		                                          .at = offset,
		                                          .own = !(flags & MAP_SHARED)});
	uint64_t f = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | (flags & MAP_GROWSDOWN);
	int64_t fd = -1, result;

	prot &= PROT_READ | PROT_WRITE | PROT_EXEC;
	if (file == LZ_NO_FILE)
		f |= MAP_ANONYMOUS;
	else if (give_copy(p, r, file, &fd) < 0)
		return -1;
	int ret = call(p, "map memory", addr, addr, SYS_mmap,
	               (uint64_t[]){addr, len, prot, f, (uint64_t)fd, fd < 0 ? 0 : offset});
	if (fd >= 0 && lz_proc_syscall(p, &result, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0) < 0)
		return -1;
	return ret;
}

static int remap(struct lz_proc *p, const struct lz_map_op *op)
{
	bool moved = op->addr != op->old_addr;
	uint64_t flags = moved ? MREMAP_MAYMOVE | MREMAP_FIXED : 0;

	/* MREMAP_DONTUNMAP: the old range stays, empty */
	if (op->flags & 4)
		flags |= 4;
	return call(p, "move memory", op->addr, op->addr, SYS_mremap,
	            (uint64_t[]){op->old_addr, op->old_len, op->len, flags, op->addr, 0});
}

static bool overlaps_stub(const struct lz_proc *p, uint64_t addr, uint64_t len)
{
	return addr < p->stub->end && addr + len > p->stub->start;
}

static bool bad_range(uint64_t addr, uint64_t len)
{
	return addr % LZ_PAGE || !len || len > 1ULL << 47 || addr > (1ULL << 47) - len;
}

static int do_op(struct lz_proc *p, struct lz_reader *r, const struct lz_map_op *op)
{
	uint64_t len = (op->len + LZ_PAGE - 1) & ~(uint64_t)(LZ_PAGE - 1);

	if (bad_range(op->addr, len) ||
	    (op->op == LZ_REMAP && bad_range(op->old_addr, op->old_len)))
		return lz_fail("the recording has a mapping operation with the range %#lx+%#lx",
		               (unsigned long)op->addr, (unsigned long)op->len);
	if (overlaps_stub(p, op->addr, len))
		return op->op == LZ_UNMAP || op->op == LZ_PROTECT
		           ? 0
		           : lz_fail("the program maps memory over the page of the replay stub");
	switch (op->op) {
	case LZ_MAP:
		return map_range(p, r, op->addr, len, op->prot, op->flags, op->file, op->offset);
	case LZ_UNMAP:
		return call(p, "unmap memory", op->addr, 0, SYS_munmap,
		            (uint64_t[]){op->addr, len, 0, 0, 0, 0});
	case LZ_PROTECT:
		return call(p, "protect memory", op->addr, 0, SYS_mprotect,
		            (uint64_t[]){op->addr, len, op->prot & 7, 0, 0, 0});
	case LZ_REMAP: return remap(p, op);
	case LZ_ZERO:
		return call(p, "empty memory", op->addr, 0, SYS_madvise,
		            (uint64_t[]){op->addr, len, MADV_DONTNEED, 0, 0, 0});
	default: return lz_fail("the recording has a mapping operation of unknown kind %u", op->op);
	}
}

int lz_restore_op(struct lz_proc *p, struct lz_reader *r, const struct lz_map_op *op)
{
	return do_op(p, r, op) < 0 ? -1 : lz_give_end(p);
}

/* Neighbouring pages are written with one call. */
struct page_run {
	struct lz_proc *p;
	const struct lz_checkpoint *ck;
	uint8_t *buf;
	uint64_t addr;
	size_t len;
};

static int flush_run(struct page_run *run)
{
	size_t len = run->len;

	run->len = 0;
	return len ? lz_proc_write(run->p, run->addr, run->buf, len) : 0;
}

static int add_page(void *arg, uint64_t addr, const uint8_t *page)
{
	struct page_run *run = arg;

	if (overlaps_stub(run->p, addr, LZ_PAGE) ||
	    (run->p->stub->shares && lz_share_shown_before(run->ck->vmas, run->ck->n_vmas, addr)))
		return 0;
	if ((run->len && addr != run->addr + run->len) || run->len + LZ_PAGE > WRITE_CHUNK)
		if (flush_run(run) < 0)
			return -1;
	if (!run->len)
		run->addr = addr;
	memcpy(run->buf + run->len, page, LZ_PAGE);
	run->len += LZ_PAGE;
	return 0;
}

static int write_pages(struct lz_proc *p, const struct lz_image *im, const struct lz_checkpoint *ck)
{
	struct page_run run = {.p = p, .ck = ck, .buf = malloc(WRITE_CHUNK)};

	if (!run.buf)
		return lz_fail("out of memory");
	int ret = lz_image_each(im, add_page, &run);
	if (!ret)
		ret = flush_run(&run);
	free(run.buf);
	return ret ? lz_fail_in("contents of the checkpoint") : 0;
}

/* The buffer's contents are the stream's, where that is stored: nobody reads what was written
 * before. Its last page stays inaccessible. */
static int fill_buffer(struct lz_proc *p, struct lz_reader *r, const struct lz_thread_state *t)
{
	if (!t->buffer)
		return 0;
	if (t->buffer % LZ_BUFFER_SIZE || t->marker < t->buffer_start ||
	    t->marker - t->buffer_start > LZ_BUFFER_GUARD)
		return lz_fail("the checkpoint's marker buffer is not valid");
	size_t len = (size_t)(t->marker - t->buffer_start);
	if (t->marker > lz_reader_markers_len(r, lz_reader_meta(r)->tid))
		return lz_fail("the marker stream ends before the checkpoint");
	uint8_t *buf = malloc(LZ_BUFFER_GUARD);
	if (!buf)
		return lz_fail("out of memory");
	int64_t n = lz_reader_markers_kept(r, lz_reader_meta(r)->tid, t->buffer_start, buf, len);
	int ret = n < 0 || (n && lz_proc_write(p, t->buffer, buf, (size_t)n) < 0) ? -1 : 0;
	free(buf);
	if (ret < 0)
		return -1;
	if (call(p, "protect memory", t->buffer, 0, SYS_mprotect,
	         (uint64_t[]){t->buffer, LZ_BUFFER_GUARD, PROT_READ | PROT_WRITE, 0, 0, 0}) < 0)
		return -1;
	return call(p, "protect memory", t->buffer, 0, SYS_mprotect,
	            (uint64_t[]){t->buffer + LZ_BUFFER_GUARD, LZ_PAGE, PROT_NONE, 0, 0, 0});
}

static int restore_maps(struct lz_proc *p, struct lz_reader *r, const struct lz_checkpoint *ck)
{
	for (uint32_t i = 0; i < ck->n_vmas; i++) {
		const struct lz_vma *v = &ck->vmas[i];

		if (v->start >> 47) /* vsyscall: everywhere the same, not to be mapped */
			continue;
		if (v->start >= v->end || bad_range(v->start, v->end - v->start))
			return lz_fail("checkpoint %u has a mapping %#lx-%#lx", ck->index,
			               (unsigned long)v->start, (unsigned long)v->end);
		if (overlaps_stub(p, v->start, v->end - v->start))
			continue;
		uint32_t flags = v->flags | (v->role == LZ_VMA_STACK ? MAP_GROWSDOWN : 0);
		if (map_range(p, r, v->start, v->end - v->start, v->prot, flags, v->file,
		              v->offset) < 0)
			return -1;
	}
	return 0;
}

int lz_restore(struct lz_proc *p, struct lz_reader *r, const struct lz_image *im,
               const struct lz_checkpoint *ck)
{
	if (!ck->n_threads)
		return lz_fail("checkpoint %u has no thread", ck->index);
	const struct lz_thread_state *t = &ck->threads[0];
	struct user_regs_struct regs = t->regs;
	regs.orig_rax = (uint64_t)-1;
	lz_stub_limit_stack(p, ck->stack_limit);
	if (restore_maps(p, r, ck) < 0 || lz_give_end(p) < 0 || write_pages(p, im, ck) < 0 ||
	    fill_buffer(p, r, t) < 0)
		return lz_fail_in("checkpoint %u", ck->index);
	if (t->xstate_len && lz_proc_set_xstate(p, t->xstate, t->xstate_len) < 0)
		return lz_fail_in("this machine's vector registers differ from the recording's");
	return lz_proc_set_regs(p, &regs);
}
