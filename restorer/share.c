/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is mapped more than once: each object of it is a memfd of the replay process, which
 * keeps it open under a number of its own. Which parts are mapped where, the kernel knows. */
#include "restorer/give.h"
#include "restorer/share.h"

#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <common/process/own_pages.h>
#include <lizard/error.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Larger than any offset in an object; what nobody has written takes no room. */
#define OBJECT_SIZE (1ULL << 62)
enum { COPY_CHUNK = 1 << 18 };

struct parts {
	struct lz_share *v;
	size_t n, room;
};

static int call(struct lz_proc *p, const char *what, int64_t *result, uint64_t nr, uint64_t a,
                uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	if (lz_proc_syscall(p, result, nr, a, b, c, d, e, f) < 0)
		return -1;
	return *result < 0 ? lz_fail("the replay process cannot %s shared memory: %s", what,
	                             strerror((int)-*result))
	                   : 0;
}

static int collect(void *arg, const struct lz_maps_entry *e)
{
	struct parts *s = arg;
	uint32_t object = lz_proc_shared_object(e);

	if (!object)
		return 0;
	if (lz_reserve(s->v, s->room, s->n + 1) < 0)
		return -1;
	s->v[s->n++] = (struct lz_share){.addr = e->start,
	                                 .len = e->end - e->start,
	                                 .at = e->offset,
	                                 .prot = e->prot,
	                                 .object = object,
	                                 .own = !e->shared};
	return 0;
}

static int make_memory(uint32_t object)
{
	char name[32];

	snprintf(name, sizeof name, LZ_SHARED_NAME "%u", object);
	int fd = memfd_create(name, MFD_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, OBJECT_SIZE) == 0)
		return fd;
	lz_fail_errno("cannot make shared memory for the replay process");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Makes the object's memory, which the process keeps open under its number. */
static int make(struct lz_proc *p, uint32_t object)
{
	uint64_t want = LZ_SHARED_FD(object);
	int64_t fd, result;
	int memory = make_memory(object);

	if (memory < 0)
		return -1;
	int ret = lz_give(p, memory, &fd);
	close(memory);
	if (ret < 0 || (uint64_t)fd == want)
		return ret;
	if (call(p, "keep", &result, SYS_dup2, (uint64_t)fd, want, 0, 0, 0, 0) < 0)
		return -1;
	return lz_proc_syscall(p, &result, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
}

static void object_path(const struct lz_proc *p, uint32_t object, char path[64])
{
	snprintf(path, 64, "/proc/%d/fd/%u", (int)p->pid, LZ_SHARED_FD(object));
}

static int open_object(const struct lz_proc *p, uint32_t object)
{
	char path[64];

	object_path(p, object, path);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? lz_fail_errno("cannot open %s", path) : fd;
}

static int make_if_needed(struct lz_proc *p, uint32_t object)
{
	struct stat st;
	char path[64];

	p->stub->shares = true;
	object_path(p, object, path);
	return lstat(path, &st) < 0 ? make(p, object) : 0;
}

/* The end of the piece of [AT, END) that begins at AT and is all mapped, or all not: *mapped. */
static uint64_t piece(const struct parts *s, uint32_t object, uint64_t at, uint64_t end,
                      bool *mapped)
{
	uint64_t next = end;

	*mapped = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct lz_share *m = &s->v[i];
		if (m->object != object || m->own || m->at + m->len <= at)
			continue;
		if (m->at <= at) {
			*mapped = true;
			return m->at + m->len < end ? m->at + m->len : end;
		}
		if (m->at < next)
			next = m->at;
	}
	return next;
}

/* What no mapping shows is zeroes again. */
static int empty_rest(struct lz_proc *p, const struct lz_share *m)
{
	const int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	uint64_t end = m->at + m->len;
	struct parts s = {0};
	bool mapped;
	lz_auto_close int fd = open_object(p, m->object);
	int ret = fd < 0 || lz_proc_maps(p->pid, collect, &s) < 0 ? -1 : 0;

	for (uint64_t at = m->at, next; !ret && at < end; at = next) {
		next = piece(&s, m->object, at, end, &mapped);
		if (!mapped && fallocate(fd, punch, (off_t)at, (off_t)(next - at)) < 0)
			ret = lz_fail_errno("cannot empty shared memory of the replay process");
	}
	free(s.v);
	return ret;
}

static int map(struct lz_proc *p, const struct lz_share *m)
{
	uint64_t kind = m->own ? MAP_PRIVATE : MAP_SHARED;
	int64_t result;

	if (call(p, "map", &result, SYS_mmap, m->addr, m->len, m->prot,
	         kind | MAP_FIXED | MAP_NORESERVE, LZ_SHARED_FD(m->object), m->at) < 0)
		return -1;
	return (uint64_t)result == m->addr
	           ? 0
	           : lz_fail("shared memory at %#lx: another address came back",
	                     (unsigned long)m->addr);
}

int lz_share_map(struct lz_proc *p, const struct lz_share *m)
{
	if (m->object > LZ_OBJECTS_MAX || m->at % LZ_PAGE || m->at > OBJECT_SIZE - m->len)
		return lz_fail("the recording maps object %u at offset %#lx", m->object,
		               (unsigned long)m->at);
	if (make_if_needed(p, m->object) < 0 || (!m->own && empty_rest(p, m) < 0))
		return -1;
	return map(p, m);
}

/* Index of the first mapping that ends after ADDR. */
static uint32_t index_of(const struct lz_vma *vmas, uint32_t n, uint64_t addr)
{
	uint32_t low = 0;

	while (low < n) {
		uint32_t mid = low + (n - low) / 2;
		if (vmas[mid].end > addr)
			n = mid;
		else
			low = mid + 1;
	}
	return low;
}

bool lz_share_shown_before(const struct lz_vma *vmas, uint32_t n, uint64_t addr)
{
	uint32_t i = index_of(vmas, n, addr);
	const struct lz_vma *v = &vmas[i];
	if (i == n || v->start > addr || !lz_flags_object(v->flags) || !(v->flags & MAP_SHARED))
		return false;
	uint64_t at = v->offset + (addr - v->start);
	while (i-- > 0) {
		const struct lz_vma *u = &vmas[i];
		if (u->flags == v->flags && u->offset <= at && at - u->offset < u->end - u->start)
			return true;
	}
	return false;
}

/* ---- copies of the process ---- */

static int copy_range(int from, int to, off_t at, off_t end, uint8_t *buf)
{
	while (at < end) {
		size_t want = end - at < COPY_CHUNK ? (size_t)(end - at) : COPY_CHUNK;
		ssize_t n = pread(from, buf, want, at);
		if (n <= 0 || pwrite(to, buf, (size_t)n, at) != n)
			return lz_fail_errno("cannot copy shared memory");
		at += n;
	}
	return 0;
}

/* Only where there is something. */
static int copy_all(int from, int to)
{
	lz_auto_free uint8_t *buf = malloc(COPY_CHUNK);
	off_t at = 0, end;

	if (!buf)
		return lz_fail("no memory to copy shared memory");
	while ((at = lseek(from, at, SEEK_DATA)) >= 0) {
		if ((end = lseek(from, at, SEEK_HOLE)) < 0 ||
		    copy_range(from, to, at, end, buf) < 0)
			return -1;
		at = end;
	}
	return errno == ENXIO ? 0 : lz_fail_errno("cannot copy shared memory");
}

static int copy_object(struct lz_proc *p, struct lz_proc *copy, uint32_t object)
{
	if (make(copy, object) < 0)
		return -1;
	lz_auto_close int from = open_object(p, object);
	lz_auto_close int to = from < 0 ? -1 : open_object(copy, object);

	return to < 0 ? -1 : copy_all(from, to);
}

/* Pages that are the mapping's own. */
struct own_page {
	uint64_t addr;
	uint8_t bytes[LZ_PAGE];
};

struct own {
	const struct lz_proc *p;
	struct own_page *v;
	size_t n, room;
};

static int keep_page(void *arg, uint64_t addr)
{
	struct own *o = arg;

	if (lz_reserve(o->v, o->room, o->n + 1) < 0)
		return -1;
	o->v[o->n].addr = addr;
	return lz_proc_read(o->p, addr, o->v[o->n++].bytes, LZ_PAGE);
}

/* Maps the copy's object in place of the original's; the pages that were the mapping's own are so
 * again. */
static int map_own(struct lz_proc *copy, const struct lz_share *m)
{
	struct own o = {.p = copy};
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)copy->pid);
	lz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = fd < 0 ? lz_fail_errno("cannot open %s", path)
	                 : lz_own_pages(fd, m->addr, m->addr + m->len, NULL, keep_page, &o);
	if (!ret)
		ret = map(copy, m);
	for (size_t i = 0; !ret && i < o.n; i++)
		ret = lz_proc_write(copy, o.v[i].addr, o.v[i].bytes, LZ_PAGE);
	free(o.v);
	return ret;
}

int lz_share_split(struct lz_proc *p, struct lz_proc *copy)
{
	struct parts s = {0};
	int ret = lz_proc_maps(copy->pid, collect, &s) < 0 ? -1 : 0;

	for (size_t i = 0; !ret && i < s.n; i++) {
		size_t first = 0;
		while (s.v[first].object != s.v[i].object)
			first++;
		if (first == i)
			ret = copy_object(p, copy, s.v[i].object);
		if (!ret)
			ret = s.v[i].own ? map_own(copy, &s.v[i]) : map(copy, &s.v[i]);
	}
	free(s.v);
	return ret < 0 ? -1 : lz_give_end(copy);
}
