/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's memory as a file: what it writes to its own /proc/PID/mem changes memory as a
 * store does, also where no store could. Nothing is looked at before such a file has been opened
 * for writing. */
#include "tracer/calls/calls.h"
#include "tracer/calls/proc_files.h"
#include "tracer/calls/written_range.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/state/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The program has opened its own /proc/PID/mem for writing. */
static bool opened;

/* Not that of another process, nor of the program that this one was before an execve: nothing
 * can be written there. */
static bool is_own_mem(const struct lz_tracer *t, int fd)
{
	struct lz_proc_file file;

	return lz_proc_file_own(t, fd, &file) && strcmp(file.name, "mem") == 0;
}

static bool for_writing(uint64_t flags)
{
	return (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR;
}

/* May the call have opened a file for writing? */
static bool opens(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;
	uint64_t flags = 0;

	switch (c->nr) {
	case SYS_open: flags = c->args[1]; break;
	case SYS_openat: flags = c->args[2]; break;
	case SYS_openat2: lz_proc_read_some(&t->p, c->args[2], &flags, sizeof(flags)); break;
	case SYS_creat: return true;
	}
	return for_writing(flags);
}

int lz_own_mem_call(struct lz_tracer *t, int64_t result)
{
	const uint64_t n = (uint64_t)result;
	int fd = opened ? lz_changed_fd(&t->cur->call, result) : -1;

	if (result < 0)
		return 0;
	if (!opened && opens(t))
		opened = is_own_mem(t, (int)result);
	if (fd < 0 || !n || !is_own_mem(t, fd))
		return 0;
	struct lz_written w = lz_written_range(t, fd, n);
	if (w.to - w.from != n)
		return 0;
	if (lz_build_read(t, w.from, n) < 0)
		return -1;
	lz_clock_written(t, w.from, w.to);
	/* Write tracking does not know of pages that the program cannot write. */
	return lz_pages_changed(t, lz_page_down(w.from), lz_page_up(w.to));
}
