/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system calls that may be made without a stop: they do not wait for anybody, or can be tried
 * without waiting, and their event holds their result, what they write, and what they take. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/filters/filters.h"

#include <lizard/mark.h>
#include <lizard/syscalls.h>
#include <sys/syscall.h>

enum { NR_FACCESSAT2 = 439 };

static const struct {
	uint16_t nr;
	uint8_t fd;
	uint8_t takes, most; /* arguments; takes: 1 + its number */
	uint8_t rule;
	uint8_t try;
} fast[] = {
    {SYS_read, LZ_FD_READ, 0, 2, 0, LZ_TRY_READ},
    {SYS_pread64, LZ_FD_READ, 0, 2, 0, 0},
    {SYS_write, LZ_FD_WRITE, 2, 2, 0, LZ_TRY_WRITE},
    {SYS_pwrite64, LZ_FD_WRITE, 2, 2, 0, 0},
    {SYS_close, LZ_FD_CLOSE, 0, 0, LZ_RULE_CLOSE, 0},
    {SYS_open, 0, 0, 0, LZ_RULE_OPEN, 0},
    {SYS_openat, 0, 0, 0, LZ_RULE_OPENAT, 0},
    {SYS_fcntl, 0, 0, 0, LZ_RULE_FCNTL, 0},
    {SYS_ioctl, 0, 0, 0, LZ_RULE_IOCTL, 0},
    {SYS_prctl, 0, 0, 0, LZ_RULE_PRCTL, 0},
    {SYS_dup, 0, 0, 0, LZ_RULE_DUP, 0},
    {SYS_dup2, 0, 0, 0, LZ_RULE_DUP_TO, 0},
    {SYS_dup3, 0, 0, 0, LZ_RULE_DUP_TO, 0},
    {SYS_pipe, 0, 0, 0, LZ_RULE_PIPE, 0},
    {SYS_pipe2, 0, 0, 0, LZ_RULE_PIPE, 0},
    {SYS_eventfd, 0, 0, 0, LZ_RULE_NEW_FD, 0},
    {SYS_eventfd2, 0, 0, 0, LZ_RULE_NEW_FD, 0},
    {SYS_epoll_create, 0, 0, 0, LZ_RULE_NEW_FD, 0},
    {SYS_epoll_create1, 0, 0, 0, LZ_RULE_NEW_FD, 0},
    {SYS_epoll_ctl, 0, 0, 0, 0, 0},
    {SYS_socket, 0, 0, 0, LZ_RULE_SOCKET, 0},
    {SYS_rt_sigprocmask, 0, 0, 0, LZ_RULE_MASK, 0},
    {SYS_rt_sigaction, 0, 0, 0, LZ_RULE_SIGACTION, 0},
    {SYS_brk, 0, 0, 0, LZ_RULE_BRK, 0},
    {SYS_madvise, 0, 0, 0, LZ_RULE_MADVISE, 0},
    {SYS_mprotect, 0, 0, 0, LZ_RULE_MPROTECT, 0},
    {SYS_munmap, 0, 0, 0, LZ_RULE_MUNMAP, 0},
    {SYS_mmap, 0, 0, 0, LZ_RULE_MMAP, 0},
    {SYS_ftruncate, LZ_FD_WRITE, 0, 0, 0, 0},
    {SYS_fsync, LZ_FD_WRITE, 0, 0, 0, 0},
    {SYS_fdatasync, LZ_FD_WRITE, 0, 0, 0, 0},
    {SYS_fadvise64, LZ_FD_READ, 0, 0, 0, 0},
    {SYS_getdents64, LZ_FD_LIST, 0, 2, 0, 0},
    {SYS_lseek, 0, 0, 0, 0, 0},
    {SYS_fstat, 0, 0, 0, 0, 0},
    {SYS_stat, 0, 0, 0, 0, 0},
    {SYS_lstat, 0, 0, 0, 0, 0},
    {SYS_newfstatat, 0, 0, 0, 0, 0},
    {SYS_statx, 0, 0, 0, 0, 0},
    {SYS_fstatfs, 0, 0, 0, 0, 0},
    {SYS_statfs, 0, 0, 0, 0, 0},
    {SYS_access, 0, 0, 0, 0, 0},
    {SYS_faccessat, 0, 0, 0, 0, 0},
    {NR_FACCESSAT2, 0, 0, 0, 0, 0},
    {SYS_readlink, 0, 0, 2, 0, 0},
    {SYS_readlinkat, 0, 0, 3, 0, 0},
    {SYS_getxattr, 0, 0, 3, 0, 0},
    {SYS_lgetxattr, 0, 0, 3, 0, 0},
    {SYS_fgetxattr, 0, 0, 3, 0, 0},
    {SYS_listxattr, 0, 0, 2, 0, 0},
    {SYS_llistxattr, 0, 0, 2, 0, 0},
    {SYS_flistxattr, 0, 0, 2, 0, 0},
    {SYS_getcwd, 0, 0, 1, 0, 0},
    {SYS_getpid, 0, 0, 0, 0, 0},
    {SYS_gettid, 0, 0, 0, 0, 0},
    {SYS_getppid, 0, 0, 0, 0, 0},
    {SYS_getuid, 0, 0, 0, 0, 0},
    {SYS_geteuid, 0, 0, 0, 0, 0},
    {SYS_getgid, 0, 0, 0, 0, 0},
    {SYS_getegid, 0, 0, 0, 0, 0},
    {SYS_getpgrp, 0, 0, 0, 0, 0},
    {SYS_getpgid, 0, 0, 0, 0, 0},
    {SYS_getsid, 0, 0, 0, 0, 0},
    {SYS_clock_gettime, 0, 0, 0, LZ_RULE_CLOCK, 0},
    {SYS_clock_getres, 0, 0, 0, 0, 0},
    {SYS_gettimeofday, 0, 0, 0, LZ_RULE_CLOCK, 0},
    {SYS_time, 0, 0, 0, LZ_RULE_CLOCK, 0},
    {SYS_times, 0, 0, 0, 0, 0},
    {SYS_getrusage, 0, 0, 0, 0, 0},
    {SYS_getrlimit, 0, 0, 0, 0, 0},
    {SYS_prlimit64, 0, 0, 0, LZ_RULE_PRLIMIT, 0},
    {SYS_set_robust_list, 0, 0, 0, 0, 0},
    {SYS_set_tid_address, 0, 0, 0, 0, 0},
    {SYS_sysinfo, 0, 0, 0, 0, 0},
    {SYS_uname, 0, 0, 0, 0, 0},
    {SYS_sched_yield, 0, 0, 0, 0, 0},
    {SYS_getcpu, 0, 0, 0, 0, 0},
    {SYS_getrandom, 0, 0, 1, 0, 0},
    {SYS_unlink, 0, 0, 0, 0, 0},
    {SYS_unlinkat, 0, 0, 0, 0, 0},
    {SYS_mkdir, 0, 0, 0, 0, 0},
    {SYS_mkdirat, 0, 0, 0, 0, 0},
    {SYS_rmdir, 0, 0, 0, 0, 0},
    {SYS_rename, 0, 0, 0, 0, 0},
    {SYS_renameat, 0, 0, 0, 0, 0},
    {SYS_renameat2, 0, 0, 0, 0, 0},
    {SYS_link, 0, 0, 0, 0, 0},
    {SYS_linkat, 0, 0, 0, 0, 0},
    {SYS_symlink, 0, 0, 0, 0, 0},
    {SYS_symlinkat, 0, 0, 0, 0, 0},
    {SYS_chmod, 0, 0, 0, 0, 0},
    {SYS_fchmod, 0, 0, 0, 0, 0},
    {SYS_fchmodat, 0, 0, 0, 0, 0},
    {SYS_chown, 0, 0, 0, 0, 0},
    {SYS_fchown, 0, 0, 0, 0, 0},
    {SYS_lchown, 0, 0, 0, 0, 0},
    {SYS_fchownat, 0, 0, 0, 0, 0},
    {SYS_utimensat, 0, 0, 0, 0, 0},
    {SYS_umask, 0, 0, 0, 0, 0},
    {SYS_chdir, 0, 0, 0, 0, 0},
    {SYS_fchdir, 0, 0, 0, 0, 0},
    {SYS_readv, LZ_FD_READ, 0, 0, 0, LZ_TRY_READV},
    {SYS_preadv, LZ_FD_READ, 0, 0, 0, LZ_TRY_PREADV},
    {SYS_preadv2, LZ_FD_READ, 0, 0, 0, LZ_TRY_PREADV},
    {SYS_writev, LZ_FD_WRITE, 0, 0, 0, LZ_TRY_WRITEV},
    {SYS_recvfrom, 0, 0, 0, 0, LZ_TRY_RECVFROM},
    {SYS_recvmsg, 0, 0, 0, 0, LZ_TRY_RECVMSG},
    {SYS_sendto, 0, 0, 0, 0, LZ_TRY_SENDTO},
    {SYS_sendmsg, 0, 0, 0, 0, LZ_TRY_SENDMSG},
    {SYS_accept, 0, 0, 0, 0, LZ_TRY_ACCEPT},
    {SYS_accept4, 0, 0, 0, 0, LZ_TRY_ACCEPT},
    {SYS_connect, 0, 0, 0, 0, LZ_TRY_CONNECT},
    {SYS_sendfile, LZ_FD_WRITE, 0, 0, 0, LZ_TRY_SENDFILE},
    {SYS_poll, 0, 0, 0, 0, LZ_TRY_POLL},
    {SYS_ppoll, 0, 0, 0, 0, LZ_TRY_PPOLL},
    {SYS_select, 0, 0, 0, 0, LZ_TRY_SELECT},
    {SYS_pselect6, 0, 0, 0, 0, LZ_TRY_PSELECT},
    {SYS_epoll_wait, 0, 0, 0, 0, LZ_TRY_EPOLL},
    {SYS_epoll_pwait, 0, 0, 0, 0, LZ_TRY_EPOLL},
    {SYS_epoll_pwait2, 0, 0, 0, 0, LZ_TRY_EPOLL},
    {SYS_futex, 0, 0, 0, 0, LZ_TRY_FUTEX},
    {SYS_nanosleep, 0, 0, 0, 0, LZ_TRY_SLEEP},
    {SYS_clock_nanosleep, 0, 0, 0, 0, LZ_TRY_SLEEP},
    {SYS_wait4, 0, 0, 0, 0, LZ_TRY_WAIT4},
    {SYS_waitid, 0, 0, 0, 0, LZ_TRY_WAITID},
};
enum { N_FAST = sizeof(fast) / sizeof(*fast) };

/* Asked several times for each call. */
static int row_of(uint64_t nr)
{
	static uint8_t behind[LZ_FAST_CALLS]; /* 1 + the row; 0: none */

	_Static_assert(N_FAST < UINT8_MAX, "a row's number is a byte");
	for (unsigned i = 0; !behind[fast[0].nr] && i < N_FAST; i++)
		behind[fast[N_FAST - 1 - i].nr] = (uint8_t)(N_FAST - i);
	return nr < LZ_FAST_CALLS ? behind[nr] - 1 : -1;
}

bool lz_fast_may(uint64_t nr)
{
	return row_of(nr) >= 0;
}

uint8_t lz_fast_rule(uint64_t nr)
{
	const int i = row_of(nr);

	return i < 0 ? LZ_RULE_NONE : fast[i].rule;
}

uint8_t lz_fast_try(uint64_t nr)
{
	const int i = row_of(nr);

	return i < 0 ? LZ_TRY_NONE : fast[i].try;
}

static bool is_good(const struct lz_tracer *t, uint64_t fd, int row)
{
	const struct lz_call_page *page = t->fast.page;
	const uint8_t known = page && fd < LZ_FAST_FDS ? page->fd[fd] : 0;
	const bool tried = fast[row].try && (!page || page->tries);

	if (!page || (tried && !lz_try_of_kind(fast[row].try)))
		return true;
	if (tried && lz_kind_of(known))
		return true;
	if (lz_only_tried(fast[row].try))
		return tried && known & fast[row].fd;
	return !fast[row].fd || known & fast[row].fd;
}

bool lz_fast_never(uint64_t nr, const uint64_t *args)
{
	const int i = row_of(nr);

	return i < 0 || !lz_fast_allows(fast[i].rule, args);
}

bool lz_fast_could(const struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;
	const bool mark = lz_is_mark(c->nr, c->args);
	const int i = c->forced && !mark ? -1 : row_of(c->nr);

	if (i < 0 || (lz_changes_maps(fast[i].rule) && !lz_fast_maps_could(t, fast[i].rule)))
		return false;
	return lz_fast_allows(fast[i].rule, c->args) && (mark || is_good(t, c->args[0], i));
}

/* Its length is an argument, which the rule knows. */
static bool is_mask(const struct lz_fast_call *c, const struct lz_sys_out *o)
{
	return o->kind == LZ_OUT_LEN && c->rule == LZ_RULE_MASK;
}

/* What the table of all calls says of its output; false: more than the stub can do. */
static bool add_outs(struct lz_fast_call *c, const struct lz_syscall *row)
{
	for (int i = 0; i < LZ_SYS_OUTS && row->out[i].kind; i++) {
		const struct lz_sys_out *o = &row->out[i];

		if (o->kind == LZ_OUT_SPECIAL && c->rule)
			continue;
		if (c->n_outs == LZ_FAST_OUTS || o->always ||
		    (o->kind != LZ_OUT_FIX && o->kind != LZ_OUT_RET && !is_mask(c, o)) ||
		    (o->kind == LZ_OUT_RET && o->b != c->most))
			return false;
		c->out[c->n_outs].arg = o->a;
		c->out[c->n_outs++].size = o->kind == LZ_OUT_FIX   ? o->size
		                           : o->kind == LZ_OUT_LEN ? LZ_MASK_LEN
		                                                   : 0;
	}
	return true;
}

void lz_fast_calls(struct lz_call_page *page)
{
	for (unsigned i = 0; i < N_FAST; i++) {
		const struct lz_syscall *row = lz_syscall(fast[i].nr);
		struct lz_fast_call c = {.fd = fast[i].fd,
		                         .rule = fast[i].rule,
		                         .try = fast[i].try,
		                         .takes = fast[i].takes,
		                         .most = fast[i].most};

		/* what is only tried has its output in pieces */
		c.may = row && (lz_only_tried(c.try) || add_outs(&c, row));
		page->call[fast[i].nr] = c;
	}
	page->tries = page->asks = page->may_map = 1;
}

void lz_fast_filter(struct lz_tracer *t)
{
	static const uint16_t by_tries[] = {SYS_preadv2, SYS_pwritev2,   SYS_fcntl,
	                                    SYS_poll,    SYS_epoll_wait, SYS_select};
	static const uint16_t by_waits[] = {SYS_ppoll, SYS_pselect6, SYS_getsockopt};
	struct lz_call_page *page = t->fast.page;

	for (unsigned k = 0; k < sizeof(by_waits) / sizeof(*by_waits); k++)
		for (size_t i = 0; i < t->n_threads; i++)
			t->fast.no_waits |= !lz_thread_may_call(t->thread[i], by_waits[k]);
	for (unsigned k = 0; page && k < sizeof(by_tries) / sizeof(*by_tries); k++)
		for (size_t i = 0; page->tries && i < t->n_threads; i++)
			page->tries = lz_thread_may_call(t->thread[i], by_tries[k]);
	for (size_t i = 0; page && page->may_map && i < t->n_threads; i++)
		page->may_map = lz_thread_may_call(t->thread[i], SYS_fstat) &&
		                lz_thread_may_call(t->thread[i], SYS_pread64);
	for (size_t i = 0; page && page->asks && i < t->n_threads; i++)
		page->asks = lz_thread_may_call(t->thread[i], SYS_getsockopt);
	for (uint32_t nr = 0; page && nr < LZ_FAST_CALLS; nr++)
		for (size_t i = 0; page->call[nr].may && i < t->n_threads; i++)
			page->call[nr].may = lz_thread_may_call(t->thread[i], nr);
}
