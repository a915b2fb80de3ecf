/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads from the program's own files in /proc. The kernel makes a text for each read, so that a read
 * goes on where the one before has ended. What is shown is another text, as long as it is read. */
#include "tracer/calls/proc_files.h"
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* ---- how much of it ---- */

/* Has the kernel checked, or may the program store, all of what the first N bytes are read to? GOT: the
 * kernel has stored so many. */
static bool is_writable(const struct lz_tracer *t, uint64_t n, uint64_t got)
{
	struct iovec plain;
	uint32_t parts;
	const struct iovec *io = buffers(t, &plain, &parts);

	for (uint32_t i = 0; i < parts && n > got; i++) {
		const uint64_t at = (uintptr_t)io[i].iov_base;
		const uint64_t ours = MIN(n, io[i].iov_len), kernels = MIN(got, ours);

		if (!lz_vmas_writable(&t->vmas, at + kernels, ours - kernels))
			return false;
		n -= ours;
		got -= kernels;
	}
	return true;
}

/* The kernel ends a read that has room for more with a whole line. So does this, with the first line behind
 * where the kernel has ended: then the next read goes on from there, and it need not look for the place. */
static size_t part_of(const struct lz_tracer *t, const char *from, size_t left, uint64_t got)
{
	const uint64_t count = room_of(t);
	size_t n = MIN(left, count);

	if (got == count)
		return n;
	const char *end = got && got < n ? memchr(from + got, '\n', n - got) : NULL;
	if (end)
		n = (size_t)(end + 1 - from);
	if ((end || n == left || !got) && is_writable(t, n, got))
		return n;
	n = MIN(left, got);
	end = memrchr(from, '\n', n);
	return end ? (size_t)(end + 1 - from) : n;
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

/* The kernel's text goes on where ours does, N bytes behind FROM; it was read up to GOT bytes behind that. */
static void move_on(int copy, bool at_offset, uint64_t from, uint64_t n, uint64_t got)
{
	char skipped[4096];
	ssize_t some = 1;

	while (got < n && some > 0) {
		const size_t most = MIN(sizeof(skipped), n - got);

		some = at_offset ? pread(copy, skipped, most, (off_t)(from + got))
		                 : read(copy, skipped, most);
		got += some > 0 ? (uint64_t)some : 0;
	}
	if (!at_offset && got != n)
		lseek(copy, (off_t)(from + n), SEEK_SET);
}

static int show_copied(struct lz_tracer *t, const struct lz_proc_file *file, int copy,
                       bool at_offset, int64_t *result)
{
	const struct lz_call *c = &t->cur->call;
	const int fd = (int)c->args[0];
	const uint64_t got = (uint64_t)*result;
	const uint64_t from = at_offset ? c->args[3] : (uint64_t)lseek(copy, 0, SEEK_CUR) - got;
	const struct lz_proc_text *x = lz_proc_text_of(t, fd, copy, file, !from);
	bool fault = false;

	if (!x)
		return -1;
	const char *bytes = x->bytes + MIN(from, x->len);
	const size_t left = x->len - (size_t)(bytes - x->bytes);
	const size_t n = left ? part_of(t, bytes, left, got) : 0;
	if (put(t, bytes, n, got, &fault) < 0)
		return -1;
	*result = fault ? -EFAULT : (int64_t)n;
	move_on(copy, at_offset, from, n, got);
	if (!n)
		lz_proc_text_read(fd);
	return 0;
}

/* The copy is for the same open file: what it reads is as the program would read it, in its namespaces. */
static int show(struct lz_tracer *t, const struct lz_proc_file *file, bool at_offset,
                int64_t *result)
{
	const int copy = lz_fd_copy(t, (int)t->cur->call.args[0]);

	if (copy < 0)
		return 0;
	const int ret = show_copied(t, file, copy, at_offset, result);
	close(copy);
	return ret;
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
