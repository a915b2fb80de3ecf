/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tracer and program on one CPU: a stop costs a twentieth of one across CPUs. */
#include "tracer/state/pair.h"
#include "tracer/state/tracer.h"

#include <dirent.h>
#include <lizard/error.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static void move_program(const struct lz_tracer *t, const cpu_set_t *cpus)
{
	char path[64];
	struct dirent *e;

	snprintf(path, sizeof path, "/proc/%u/task", t->tid);
	DIR *d = opendir(path);
	if (!d)
		return;
	while ((e = readdir(d)))
		if (atoi(e->d_name) > 0)
			sched_setaffinity(atoi(e->d_name), sizeof *cpus, cpus);
	closedir(d);
}

static void move(struct lz_tracer *t, int cpu)
{
	struct lz_borrowed *b = &t->borrowed;
	cpu_set_t one;

	lz_debug("the program moves from CPU %d to CPU %d", b->cpu, cpu);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	b->cpu = cpu;
	/* twice: for a thread that was born meanwhile */
	move_program(t, &one);
	move_program(t, &one);
	sched_setaffinity(b->tracer, sizeof one, &one);
}

void lz_pair_move(struct lz_tracer *t, int cpu)
{
	pthread_mutex_lock(&t->borrowed.moving);
	if (t->cpuid_faults || !t->cpuid_told)
		move(t, cpu);
	pthread_mutex_unlock(&t->borrowed.moving);
}

void lz_pair_told(struct lz_tracer *t)
{
	struct lz_borrowed *b = &t->borrowed;

	pthread_mutex_lock(&b->moving);
	t->cpuid_told = true;
	if (b->cpu != b->home)
		move(t, b->home);
	pthread_mutex_unlock(&b->moving);
}
