/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/front/diversion_calls.h"
#include <common/process/guard.h>
#include <lizard/sysfake.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- memory ---- */

/* None of those that take memory at once, or that of another kind. */
enum {
	MAP_TAKEN = MAP_PRIVATE | MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE |
	            MAP_NORESERVE | MAP_GROWSDOWN | MAP_STACK | MAP_32BIT,
	REMAP_TAKEN = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP
};

/* The list of mappings: a breakpoint may be wanted there, or a look at memory. */
static int follow(struct lz_engine *e, const struct user_regs_struct *r, int64_t result)
{
	struct lz_map_op op = {.addr = r->rdi, .len = r->rsi, .prot = r->rdx, .file = LZ_NO_FILE};

	switch (r->orig_rax) {
	case SYS_mmap:
		op.op = LZ_MAP;
		op.addr = (uint64_t)result;
		op.flags = r->r10 & MAP_TAKEN;
		break;
	case SYS_mremap:
		op = (struct lz_map_op){.op = LZ_REMAP,
		                        .addr = (uint64_t)result,
		                        .len = r->rdx,
		                        .old_addr = r->rdi,
		                        .old_len = r->rsi,
		                        .flags = r->r10 & MREMAP_DONTUNMAP};
		break;
	case SYS_munmap: op.op = LZ_UNMAP; break;
	case SYS_mprotect: op.op = LZ_PROTECT; break;
	default: return 1;
	}
	return lz_space_apply(&e->space, &op) < 0 ? -1 : 1;
}

/* Refused as by a kernel that has no room there. */
static bool at_stub(const struct lz_engine *e, uint64_t addr, uint64_t len)
{
	return lz_guard_range(&e->proc, addr, len) < 0;
}

static int do_call(struct lz_engine *e, const struct user_regs_struct *r, int64_t *result,
                   uint64_t flags)
{
	bool map = r->orig_rax == SYS_mmap;

	*result = 0;
	if (lz_proc_syscall(&e->proc, result, r->orig_rax, r->rdi, r->rsi, r->rdx, flags,
	                    map ? UINT64_MAX : r->r8, 0) < 0)
		return -1;
	return *result < 0 && *result > -4096 ? 1 : follow(e, r, *result);
}

static int refuse(int64_t *result)
{
	*result = -ENOMEM;
	return 1;
}

static int do_map(struct lz_engine *e, const struct user_regs_struct *r, int64_t *result)
{
	if (!(r->r10 & MAP_ANONYMOUS))
		return 0;
	if (r->r10 & (MAP_FIXED | MAP_FIXED_NOREPLACE) && at_stub(e, r->rdi, r->rsi))
		return refuse(result);
	return do_call(e, r, result, r->r10 & MAP_TAKEN);
}

static int do_remap(struct lz_engine *e, const struct user_regs_struct *r, int64_t *result)
{
	if (at_stub(e, r->rdi, r->rsi ? r->rsi : LZ_PAGE) ||
	    (r->r10 & MREMAP_FIXED && at_stub(e, r->r8, r->rdx)))
		return refuse(result);
	return do_call(e, r, result, r->r10 & REMAP_TAKEN);
}

static int do_range(struct lz_engine *e, const struct user_regs_struct *r, int64_t *result)
{
	if (at_stub(e, r->rdi, r->rsi))
		return refuse(result);
	return do_call(e, r, result, 0);
}

/* Other advice is only about speed, or the machine's. */
static int do_advise(struct lz_engine *e, const struct user_regs_struct *r, int64_t *result)
{
	*result = 0;
	return r->rdx == MADV_DONTNEED ? do_range(e, r, result) : 1;
}

/* ---- questions ---- */

/* RC: what the replayer was told, N bytes of which are in FROM. */
static int64_t give(struct lz_engine *e, int64_t rc, uint64_t to, const void *from, size_t n)
{
	if (rc < 0)
		return -errno;
	return to && lz_proc_write(&e->proc, to, from, n) < 0 ? -EFAULT : rc;
}

static int64_t tell_clock(struct lz_engine *e, const struct user_regs_struct *r)
{
	struct timespec t;
	clockid_t clock = (clockid_t)r->rdi;

	/* others name a process or a descriptor of the replayer's */
	if (clock < CLOCK_REALTIME || clock > CLOCK_TAI)
		return -EINVAL;
	int rc =
	    r->orig_rax == SYS_clock_getres ? clock_getres(clock, &t) : clock_gettime(clock, &t);
	return give(e, rc, r->rsi, &t, sizeof t);
}

static int64_t tell_time(struct lz_engine *e, const struct user_regs_struct *r)
{
	struct timeval now;
	struct tms used;
	time_t t = time(NULL);

	switch (r->orig_rax) {
	case SYS_time: return give(e, t, r->rdi, &t, sizeof t);
	case SYS_gettimeofday: return give(e, gettimeofday(&now, NULL), r->rdi, &now, sizeof now);
	default: return give(e, times(&used), r->rdi, &used, sizeof used);
	}
}

static int64_t tell_machine(struct lz_engine *e, const struct user_regs_struct *r)
{
	struct utsname names;
	struct sysinfo info;
	struct rusage usage;

	switch (r->orig_rax) {
	case SYS_uname: return give(e, uname(&names), r->rdi, &names, sizeof names);
	case SYS_sysinfo: return give(e, sysinfo(&info), r->rdi, &info, sizeof info);
	default: return give(e, getrusage((int)r->rdi, &usage), r->rsi, &usage, sizeof usage);
	}
}

static int64_t tell_random(struct lz_engine *e, const struct user_regs_struct *r)
{
	uint8_t bytes[256];
	size_t n = r->rsi < sizeof bytes ? r->rsi : sizeof bytes;

	return give(e, getrandom(bytes, n, GRND_NONBLOCK), r->rdi, bytes, n);
}

int lz_diversion_call(struct lz_engine *e, const struct user_regs_struct *r, int64_t *result)
{
	switch (r->orig_rax) {
	case SYS_mmap: return do_map(e, r, result);
	case SYS_mremap: return do_remap(e, r, result);
	case SYS_munmap:
	case SYS_mprotect: return do_range(e, r, result);
	case SYS_madvise: return do_advise(e, r, result);
	case SYS_getpid:
	case SYS_gettid: *result = e->proc.pid; break;
	case SYS_getppid: *result = getpid(); break;
	case SYS_getuid: *result = getuid(); break;
	case SYS_geteuid: *result = geteuid(); break;
	case SYS_getgid: *result = getgid(); break;
	case SYS_getegid: *result = getegid(); break;
	case SYS_sched_yield: *result = 0; break;
	case SYS_clock_gettime:
	case SYS_clock_getres: *result = tell_clock(e, r); break;
	case SYS_time:
	case SYS_gettimeofday:
	case SYS_times: *result = tell_time(e, r); break;
	case SYS_uname:
	case SYS_sysinfo:
	case SYS_getrusage: *result = tell_machine(e, r); break;
	case SYS_getrandom: *result = tell_random(e, r); break;
	default: return 0;
	}
	return 1;
}
