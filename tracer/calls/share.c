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

static int map_program(struct lz_tracer *t, int64_t fd, size_t len, uint64_t *at, uint64_t step)
{
	int64_t ret = -1, closed;

	for (int i = 0; i < 255 && ret < 0; i++) {
		*at += i ? step : 0;
		if (lz_proc_syscall(&t->p, &ret, SYS_mmap, *at, len, PROT_READ | PROT_WRITE,
		                    MAP_SHARED | MAP_FIXED_NOREPLACE, (uint64_t)fd, 0) < 0)
			return -1;
	}
	if (lz_proc_syscall(&t->p, &closed, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0) < 0)
		return -1;
	if (ret >= 0)
		return 0;
	lz_fail("no room for shared memory in the program: %s", strerror((int)-ret));
	errno = (int)-ret;
	return -1;
}

void *lz_share(struct lz_tracer *t, size_t len, uint64_t *at, uint64_t step)
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
		return NULL;
	}
	void *mem = map_own(t, (int)fd, len);
	int why = errno;
	if (!mem) {
		lz_proc_syscall(p, &closed, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	} else if (map_program(t, fd, len, at, step) < 0) {
		why = errno;
		munmap(mem, len);
		mem = NULL;
	}
	errno = why;
	return mem;
}
