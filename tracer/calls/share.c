/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that tracer and program share. */
#include "tracer/calls/calls.h"
#include "tracer/state/process.h"

#include <errno.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *map_own(struct lz_tracer *t, int fd, size_t len)
{
	char path[64];
	void *mem = MAP_FAILED;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	int own = open(path, O_RDWR | O_CLOEXEC);
	if (own < 0) {
		lz_fail_errno("cannot open %s", path);
		return NULL;
	}
	if (ftruncate(own, (off_t)len) == 0)
		mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
	if (mem == MAP_FAILED) {
		lz_fail_errno("cannot map memory that is shared with the program");
		mem = NULL;
	}
	close(own);
	return mem;
}

/* Its descriptor FD is gone then. -1: errno, EEXIST if something else is mapped there. */
static int map_program(struct lz_tracer *t, int64_t fd, size_t len, uint64_t at, size_t code)
{
	struct lz_proc_call c[] = {
	    {.nr = SYS_mmap,
	     .args = {at - code, code, PROT_READ | PROT_EXEC,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL}},
	    {.nr = SYS_mmap,
	     .args = {at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
	              (uint64_t)fd},
	     .if_done = code},
	    {.nr = SYS_madvise, .args = {at - code, code + len, MADV_DONTFORK}, .if_done = true},
	    {.nr = SYS_close, .args = {(uint64_t)fd}, .untold = true},
	};
	struct lz_proc_call alone[] = {c[1], c[3]};
	int64_t ignored;

	errno = 0;
	if (lz_proc_calls(&t->p, code ? c : alone, code ? 4 : 2) < 0)
		return -1;
	const int64_t done = code ? c[1].result : alone[0].result;
	if (done >= 0)
		return 0;
	if (code && c[0].result >= 0 &&
	    lz_proc_syscall(&t->p, &ignored, SYS_munmap, at - code, code, 0, 0, 0, 0) < 0)
		return -1;
	lz_fail("no room for shared memory in the program: %s", strerror((int)-done));
	errno = (int)-done;
	return -1;
}

static void *share_at(struct lz_tracer *t, size_t len, uint64_t at, size_t code)
{
	struct lz_proc *p = &t->p;
	const uint64_t name = lz_scratch(t, p);
	int64_t fd, closed;

	errno = 0;
	if (lz_proc_write(p, name, "lizard", 7) < 0 ||
	    lz_proc_syscall(p, &fd, SYS_memfd_create, name, 0, 0, 0, 0, 0) < 0)
		return NULL;
	if (fd < 0) {
		lz_fail("memfd_create in the program failed: %s", strerror((int)-fd));
		errno = (int)-fd;
		return NULL;
	}
	void *mem = map_own(t, (int)fd, len);
	int why = errno;
	if (!mem) {
		lz_proc_syscall(p, &closed, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	} else if (map_program(t, fd, len, at, code) < 0) {
		why = errno;
		munmap(mem, len);
		mem = NULL;
	}
	errno = why;
	return mem;
}

void *lz_share(struct lz_tracer *t, size_t len, uint64_t *at, uint64_t step, size_t code)
{
	enum { TRIES = 255 };
	void *mem = share_at(t, len, *at, code);

	for (int i = 1; i < TRIES && !mem && errno == EEXIST; i++)
		mem = share_at(t, len, *at += step, code);
	return mem;
}
