/* The mmap family: what was done, in terms that replay can redo and undo. Lizard, "Replaying
 * programs that use mmap and munmap". */
#include "tracer/tracer.h"

#include <lizard/error.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t up(uint64_t x)
{
	return (x + LZ_PAGE - 1) & ~(uint64_t)(LZ_PAGE - 1);
}

int lz_file_index(struct lz_tracer *t, int fd, const char *path, uint32_t *index)
{
	struct stat st;

	*index = LZ_NO_FILE;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (lz_writer_file(t->w, path, fd, index) < 0)
		return -1;
	return lz_shared_file(t, *index, &st);
}

/* The file behind the program's descriptor FD; LZ_NO_FILE if it cannot be copied. */
static int file_of_fd(struct lz_tracer *t, int fd, uint32_t *index)
{
	char link[64], path[4096];

	*index = LZ_NO_FILE;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = 0;
	int own = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (own < 0)
		return 0;
	int ret = lz_file_index(t, own, path, index);
	close(own);
	return ret;
}

/* Logs and forgets what is mapped in [START, END). */
static int removed(struct lz_tracer *t, uint64_t start, uint64_t end)
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
	if (lz_vmas_remove(&t->vmas, start, end) < 0)
		return -1;
	return first < last ? lz_pages_changed(t, start, end) : 0;
}

static int added(struct lz_tracer *t, const struct lz_vma *v, uint32_t map_flags)
{
	struct lz_area area = {.v = *v};
	struct lz_map_op op = {.op = LZ_MAP,
	                       .addr = v->start,
	                       .len = v->end - v->start,
	                       .prot = v->prot,
	                       .flags = map_flags,
	                       .file = v->file,
	                       .offset = v->offset};

	if (lz_build_op(t, &op) < 0 || lz_vmas_add(&t->vmas, &area) < 0)
		return -1;
	return lz_pages_changed(t, v->start, v->end);
}

static int did_mmap(struct lz_tracer *t, uint64_t addr)
{
	const uint64_t *a = t->cur->call.args;
	uint32_t flags = (uint32_t)a[3], file = LZ_NO_FILE;
	uint64_t end = addr + up(a[1]);
	bool anon = flags & MAP_ANONYMOUS;

	t->n_shared += flags & MAP_SHARED;

	if (!anon && file_of_fd(t, (int)a[4], &file) < 0)
		return -1;
	uint32_t kept = (flags & MAP_SHARED ? MAP_SHARED : MAP_PRIVATE) | (flags & MAP_GROWSDOWN);
	struct lz_vma v = {.start = addr,
	                   .end = end,
	                   .prot = (uint32_t)a[2] & 7,
	                   .flags = kept,
	                   .file = file,
	                   .role = LZ_VMA_PLAIN,
	                   .offset = file == LZ_NO_FILE ? 0 : a[5]};
	if (removed(t, addr, end) < 0 ||
	    added(t, &v, kept | (file == LZ_NO_FILE ? MAP_ANONYMOUS : 0)) < 0)
		return -1;
	if (!anon && file == LZ_NO_FILE) /* a device, or a file that we cannot copy */
		return lz_build_read(t, addr, end - addr);
	return 0;
}

static int did_brk(struct lz_tracer *t, uint64_t now)
{
	uint64_t old_end = up(t->brk), end = up(now);
	struct lz_vma v = {.start = old_end,
	                   .end = end,
	                   .prot = PROT_READ | PROT_WRITE,
	                   .flags = MAP_PRIVATE,
	                   .file = LZ_NO_FILE,
	                   .role = LZ_VMA_HEAP};

	t->brk = now;
	if (end < old_end)
		return removed(t, end, old_end);
	return end > old_end ? added(t, &v, MAP_PRIVATE | MAP_ANONYMOUS) : 0;
}

static int did_protect(struct lz_tracer *t)
{
	uint64_t start = t->cur->call.args[0], len = up(t->cur->call.args[1]);
	uint32_t prot = (uint32_t)t->cur->call.args[2] & 7;
	struct lz_map_op op = {
	    .op = LZ_PROTECT, .addr = start, .len = len, .prot = prot, .file = LZ_NO_FILE};

	if (!len)
		return 0;
	if (lz_build_op(t, &op) < 0 || lz_vmas_protect(&t->vmas, start, start + len, prot) < 0)
		return -1;
	return prot & PROT_WRITE ? lz_pages_changed(t, start, start + len) : 0;
}

static int did_remap(struct lz_tracer *t, uint64_t addr)
{
	uint64_t old = t->cur->call.args[0], old_len = up(t->cur->call.args[1]),
	         len = up(t->cur->call.args[2]);

	if (addr == old && len <= old_len)
		return len < old_len ? removed(t, old + len, old + old_len) : 0;
	ptrdiff_t i = lz_vmas_find(&t->vmas, old);
	if (i < 0)
		return lz_fail("mremap of %#llx: no mapping known there", (unsigned long long)old);
	struct lz_area a = t->vmas.a[i];
	if (a.v.file != LZ_NO_FILE)
		a.v.offset += old - a.v.start;
	a.v.start = addr;
	a.v.end = addr + len;
	a.armed = false;
	if (addr != old && removed(t, addr, addr + len) < 0)
		return -1;
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

static int did_advise(struct lz_tracer *t)
{
	uint64_t start = t->cur->call.args[0], end = start + up(t->cur->call.args[1]);
	enum { MADV_DONTNEED_LOCKED_ = 24 };

	if (t->cur->call.args[2] != MADV_DONTNEED && t->cur->call.args[2] != MADV_DONTNEED_LOCKED_)
		return 0;
	for (size_t i = lz_vmas_from(&t->vmas, start); i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		if (v->start >= end)
			break;
		if (v->flags & MAP_SHARED)
			continue;
		uint64_t from = v->start > start ? v->start : start;
		uint64_t to = v->end < end ? v->end : end;
		struct lz_map_op op = {
		    .op = LZ_ZERO,
		    .addr = from,
		    .len = to - from,
		    .prot = v->prot,
		    .flags = v->flags,
		    .file = v->file,
		    .offset = v->file == LZ_NO_FILE ? 0 : v->offset + (from - v->start)};
		if (lz_build_op(t, &op) < 0)
			return -1;
	}
	return lz_pages_changed(t, start, end);
}

int lz_map_call(struct lz_tracer *t, int64_t result)
{
	uint64_t addr = (uint64_t)result;

	t->map_id++;
	if (t->cur->call.nr == SYS_brk)
		return did_brk(t, addr);
	if (result < 0 && result > -4096)
		return 0;
	switch (t->cur->call.nr) {
	case SYS_mmap: return did_mmap(t, addr);
	case SYS_munmap:
		return removed(t, t->cur->call.args[0],
		               t->cur->call.args[0] + up(t->cur->call.args[1]));
	case SYS_mprotect:
	case SYS_pkey_mprotect: return did_protect(t);
	case SYS_mremap: return did_remap(t, addr);
	case SYS_madvise: return did_advise(t);
	}
	return lz_fail("system call %s is in class MAP but unknown here", t->cur->call.row->name);
}
