/* Arms the program's own rdrand and rdseed: see lizard/randinsn.h. */
#include "tracer/tracer.h"

#include <cpuid.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct place {
	struct lz_tracer *t;
	struct stat exe;
	const uint64_t *sites; /* file offsets */
	size_t n;
};

/* The part of the program that this mapping shows. */
static int arm_mapping(void *arg, const struct lz_maps_entry *e)
{
	struct place *p = arg;
	struct lz_random *rnd = &p->t->random;

	if (!(e->prot & PROT_EXEC) || e->inode != p->exe.st_ino)
		return 0;
	for (size_t i = 0; i < p->n; i++) {
		uint64_t at = e->start + (p->sites[i] - e->offset);

		if (p->sites[i] < e->offset || p->sites[i] - e->offset >= e->end - e->start)
			continue;
		if (lz_armed_add(p->t, at) < 0)
			return -1;
		rnd->start = e->start;
		rnd->end = e->end;
	}
	return 0;
}

/* They are done by the tracer. */
static bool can_do_both(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_RDRND &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_RDSEED;
}

int lz_random_arm(struct lz_tracer *t)
{
	struct place p = {.t = t};
	uint64_t *sites = NULL;
	char exe[64];
	int ret;

	t->random = (struct lz_random){0};
	if (!can_do_both())
		return 0;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)t->p.pid);
	if (stat(exe, &p.exe) < 0)
		return lz_fail_errno("%s", exe);
	ret = lz_rand_find(exe, &sites, &p.n);
	if (ret < 0)
		lz_debug("rdrand is not known: %s", lz_error());
	if (ret && !t->cpuid_faults)
		lz_warn(
		    "the program may have rdrand or rdseed in code without unwind rules, and this "
		    "processor cannot hide them: replay will draw other numbers there");
	if (ret || !p.n)
		return 0;
	p.sites = sites;
	ret = lz_proc_maps(t->p.pid, arm_mapping, &p);
	free(sites);
	return ret < 0 ? -1 : 0;
}

bool lz_random_known(const struct lz_tracer *t, uint64_t ip)
{
	return ip >= t->random.start && ip < t->random.end;
}
