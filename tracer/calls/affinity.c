/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPUs that the program believes it has: it stays on the tracer's one. */
#include "tracer/calls/calls.h"
#include "tracer/state/state.h"

#include <errno.h>
#include <sched.h>

int64_t lz_affinity_set(struct lz_tracer *t)
{
	cpu_set_t *mask = &t->borrowed.affinity, wanted, both;
	uint64_t n = t->cur->call.args[1];

	CPU_ZERO(&wanted);
	if (n > sizeof(wanted))
		n = sizeof(wanted);
	if (lz_proc_read_some(&t->p, t->cur->call.args[2], &wanted, n) != n)
		return -EFAULT;
	CPU_AND(&both, mask, &wanted);
	if (CPU_COUNT(&both) == 0)
		return -EINVAL;
	*mask = both;
	return 0;
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
