/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes by their id, recorded or not. */
#ifndef LIZARD_TRACER_PROCESS_H
#define LIZARD_TRACER_PROCESS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lz_tracer;
struct lz_proc;

struct lz_process_status {
	char state;    /* as in /proc/PID/status, 0: there is no such process */
	pid_t tracer;  /* 0: nobody */
	pid_t own_pid; /* in its own PID namespace */
	uint64_t blocked;
};

struct lz_process_status lz_process_status(pid_t pid);
/* Does it wait between two tracers? */
bool lz_is_parked(pid_t pid);
/* Attaches to it, with the options that recording needs. */
int lz_seize(pid_t pid);
/* The CPUs that Lizard was given, without the program's if there are others. */
void lz_other_cpus(const struct lz_tracer *t, cpu_set_t *cpus);

/* Where C has room for what calls that are made for us read; 0: nowhere. */
uint64_t lz_scratch(const struct lz_tracer *t, struct lz_proc *c);

#endif
