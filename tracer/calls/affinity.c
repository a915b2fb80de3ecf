/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPUs that the program believes it has: it stays on the tracer's one, and is told one of
 * them. */
#include "tracer/calls/calls.h"
#include "tracer/state/state.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int64_t lz_affinity_set(struct lz_tracer *t)
{
	cpu_set_t wanted, both;
	uint64_t n = t->cur->call.args[1];

	CPU_ZERO(&wanted);
	if (n > sizeof(wanted))
		n = sizeof(wanted);
	if (lz_proc_read_some(&t->p, t->cur->call.args[2], &wanted, n) != n)
		return -EFAULT;
	CPU_AND(&both, &t->borrowed.given, &wanted);
	if (CPU_COUNT(&both) == 0)
		return -EINVAL;
	t->borrowed.affinity = both;
	lz_cpu_choose(t);
	return 0;
}

/* -1: not known. */
static int node_of(int cpu)
{
	char path[64];
	struct dirent *e;
	int node = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	unsigned here, node_here;

	if (syscall(SYS_getcpu, &here, &node_here, NULL) == 0 && here == (unsigned)cpu)
		return (int)node_here;
	DIR *d = opendir(path);
	while (d && node < 0 && (e = readdir(d)))
		if (sscanf(e->d_name, "node%d", &node) != 1)
			node = -1;
	if (d)
		closedir(d);
	return node;
}

void lz_cpu_choose(struct lz_tracer *t)
{
	struct lz_borrowed *b = &t->borrowed;
	int cpu = b->home;

	for (int i = 0; !CPU_ISSET(cpu, &b->affinity) && i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &b->affinity))
			cpu = i;
	const int node = node_of(cpu);
	b->told_cpu = (uint32_t)cpu;
	b->told_node = node < 0 ? 0 : (uint32_t)node;
}

int lz_cpu_show(struct lz_tracer *t, int64_t result)
{
	const uint64_t *a = t->cur->call.args;

	if (result != 0)
		return 0;
	if (a[0] && lz_proc_write(&t->p, a[0], &t->borrowed.told_cpu, 4) < 0)
		return -1;
	return a[1] ? lz_proc_write(&t->p, a[1], &t->borrowed.told_node, 4) : 0;
}

int lz_affinity_show(struct lz_tracer *t, int64_t result)
{
	uint64_t pid = t->cur->call.args[0], n = (uint64_t)result;

	if (result <= 0 || (pid && !lz_thread_named(t, (pid_t)pid)))
		return 0;
	if (n > sizeof(cpu_set_t))
		n = sizeof(cpu_set_t);
	return lz_proc_write(&t->p, t->cur->call.args[2], &t->borrowed.affinity, n);
}
