/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/guard.h>
#include <lizard/error.h>
#include <lizard/recording.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* Tests switch one wall off to see that the other one holds (tests/e2e/walls.t). */
#ifdef LIZARD_TEST_WITHOUT_GATE
enum { GATE = 0 };
#else
enum { GATE = 1 };
#endif

enum { SYSCALL_LEN = 2 };

static bool guarded(const struct lz_proc *p)
{
	return GATE && p->stub;
}

int lz_guard_range(const struct lz_proc *p, uint64_t addr, uint64_t len)
{
	uint64_t end;

	if (!guarded(p) || !len)
		return 0;
	/* the kernel rounds to whole pages, so a range ends where its last page does */
	if (__builtin_add_overflow(addr, len, &end) ||
	    __builtin_add_overflow(end, LZ_PAGE - 1, &end))
		return lz_fail(
		    "the range %#lx+%#lx does not exist: the recording is damaged or forged",
		    (unsigned long)addr, (unsigned long)len);
	if ((addr & ~(uint64_t)(LZ_PAGE - 1)) < p->stub->end &&
	    (end & ~(uint64_t)(LZ_PAGE - 1)) > p->stub->start)
		return lz_fail(
		    "the range %#lx+%#lx touches the replay stub at %#lx: the recording is "
		    "damaged or forged",
		    (unsigned long)addr, (unsigned long)len, (unsigned long)p->stub->start);
	return 0;
}

int lz_guard_call(const struct lz_proc *p, uint64_t nr, const uint64_t args[6])
{
	switch (nr) {
	case SYS_mmap:
		return args[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)
		           ? lz_guard_range(p, args[0], args[1])
		           : 0;
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_madvise: return lz_guard_range(p, args[0], args[1]);
	case SYS_mremap:
		/* with a length of 0 it makes a second mapping of what is there */
		if (lz_guard_range(p, args[0], args[1] ? args[1] : LZ_PAGE) < 0)
			return -1;
		return args[3] & MREMAP_FIXED ? lz_guard_range(p, args[4], args[2]) : 0;
	default: return 0;
	}
}

int lz_guard_entry(const struct lz_proc *p, const struct __ptrace_syscall_info *info, uint64_t nr,
                   const uint64_t args[6])
{
	if (!guarded(p))
		return 0;
	if (info->arch == AUDIT_ARCH_X86_64 &&
	    info->instruction_pointer == p->syscall_insn + SYSCALL_LEN && info->entry.nr == nr &&
	    memcmp(info->entry.args, args, sizeof info->entry.args) == 0)
		return 0;
	return lz_fail("the replayed process was about to make system call %lu by itself: the "
	               "recording is damaged or forged",
	               (unsigned long)info->entry.nr);
}
