/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a call has written: which descriptor, and what part of the file behind it. */
#include "tracer/calls/written_range.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/syscall.h>

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

int lz_changed_fd(const struct lz_call *c, int64_t result)
{
	const uint64_t *a = c->args;

	switch (c->nr) {
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_pwritev2:
	case SYS_sendfile:
	case SYS_ftruncate:
	case SYS_fallocate: return (int)a[0];
	case SYS_copy_file_range:
	case SYS_splice: return (int)a[2];
	case SYS_ioctl: return a[1] == FICLONE || a[1] == FICLONERANGE ? (int)a[0] : -1;
	case SYS_open: return a[1] & O_TRUNC ? (int)result : -1;
	case SYS_openat: return a[2] & O_TRUNC ? (int)result : -1;
	case SYS_openat2:
	case SYS_creat: return (int)result;
	}
	return -1;
}

/* The N bytes before the descriptor's position, or before the offset at ARG that the call has
 * advanced. */
static struct lz_written before(struct lz_tracer *t, int fd, uint64_t arg, uint64_t n)
{
	uint64_t end;

	if (!arg)
		end = position(t, fd);
	else if (lz_proc_read_some(&t->p, arg, &end, sizeof(end)) != sizeof(end))
		return (struct lz_written){0, UINT64_MAX};
	return (struct lz_written){end > n ? end - n : 0, end};
}

struct lz_written lz_written_range(struct lz_tracer *t, int fd, uint64_t n)
{
	const uint64_t *a = t->cur->call.args;

	switch (t->cur->call.nr) {
	case SYS_pwritev2:
		if (a[3] == UINT64_MAX)
			return before(t, fd, 0, n);
		return (struct lz_written){a[3], a[3] + n};
	case SYS_pwrite64:
	case SYS_pwritev: return (struct lz_written){a[3], a[3] + n};
	case SYS_write:
	case SYS_writev:
	case SYS_sendfile: return before(t, fd, 0, n);
	case SYS_copy_file_range:
	case SYS_splice: return before(t, fd, a[3], n);
	case SYS_fallocate:
		if (a[1] & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE))
			break;
		return (struct lz_written){a[2], a[2] + a[3]};
	case SYS_open:
	case SYS_openat:
	case SYS_openat2:
	case SYS_creat:
	case SYS_ftruncate: return (struct lz_written){0, 0};
	}
	return (struct lz_written){0, UINT64_MAX};
}
