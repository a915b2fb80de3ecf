/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of watch-calls. */
#ifndef LIZARD_TESTS_FORGE_WATCH_H
#define LIZARD_TESTS_FORGE_WATCH_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The range of the stub in the replayed process. */
struct stub {
	uint64_t addr, len;
};

/* Starts ARGV under a filter that all it starts inherits. *LISTENER: where it asks about calls. */
pid_t watch_start(char **argv, const struct stub *stub, int *listener);
/* Why a call that the listener was asked about may not be made; NULL: it may. */
const char *watch_judge(const struct seccomp_notif *n, const struct stub *stub);

/* Calls FN for each process below this one that has not ended. How many there are. */
int watch_each_below(void (*fn)(void *arg, pid_t pid), void *arg);
/* CPU time that those and their dead have used, in ms. *BUSY: one of them could use more. */
uint64_t watch_cpu_ms(bool *busy);

#endif
