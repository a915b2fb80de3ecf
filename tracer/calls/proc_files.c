/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads from the program's own files in /proc. The kernel makes a text for each read, so that a read
 * goes on where the one before has ended. What is shown is another text, as long as it is read. */
#include "tracer/calls/proc_files.h"
#include "tracer/calls/fast.h"
#include "tracer/calls/written_range.h"
#include "tracer/log/log.h"

#include <common/base/array.h>
#include <errno.h>
#include <lizard/error.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TEXTS = 8, CHUNK = 1 << 16 };

/* What is being read. */
static struct reading {
	int fd;
	char name[LZ_PROC_NAME];
	struct lz_proc_text text;
} readings[TEXTS];

/* Pipes and their like are known, and most reads that have stops are from these. */
static bool is_known(const struct lz_tracer *t, uint64_t fd)
{
	return t->fast.page && fd < LZ_FAST_FDS && t->fast.page->fd[fd] & LZ_FD_KIND;
}

static bool reads(const struct lz_call *c, bool *at_offset)
{
	*at_offset = false;
	switch (c->nr) {
	case SYS_read:
	case SYS_readv: return true;
	case SYS_pread64:
	case SYS_preadv: *at_offset = true; return true;
	case SYS_preadv2: *at_offset = c->args[3] != UINT64_MAX; return true;
	}
	return false;
}

/* ---- the text ---- */

static int load(struct lz_proc_text *x, pid_t tid, const char *name)
{
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	FILE *f = fopen(path, "re");
	if (!f)
		return lz_fail_errno("cannot open %s", path);
	x->len = 0;
	do {
		if (lz_reserve(x->bytes, x->room, x->len + CHUNK + 1) < 0) {
			fclose(f);
			return lz_fail("no memory for %s", path);
		}
		n = fread(x->bytes + x->len, 1, CHUNK, f);
		x->len += n;
	} while (n > 0);
	x->bytes[x->len] = 0;
	fclose(f);
	return 0;
}

/* NULL: lz_error(). ANEW: not what has been read the last time. */
static const struct lz_proc_text *text_of(const struct lz_tracer *t, int fd,
                                          const struct lz_proc_file *file, bool anew)
{
	struct reading *r = &readings[(unsigned)fd % TEXTS];

	if (!anew && r->fd == fd && !strcmp(r->name, file->name) && r->text.bytes)
		return &r->text;
	r->fd = fd;
	memcpy(r->name, file->name, sizeof(r->name));
	if (load(&r->text, (pid_t)file->who->tid, file->name) < 0)
		return NULL;
	const int mended = strcmp(file->name, "status") == 0
	                       ? lz_proc_status_mend(t, file->who, &r->text)
	                       : lz_proc_mappings_mend(t, file->name, &r->text);
	return mended < 0 ? NULL : &r->text;
}

/* ---- a read of it ---- */

/* The kernel ends a read that has room for more with a whole line. */
static size_t part_of(const struct lz_proc_text *x, uint64_t from, uint64_t count, uint64_t got)
{
	size_t n = MIN(x->len - from, got ? got : count);

	if (n == x->len - from || got == count)
		return n;
	const char *end = memrchr(x->bytes + from, '\n', n);
	return end ? (size_t)(end + 1 - (x->bytes + from)) : n;
}

/* Where the call reads to. *N: how many parts that are. */
static const struct iovec *buffers(const struct lz_tracer *t, struct iovec *plain, uint32_t *n)
{
	const struct lz_call *c = &t->cur->call;

	if (c->nr != SYS_read && c->nr != SYS_pread64) {
		*n = t->cur->vectors.n_io;
		return t->cur->vectors.io;
	}
	*plain = (struct iovec){(void *)(uintptr_t)c->args[1], c->args[2]}; // NOLINT: the program's
	*n = 1;
	return plain;
}

static uint64_t room_of(const struct lz_tracer *t)
{
	struct iovec plain;
	uint32_t parts;
	uint64_t n = 0;
	const struct iovec *io = buffers(t, &plain, &parts);

	for (uint32_t i = 0; i < parts; i++)
		n += io[i].iov_len;
	return n;
}

/* The first N bytes become these; the others that the kernel has written, GOT in all, are told, so that
 * replay has them. *FAULT: there is no memory for them. */
static int put(struct lz_tracer *t, const char *bytes, uint64_t n, uint64_t got, bool *fault)
{
	struct iovec plain;
	uint32_t parts;
	const struct iovec *io = buffers(t, &plain, &parts);

	for (uint32_t i = 0; i < parts && (n || got); i++) {
		const uint64_t at = (uintptr_t)io[i].iov_base, len = io[i].iov_len;
		const uint64_t ours = MIN(n, len), kernels = MIN(got, len);

		*fault = ours && lz_proc_write(&t->p, at, bytes, ours) < 0;
		if (*fault)
			return 0;
		if (kernels > ours && lz_build_read(t, at + ours, kernels - ours) < 0)
			return -1;
		bytes += ours;
		n -= ours;
		got -= kernels;
	}
	return 0;
}

static int show(struct lz_tracer *t, const struct lz_proc_file *file, bool at_offset,
                int64_t *result)
{
	const struct lz_call *c = &t->cur->call;
	const int fd = (int)c->args[0];
	const uint64_t got = (uint64_t)*result, count = room_of(t);
	const uint64_t from = at_offset ? c->args[3] : lz_fd_position(t, fd) - got;
	const struct lz_proc_text *x = text_of(t, fd, file, !from);
	int64_t moved = 0;
	bool fault = false;

	if (!x)
		return -1;
	const size_t n = from < x->len ? part_of(x, from, count, got) : 0;
	if (put(t, x->bytes + (n ? from : 0), n, got, &fault) < 0)
		return -1;
	*result = fault ? -EFAULT : (int64_t)n;
	if (at_offset || fault || n == got)
		return 0;
	return lz_proc_syscall(&t->p, &moved, SYS_lseek, (uint64_t)fd, from + n, SEEK_SET, 0, 0, 0);
}

int lz_proc_files_show(struct lz_tracer *t, int64_t *result)
{
	static const char *const mended[] = {"status", "maps", "smaps", "numa_maps"};
	struct lz_proc_file file;
	bool at_offset;

	if (*result < 0 || !reads(&t->cur->call, &at_offset) || is_known(t, t->cur->call.args[0]) ||
	    !lz_proc_file_own(t, (int)t->cur->call.args[0], &file))
		return 0;
	for (size_t i = 0; i < sizeof(mended) / sizeof(*mended); i++)
		if (!strcmp(file.name, mended[i]))
			return show(t, &file, at_offset, result);
	return 0;
}
