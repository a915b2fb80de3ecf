/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mmap family: what was done, in terms that replay can redo and undo. Lizard, "Replaying
 * programs that use mmap and munmap". */
#include "tracer/calls/calls.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/state/pair.h"

#include <lizard/error.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const struct lz_call *call_of(const struct lz_tracer *t)
{
	return &t->cur->call;
}

/* What the program's descriptor FD is of; NULL: nothing. A library has four mappings in the log. */
static const struct stat *file_at(struct lz_tracer *t, int fd)
{
	struct lz_mapped_fd *m = &t->fast.mapped_fd;
	char link[64];

	if (m->known && m->fd == fd)
		return &m->st;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	m->fd = fd;
	m->known = stat(link, &m->st) == 0;
	return m->known ? &m->st : NULL;
}

/* The file behind the program's descriptor FD becomes what A is a mapping of, if it can be
 * copied. */
static int file_of_fd(struct lz_tracer *t, int fd, struct lz_area *a, uint64_t offset)
{
	const struct stat *st = file_at(t, fd);
	char link[64], path[4096];
	int known = st ? lz_map_known(t, a, st, offset) : 0;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	if (known)
		return known < 0 ? -1 : 0;
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = 0;
	int own = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (own < 0)
		return 0;
	int ret = lz_map_file(t, a, own, path, offset);
	close(own);
	return ret;
}

/* What is mapped of /dev/zero is memory without a file to the kernel, too. */
static bool is_zeroes(struct lz_tracer *t, int fd)
{
	const struct stat *st = file_at(t, fd);

	return st && S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 5);
}

int lz_map_removed(struct lz_tracer *t, uint64_t start, uint64_t end)
{
	size_t first, last;

	if (lz_vmas_slice(&t->vmas, start, end, &first, &last) < 0)
		return -1;
	for (size_t i = first; i < last; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		struct lz_map_op op = {.op = LZ_UNMAP,
		                       .addr = v->start,
		                       .len = v->end - v->start,
		                       .prot = v->prot,
		                       .flags = v->flags,
		                       .file = v->file,
		                       .offset = v->offset};
		if (lz_build_op(t, &op) < 0)
			return -1;
	}
	for (size_t i = first; i < last; i++) {
		uint32_t number = lz_flags_object(t->vmas.a[i].v.flags);
		if (number && lz_alias_recheck(t, number) < 0)
			return -1;
	}
	if (lz_vmas_remove(&t->vmas, start, end) < 0)
		return -1;
	lz_armed_moved(t, start, end, 0);
	return first < last ? lz_pages_changed(t, start, end) : 0;
}

static int arm_code(struct lz_tracer *t, const struct lz_vma *v)
{
	return lz_cpuid_mapped(t, v, true) < 0 ? -1 : lz_random_mapped(t, v, true);
}

static int did_mmap(struct lz_tracer *t, uint64_t addr)
{
	const uint64_t *a = call_of(t)->args;
	t->fast.mapped_fd.known &= t->fast.late.on;
	uint32_t flags = (uint32_t)a[3];
	bool anon = flags & MAP_ANONYMOUS || is_zeroes(t, (int)a[4]);
	bool shared = flags & MAP_SHARED && !call_of(t)->made_private;
	uint32_t kept = (shared ? MAP_SHARED : MAP_PRIVATE) | (flags & MAP_GROWSDOWN);
	struct lz_area area = {.v = {.start = addr,
	                             .end = addr + lz_page_up(a[1]),
	                             .prot = (uint32_t)a[2] & 7,
	                             .flags = kept,
	                             .file = LZ_NO_FILE,
	                             .role = LZ_VMA_PLAIN}};

	const int small = call_of(t)->made_private ? 0 : lz_small_mapped(t, addr);
	if (small)
		return small < 0 ? -1 : 0;
	area.read_only = call_of(t)->made_private;
	if (!anon && file_of_fd(t, (int)a[4], &area, a[5]) < 0)
		return -1;
	if (lz_map_removed(t, addr, area.v.end) < 0 || lz_map_op(t, &area) < 0)
		return -1;
	if (!anon && area.v.file == LZ_NO_FILE) /* a device, or a file that we cannot copy */
		return lz_build_read(t, addr, area.v.end - addr);
	if (arm_code(t, &area.v) < 0 || (!anon && lz_wide_mapped(t, &area) < 0))
		return -1;
	return lz_shared_mapped(t, &area);
}

uint64_t lz_heap_start(const struct lz_tracer *t)
{
	size_t i = lz_vmas_from(&t->vmas, lz_page_up(t->brk));
	uint64_t start = t->brk;

	for (uint64_t end = lz_page_up(t->brk); i-- > 0; end = start) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		if (v->role != LZ_VMA_HEAP || v->end != end)
			break;
		start = v->start;
	}
	return start;
}

static int did_brk(struct lz_tracer *t, uint64_t now)
{
	uint64_t old_end = lz_page_up(t->brk), end = lz_page_up(now);
	struct lz_area heap = {.v = {.start = old_end,
	                             .end = end,
	                             .prot = PROT_READ | PROT_WRITE,
	                             .flags = MAP_PRIVATE,
	                             .file = LZ_NO_FILE,
	                             .role = LZ_VMA_HEAP}};

	t->brk = now;
	if (end < old_end)
		return lz_map_removed(t, end, old_end);
	return end > old_end ? lz_map_op(t, &heap) : 0;
}

/* What was not is about to be; and what was, while it could be written as well. */
static int made_executable(struct lz_tracer *t, uint64_t start, uint64_t end)
{
	for (size_t i = lz_vmas_from(&t->vmas, start); i < t->vmas.n; i++) {
		struct lz_area a = t->vmas.a[i];
		struct lz_vma *v = &a.v;

		if (v->start >= end)
			break;
		if ((v->prot & (PROT_EXEC | PROT_WRITE)) == PROT_EXEC)
			continue;
		if (!(v->prot & PROT_EXEC))
			lz_pair_told(t);
		if (v->start < start)
			v->start = start;
		if (v->end > end)
			v->end = end;
		v->prot |= PROT_EXEC;
		if (lz_wide_mapped(t, &a) < 0)
			return -1;
	}
	return 0;
}

int lz_map_protected(struct lz_tracer *t, uint64_t start, uint64_t end, uint32_t prot)
{
	struct lz_map_op op = {
	    .op = LZ_PROTECT, .addr = start, .len = end - start, .prot = prot, .file = LZ_NO_FILE};

	if (start >= end)
		return 0;
	if (prot & PROT_WRITE)
		lz_detours_moved(t, start, end, start);
	if (lz_build_op(t, &op) < 0 || (prot & PROT_EXEC && made_executable(t, start, end) < 0) ||
	    lz_vmas_protect(&t->vmas, start, end, prot) < 0)
		return -1;
	/* what binds a library becomes read-only before its code runs */
	ptrdiff_t i = lz_vmas_find(&t->vmas, start);
	if (!(prot & PROT_WRITE))
		return i < 0 ? 0 : lz_wide_join(t, t->vmas.a[i].v.file, start, end);
	return lz_pages_changed(t, start, end) < 0 ? -1 : lz_alias_writable(t, start, end);
}

struct range {
	struct lz_tracer *t;
	uint64_t start, end;
};

/* Where the kernel's protection is another one than ours. */
static int protected_here(void *arg, const struct lz_maps_entry *e)
{
	const struct range *r = arg;
	uint64_t start = e->start > r->start ? e->start : r->start;
	uint64_t end = e->end < r->end ? e->end : r->end;

	for (size_t i = lz_vmas_from(&r->t->vmas, start); i < r->t->vmas.n; i++) {
		const struct lz_vma *v = &r->t->vmas.a[i].v;
		uint64_t from = v->start > start ? v->start : start;
		uint64_t to = v->end < end ? v->end : end;
		if (v->start >= end)
			break;
		if (v->prot != e->prot && v->role != LZ_VMA_BUFFER) {
			if (lz_map_protected(r->t, from, to, e->prot) < 0)
				return -1;
			i = lz_vmas_from(&r->t->vmas, to) - 1;
		}
	}
	return 0;
}

/* A call that fails on its way has done its work up to there; PROT_GROWSDOWN reaches further
 * than asked for. */
static int did_protect_some(struct lz_tracer *t, uint64_t start, uint64_t end)
{
	ptrdiff_t i = lz_vmas_find(&t->vmas, start);
	struct range r = {t, i < 0 ? start : t->vmas.a[i].v.start, end};

	return lz_proc_maps(t->p.pid, protected_here, &r) < 0 ? -1 : 0;
}

static int did_protect(struct lz_tracer *t, bool failed)
{
	const uint64_t *a = call_of(t)->args;
	uint64_t start = a[0], end = start + lz_page_up(a[1]);

	if (failed || a[2] & (PROT_GROWSDOWN | PROT_GROWSUP))
		return did_protect_some(t, start, end);
	return lz_map_protected(t, start, end, (uint32_t)a[2] & 7);
}

/* One of our areas, or the part of it that was moved, is now LEN bytes at ADDR. */
static int moved_to(struct lz_tracer *t, const struct lz_area *from, uint64_t old, uint64_t old_len,
                    uint64_t addr, uint64_t len)
{
	struct lz_area a = *from;

	if (lz_vma_has_offset(&a.v))
		a.v.offset += old - a.v.start;
	a.object_at += old - a.v.start;
	a.v.start = addr;
	a.v.end = addr + len;
	a.armed = false;
	lz_armed_moved(t, old, old + old_len, addr);
	struct lz_map_op op = {.op = LZ_REMAP,
	                       .addr = addr,
	                       .len = len,
	                       .prot = a.v.prot,
	                       .flags = a.v.flags,
	                       .file = a.v.file,
	                       .offset = a.v.offset,
	                       .old_addr = old,
	                       .old_len = old_len};
	if (lz_build_op(t, &op) < 0 || lz_vmas_remove(&t->vmas, old, old + old_len) < 0 ||
	    lz_vmas_add(&t->vmas, &a) < 0 || lz_pages_changed(t, old, old + old_len) < 0)
		return -1;
	return lz_pages_changed(t, addr, addr + len);
}

/* Where a file's mapping becomes longer, more of the file is mapped: not of its copy as it once
 * was. */
static int moved(struct lz_tracer *t, const struct lz_area *from, uint64_t old, uint64_t old_len,
                 uint64_t addr, uint64_t len)
{
	struct lz_area more = *from;
	bool is_file = from->object && !lz_is_segment(t, from->object);

	if ((!is_file && !(from->v.flags & MAP_SHARED)) || len <= old_len)
		return moved_to(t, from, old, old_len, addr, len);
	if (addr != old && moved_to(t, from, old, old_len, addr, old_len) < 0)
		return -1;
	if (lz_vma_has_offset(&more.v))
		more.v.offset += old - from->v.start + old_len;
	more.object_at += old - from->v.start + old_len;
	more.v.start = addr + old_len;
	more.v.end = addr + len;
	more.armed = more.small = false;
	if (!is_file)
		return lz_shared_lengthened(t, &more);
	return lz_map_more(t, &more) < 0 ? -1 : lz_shared_grown(t, &more);
}

/* Of a shared mapping: LEN bytes from OLD on are now at ADDR as well. */
static int mapped_again(struct lz_tracer *t, uint64_t old, uint64_t addr, uint64_t end)
{
	ptrdiff_t i = lz_vmas_find(&t->vmas, old);

	if (i < 0)
		return lz_fail("mremap of %#llx, where nothing is mapped", (unsigned long long)old);
	if (!t->vmas.a[i].object && lz_map_nameless(t, old) < 0)
		return -1;
	if (lz_map_removed(t, addr, end) < 0)
		return -1;
	struct lz_area a = t->vmas.a[lz_vmas_find(&t->vmas, old)];
	a.object_at += old - a.v.start;
	a.v.start = addr;
	a.v.end = end;
	a.armed = false;
	return lz_shared_again(t, &a);
}

/* What is one mapping to the kernel may be several of ours, and a newer kernel moves several at
 * once. */
static int did_remap(struct lz_tracer *t, uint64_t addr)
{
	const uint64_t *a = call_of(t)->args;
	uint64_t old = a[0], old_end = old + lz_page_up(a[1]), end = addr + lz_page_up(a[2]),
	         shift = addr - old;

	if (old == old_end)
		return mapped_again(t, old, addr, end);
	if (addr == old && end <= old_end)
		return lz_map_removed(t, end, old_end);
	if (end - addr < old_end - old) {
		if (lz_map_removed(t, old + (end - addr), old_end) < 0)
			return -1;
		old_end = old + (end - addr);
	}
	if (addr != old && lz_map_removed(t, addr, end) < 0)
		return -1;
	for (uint64_t at = old, next; at < old_end; at = next) {
		size_t i = lz_vmas_from(&t->vmas, at);
		if (i >= t->vmas.n || t->vmas.a[i].v.start >= old_end)
			break;
		struct lz_area from = t->vmas.a[i];
		at = from.v.start > at ? from.v.start : at;
		next = from.v.end < old_end ? from.v.end : old_end;
		uint64_t to_end = next == old_end ? end : next + shift;
		if (addr == old && to_end == next)
			continue;
		if (moved(t, &from, at, next - at, at + shift, to_end - (at + shift)) < 0)
			return -1;
	}
	return 0;
}

static int did_advise(struct lz_tracer *t, int64_t result)
{
	const uint64_t *a = call_of(t)->args;
	uint64_t start = a[0], end = start + lz_page_up(a[1]);
	enum { MADV_DONTNEED_LOCKED_ = 24 };

	if ((a[2] != MADV_DONTNEED && a[2] != MADV_DONTNEED_LOCKED_) || start % LZ_PAGE ||
	    start >= end)
		return 0;
	for (size_t i = lz_vmas_from(&t->vmas, start); i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		if (v->start >= end)
			break;
		if (v->flags & MAP_SHARED)
			continue;
		uint64_t from = v->start > start ? v->start : start;
		uint64_t to = v->end < end ? v->end : end;
		lz_armed_moved(t, from, to, 0);
		const struct lz_area part = lz_area_part(&t->vmas.a[i], from, to);
		if (lz_map_emptied(t, &part, from, to) < 0 ||
		    ((part.small || part.follows) && lz_shared_log(t, from, to) < 0) ||
		    (v->file != LZ_NO_FILE &&
		     lz_wide_mapped(t, &part) < 0)) /* else there are zeroes */
			return -1;
		/* Holes are skipped, with ENOMEM at the end; at anything else it stopped, we
		 * don't know where. */
		if (result < 0 && result != -ENOMEM && lz_build_read(t, from, to - from) < 0)
			return -1;
	}
	return lz_pages_changed(t, start, end);
}

/* ---- System V shared memory ---- */

static int attached_here(void *arg, const struct lz_maps_entry *e)
{
	struct lz_area *a = arg;

	if (e->start != a->v.start)
		return 0;
	a->v.end = e->end;
	a->v.prot = e->prot;
	return 1;
}

static int did_attach(struct lz_tracer *t, uint64_t addr)
{
	struct lz_area area = {
	    .v = {.start = addr, .flags = MAP_SHARED, .file = LZ_NO_FILE, .role = LZ_VMA_PLAIN}};

	if (lz_proc_maps(t->p.pid, attached_here, &area) < 0)
		return -1;
	if (!area.v.end)
		return lz_fail("shmat gave %#llx, where nothing is mapped",
		               (unsigned long long)addr);
	if (lz_map_segment(t, &area, (int)call_of(t)->args[0]) < 0 ||
	    lz_map_removed(t, addr, area.v.end) < 0 || lz_map_op(t, &area) < 0)
		return -1;
	return lz_shared_mapped(t, &area);
}

/* What is left of the segment that was attached at ADDR. */
static int did_detach(struct lz_tracer *t, uint64_t addr)
{
	uint32_t object = 0;

	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		if (!a->object || a->v.start - a->object_at != addr ||
		    (object && a->object != object) || !lz_is_segment(t, a->object))
			continue;
		object = a->object;
		if (lz_map_removed(t, a->v.start, a->v.end) < 0)
			return -1;
		i = (size_t)-1;
	}
	return 0;
}

static int did_call(struct lz_tracer *t, int64_t result)
{
	const struct lz_call *c = call_of(t);
	bool failed = result < 0 && result > -4096;

	switch (c->nr) {
	case SYS_brk: return did_brk(t, (uint64_t)result);
	case SYS_mprotect:
	case SYS_pkey_mprotect: return did_protect(t, failed);
	case SYS_madvise: return did_advise(t, result);
	}
	if (failed)
		return 0;
	switch (c->nr) {
	case SYS_mmap: return did_mmap(t, (uint64_t)result);
	case SYS_munmap: return lz_map_removed(t, c->args[0], c->args[0] + lz_page_up(c->args[1]));
	case SYS_mremap: return did_remap(t, (uint64_t)result);
	case SYS_shmat: return did_attach(t, (uint64_t)result);
	case SYS_shmdt: return did_detach(t, c->args[0]);
	}
	return lz_fail("system call %s is in class MAP but unknown here", c->row->name);
}

int lz_map_call(struct lz_tracer *t, int64_t result)
{
	t->map_id++;
	if (did_call(t, result) < 0)
		return -1;
	lz_objects_close(t);
	return 0;
}
