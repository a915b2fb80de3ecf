/* Memory that changes although the program does not write it: a file written while it is mapped,
 * and shared mappings that children write. Both are logged with the system call that follows the
 * change, or made it. */
#include "tracer/tracer.h"

#include <common/pagemap.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { FDS = 1024, MAX_FILES = 4096 };
enum fd_state { UNKNOWN, OTHER, MAPPED };

struct lz_shared {
	uint8_t fd[FDS]; /* enum fd_state */
	struct {
		dev_t dev;
		ino_t ino;
	} file[MAX_FILES]; /* of the recording's file table */
	uint32_t n_files;
	struct lz_pagemap seen; /* shared pages as last logged */
};

int lz_shared_file(struct lz_tracer *t, uint32_t index, const struct stat *st)
{
	if (!t->shared && !(t->shared = calloc(1, sizeof(*t->shared))))
		return lz_fail("out of memory");
	if (index >= MAX_FILES)
		return 0;
	t->shared->file[index].dev = st->st_dev;
	t->shared->file[index].ino = st->st_ino;
	if (index >= t->shared->n_files)
		t->shared->n_files = index + 1;
	memset(t->shared->fd, UNKNOWN, sizeof(t->shared->fd));
	return 0;
}

static void forget_seen(struct lz_shared *s)
{
	for (size_t i = 0; i < s->seen.cap; i++)
		free(s->seen.slot[i].page);
	lz_pagemap_free(&s->seen);
}

void lz_shared_free(struct lz_tracer *t)
{
	if (t->shared)
		forget_seen(t->shared);
	free(t->shared);
	t->shared = NULL;
}

/* ---- files ---- */

struct written {
	int fd; /* -1: none */
	uint64_t from, to;
};

static uint64_t position(struct lz_tracer *t, int fd)
{
	char path[64], line[128];
	uint64_t pos = 0;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)t->p.pid, fd);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "pos: %" SCNu64, &pos) == 1)
			break;
	if (f)
		fclose(f);
	return pos;
}

static bool writes_file(uint64_t nr, const uint64_t *a, int *fd)
{
	*fd = (int)a[0];
	switch (nr) {
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_pwritev2:
	case SYS_sendfile:
	case SYS_ftruncate:
	case SYS_fallocate: return true;
	case SYS_copy_file_range:
	case SYS_splice: *fd = (int)a[2]; return true;
	}
	return false;
}

/* Where in the file, if the position can be known; else all of it. */
static struct written range_of(struct lz_tracer *t, int fd, uint64_t n)
{
	const uint64_t *a = t->cur->call.args;

	switch (t->cur->call.nr) {
	case SYS_pwrite64:
	case SYS_pwritev: return (struct written){fd, a[3], a[3] + n};
	case SYS_write:
	case SYS_writev: {
		uint64_t end = position(t, fd);
		return (struct written){fd, end > n ? end - n : 0, end};
	}
	}
	return (struct written){fd, 0, UINT64_MAX};
}

static bool same_file(const struct lz_shared *s, uint32_t index, const struct stat *st)
{
	return index < s->n_files && s->file[index].dev == st->st_dev &&
	       s->file[index].ino == st->st_ino;
}

static bool is_mapped(struct lz_tracer *t, int fd, struct stat *st)
{
	struct lz_shared *s = t->shared;
	char path[64];
	bool mapped = false;

	if (fd >= 0 && fd < FDS && s->fd[fd] == OTHER)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	if (stat(path, st) == 0 && S_ISREG(st->st_mode))
		for (size_t i = 0; i < t->vmas.n && !mapped; i++)
			mapped = same_file(s, t->vmas.a[i].v.file, st);
	if (fd >= 0 && fd < FDS)
		s->fd[fd] = mapped ? MAPPED : OTHER;
	return mapped;
}

/* A private page is taken from the file here, so that it is the program's own from now on. */
static int log_pages(struct lz_tracer *t, const struct lz_vma *v, uint64_t from, uint64_t to)
{
	uint8_t page[LZ_PAGE];

	for (uint64_t at = from; at < to; at += LZ_PAGE) {
		if (lz_proc_read_some(&t->p, at, page, LZ_PAGE) != LZ_PAGE)
			continue;
		if (lz_build_write(t, at, page, LZ_PAGE) < 0)
			return -1;
		if (!(v->flags & MAP_SHARED) && lz_proc_write(&t->p, at, page, LZ_PAGE) < 0)
			return -1;
	}
	return lz_pages_changed(t, from, to);
}

static int log_area(struct lz_tracer *t, const struct lz_vma *v, const struct written *w)
{
	uint64_t end = v->offset + (v->end - v->start);
	uint64_t from = w->from > v->offset ? w->from : v->offset;
	uint64_t to = w->to < end ? w->to : end;

	if (from >= to)
		return 0;
	from &= ~(uint64_t)(LZ_PAGE - 1);
	to = (to + LZ_PAGE - 1) & ~(uint64_t)(LZ_PAGE - 1);
	return log_pages(t, v, v->start + (from - v->offset), v->start + (to - v->offset));
}

/* A call that may have made a new descriptor, or closed one. */
static void forget_fds(struct lz_tracer *t, int64_t result)
{
	struct lz_shared *s = t->shared;

	switch (t->cur->call.nr) {
	case SYS_read:
	case SYS_pread64:
	case SYS_lseek: return;
	case SYS_close:
		if (t->cur->call.args[0] < FDS)
			s->fd[t->cur->call.args[0]] = UNKNOWN;
		return;
	case SYS_close_range:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_pipe:
	case SYS_pipe2:
	case SYS_socketpair: memset(s->fd, UNKNOWN, sizeof(s->fd)); return;
	}
	if (result >= 0 && result < FDS)
		s->fd[result] = UNKNOWN;
}

static int after_write(struct lz_tracer *t, int64_t result)
{
	struct stat st;
	int fd;

	if (!writes_file(t->cur->call.nr, t->cur->call.args, &fd)) {
		forget_fds(t, result);
		return 0;
	}
	if (result < 0 || !is_mapped(t, fd, &st))
		return 0;
	struct written w = range_of(t, fd, (uint64_t)result);
	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_vma v = t->vmas.a[i].v;
		if (same_file(t->shared, v.file, &st) && log_area(t, &v, &w) < 0)
			return -1;
	}
	return 0;
}

/* ---- memory shared with others ---- */

static int sync_page(struct lz_tracer *t, uint64_t addr, const uint8_t *now)
{
	uint8_t **seen = lz_pagemap_at(&t->shared->seen, addr);
	uint32_t from = 0, to = LZ_PAGE;

	if (!seen || (!*seen && !(*seen = calloc(1, LZ_PAGE))))
		return lz_fail("out of memory for shared pages");
	while (from < to && (*seen)[from] == now[from])
		from++;
	while (to > from && (*seen)[to - 1] == now[to - 1])
		to--;
	if (from == to)
		return 0;
	memcpy(*seen, now, LZ_PAGE);
	return lz_build_write(t, addr + from, now + from, to - from);
}

/* Others may have written there since the last call: what differs is logged, the program's own
 * stores with it, which does no harm. */
static int sync_shared(struct lz_tracer *t)
{
	uint8_t page[LZ_PAGE];

	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		if (!(v->flags & MAP_SHARED) || v->role == LZ_VMA_BUFFER)
			continue;
		for (uint64_t at = v->start; at < v->end; at += LZ_PAGE)
			if (lz_proc_read_some(&t->p, at, page, LZ_PAGE) == LZ_PAGE &&
			    sync_page(t, at, page) < 0)
				return -1;
	}
	return 0;
}

int lz_shared_call(struct lz_tracer *t, int64_t result)
{
	if (!t->shared)
		return 0;
	if (after_write(t, result) < 0)
		return -1;
	return t->has_children && t->n_shared ? sync_shared(t) : 0;
}

void lz_shared_forget(struct lz_tracer *t)
{
	if (t->shared) {
		forget_seen(t->shared);
		memset(t->shared->fd, UNKNOWN, sizeof(t->shared->fd));
	}
	t->n_shared = 0;
	t->has_children = false;
}
