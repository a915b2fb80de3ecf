/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock for Lizard's own use, and doing without the time-stamp counter.
 *
 * The program may not read the counter (rdtsc is trapped: prctl PR_SET_TSC). The processor keeps
 * that in CR4, which the kernel writes at each switch between a thread that may and one that may
 * not. In a virtual machine on AMD's processors each such write is left to the hypervisor (KVM,
 * svm.c: INTERCEPT_CR4_WRITE): 6 us, twice for each stop. So the thread that takes the stops does
 * without the counter, too. */
#ifndef LIZARD_CLOCK_H
#define LIZARD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC in ns, by a system call: the vDSO reads the counter. */
uint64_t lz_now(void);

/* Whether the calling thread may read the counter; returns whether it could before. If it reads it
 * although it may not (a library does), it may from then on. What it starts inherits this, and a
 * program that begins without the counter dies in its dynamic linker: nothing is executed
 * (posix_spawn, popen, system) but with the counter allowed. lz_thread_start() sees to that for
 * threads. */
bool lz_counter_allow(bool allow);

#endif
