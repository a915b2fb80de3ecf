/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system calls that may be made without a stop: they do not wait for anybody, and their event
 * holds their result, what they write, and what they take. */
#include "tracer/calls/fast.h"

#include <lizard/syscalls.h>
#include <sys/syscall.h>

enum { NR_FACCESSAT2 = 439 };

static const struct {
	uint16_t nr;
	uint8_t fd;
	uint8_t takes, most; /* arguments; takes: 1 + its number */
	uint8_t close;
} fast[] = {
    {SYS_read, LZ_FD_READ, 0, 2, 0},
    {SYS_pread64, LZ_FD_READ, 0, 2, 0},
    {SYS_write, LZ_FD_WRITE, 2, 2, 0},
    {SYS_pwrite64, LZ_FD_WRITE, 2, 2, 0},
    {SYS_close, LZ_FD_CLOSE, 0, 0, 1},
    {SYS_getdents64, LZ_FD_LIST, 0, 2, 0},
    {SYS_lseek, 0, 0, 0, 0},
    {SYS_fstat, 0, 0, 0, 0},
    {SYS_stat, 0, 0, 0, 0},
    {SYS_lstat, 0, 0, 0, 0},
    {SYS_newfstatat, 0, 0, 0, 0},
    {SYS_statx, 0, 0, 0, 0},
    {SYS_fstatfs, 0, 0, 0, 0},
    {SYS_statfs, 0, 0, 0, 0},
    {SYS_access, 0, 0, 0, 0},
    {SYS_faccessat, 0, 0, 0, 0},
    {NR_FACCESSAT2, 0, 0, 0, 0},
    {SYS_readlink, 0, 0, 2, 0},
    {SYS_readlinkat, 0, 0, 3, 0},
    {SYS_getcwd, 0, 0, 1, 0},
    {SYS_getpid, 0, 0, 0, 0},
    {SYS_gettid, 0, 0, 0, 0},
    {SYS_getppid, 0, 0, 0, 0},
    {SYS_getuid, 0, 0, 0, 0},
    {SYS_geteuid, 0, 0, 0, 0},
    {SYS_getgid, 0, 0, 0, 0},
    {SYS_getegid, 0, 0, 0, 0},
    {SYS_getpgrp, 0, 0, 0, 0},
    {SYS_getpgid, 0, 0, 0, 0},
    {SYS_getsid, 0, 0, 0, 0},
    {SYS_clock_gettime, 0, 0, 0, 0},
    {SYS_clock_getres, 0, 0, 0, 0},
    {SYS_gettimeofday, 0, 0, 0, 0},
    {SYS_time, 0, 0, 0, 0},
    {SYS_times, 0, 0, 0, 0},
    {SYS_getrusage, 0, 0, 0, 0},
    {SYS_getrlimit, 0, 0, 0, 0},
    {SYS_sysinfo, 0, 0, 0, 0},
    {SYS_uname, 0, 0, 0, 0},
    {SYS_sched_yield, 0, 0, 0, 0},
    {SYS_getcpu, 0, 0, 0, 0},
    {SYS_getrandom, 0, 0, 1, 0},
    {SYS_unlink, 0, 0, 0, 0},
    {SYS_unlinkat, 0, 0, 0, 0},
    {SYS_mkdir, 0, 0, 0, 0},
    {SYS_mkdirat, 0, 0, 0, 0},
    {SYS_rmdir, 0, 0, 0, 0},
    {SYS_rename, 0, 0, 0, 0},
};
enum { N_FAST = sizeof(fast) / sizeof(*fast) };

bool lz_fast_may(uint64_t nr)
{
	for (unsigned i = 0; i < N_FAST; i++)
		if (fast[i].nr == nr)
			return true;
	return false;
}

/* What the table of all calls says of its output; false: more than the stub can do. */
static bool add_outs(struct lz_fast_call *c, const struct lz_syscall *row)
{
	for (int i = 0; i < LZ_SYS_OUTS && row->out[i].kind; i++) {
		const struct lz_sys_out *o = &row->out[i];

		if (c->n_outs == LZ_FAST_OUTS || o->always ||
		    (o->kind != LZ_OUT_FIX && o->kind != LZ_OUT_RET) ||
		    (o->kind == LZ_OUT_RET && o->b != c->most))
			return false;
		c->out[c->n_outs].arg = o->a;
		c->out[c->n_outs++].size = o->kind == LZ_OUT_FIX ? o->size : 0;
	}
	return true;
}

void lz_fast_calls(struct lz_call_page *page)
{
	for (unsigned i = 0; i < N_FAST; i++) {
		const struct lz_syscall *row = lz_syscall(fast[i].nr);
		struct lz_fast_call c = {.fd = fast[i].fd,
		                         .close = fast[i].close,
		                         .takes = fast[i].takes,
		                         .most = fast[i].most};

		c.may = row && add_outs(&c, row);
		page->call[fast[i].nr] = c;
	}
}
