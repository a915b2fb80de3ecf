/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate to a replayed process: what belongs to Lizard in it stays as Lizard made it.
 *
 * lz_proc_write() and lz_proc_syscall() are the only ways by which anything is written into such a
 * process, or mapped, moved, protected or unmapped in it. Both ask here first, so an address out of
 * a recording never reaches the stub (p->stub). A process without a stub has no such range, and
 * everything passes. */
#ifndef LZ_COMMON_GUARD_H
#define LZ_COMMON_GUARD_H

#include <lizard/proc.h>

struct __ptrace_syscall_info;

/* May [ADDR, ADDR + LEN) be changed? -1: it touches the stub, or wraps; lz_error() says so. */
int lz_guard_range(const struct lz_proc *p, uint64_t addr, uint64_t len);
/* May system call NR with these arguments be made? Looks at the ranges that it changes. */
int lz_guard_call(const struct lz_proc *p, uint64_t nr, const uint64_t args[6]);
/* Is the call that the process is about to make the one that was put there, at the stub's own
 * instruction? -1: other code ran, and nothing more may be asked of this process. */
int lz_guard_entry(const struct lz_proc *p, const struct __ptrace_syscall_info *info, uint64_t nr,
                   const uint64_t args[6]);

#endif
