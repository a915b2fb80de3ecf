/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system calls that a replayed process makes for real: all that lz_proc_syscall() is asked for.
 * A row is one kind of call; with a mask, the argument must have that value under it. */
#ifndef LIZARD_TESTS_FORGE_CALLS_H
#define LIZARD_TESTS_FORGE_CALLS_H

#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Where the stub's code is before it is moved, and where it goes if no place is reserved. */
enum { STUB_FIRST = 0x400000, STUB_ELSEWHERE = 0x70000000 };

struct call_row {
	int nr, arg;
	uint64_t mask, value;
};

/* Calls that the process makes by itself, from an instruction of their own: memory without a file, which is
 * not executed. */
enum { OWN_INSN = 8, OWN_FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE };

#define WHOLE UINT64_MAX

static const struct call_row replay_calls[] = {
    {SYS_mmap, 3, MAP_FIXED, MAP_FIXED},
    /* what answers calls, where the program has nothing */
    {SYS_mmap, 3, MAP_FIXED_NOREPLACE, MAP_FIXED_NOREPLACE},
    {SYS_munmap, 0, 0, 0},
    {SYS_mprotect, 0, 0, 0},
    {SYS_mremap, 0, 0, 0},
    {SYS_madvise, 2, WHOLE, MADV_DONTNEED},
    {SYS_prctl, 0, WHOLE, PR_SET_TSC},
    {SYS_prctl, 0, WHOLE, PR_SET_SYSCALL_USER_DISPATCH},
    {SYS_arch_prctl, 0, WHOLE, 0x1012}, /* ARCH_SET_CPUID */
    {SYS_clone, 0, WHOLE, CLONE_PARENT | SIGCHLD},
    {SYS_dup2, 0, 0, 0},
    {SYS_close, 0, 0, 0},
    /* copies of files, and memory that is mapped more than once: sent over the socket with this number */
    {SYS_recvmsg, 0, WHOLE, 3},
    /* while it is set up; from then on its filter kills it for these */
    {SYS_prctl, 0, WHOLE, PR_SET_NO_NEW_PRIVS},
    {SYS_seccomp, 0, WHOLE, SECCOMP_SET_MODE_FILTER},
};

#endif
