/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of a replayed process that the replayer sees without a call for each look. */
#include "restorer/give.h"

#include <common/base/cleanup.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int map_there(struct lz_proc *p, int memory, uint64_t addr, size_t len)
{
	int64_t fd, at, closed;

	if (lz_give(p, memory, &fd) < 0 || lz_give_end(p) < 0 ||
	    lz_proc_syscall(p, &at, SYS_mmap, addr, len, PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_FIXED, (uint64_t)fd, 0) < 0 ||
	    lz_proc_syscall(p, &closed, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0) < 0)
		return -1;
	return (uint64_t)at == addr
	           ? 0
	           : lz_fail("the replay process cannot map %zu bytes at %#lx: %s", len,
	                     (unsigned long)addr, at < 0 ? strerror((int)-at) : "another address");
}

void *lz_restore_window(struct lz_proc *p, uint64_t addr, size_t len)
{
	lz_auto_close int memory = memfd_create("lizard-window", MFD_CLOEXEC);
	void *here = MAP_FAILED;

	if (memory >= 0 && ftruncate(memory, (off_t)len) == 0)
		here = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (here == MAP_FAILED) {
		lz_fail_errno("cannot make memory that the replay process shares");
		return NULL;
	}
	if (map_there(p, memory, addr, len) == 0)
		return here;
	munmap(here, len);
	return NULL;
}
