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
	static const uint8_t armed = LZ_RAND_ARMED;
	struct place *p = arg;
	struct lz_random *rnd = &p->t->random;

	if (!(e->prot & PROT_EXEC) || e->inode != p->exe.st_ino)
		return 0;
	for (size_t i = 0; i < p->n; i++) {
		uint64_t at = e->start + (p->sites[i] - e->offset);

		if (p->sites[i] < e->offset || p->sites[i] - e->offset >= e->end - e->start)
			continue;
		if (lz_proc_write(&p->t->p, at, &armed, 1) < 0)
			return -1;
		rnd->at[rnd->n++] = at;
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

	lz_random_forget(t);
	if (!can_do_both())
		return 0;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)t->p.pid);
	if (stat(exe, &p.exe) < 0)
		return lz_fail_errno("%s", exe);
	ret = lz_rand_find(exe, &sites, &p.n);
	if (ret < 0)
		lz_debug("rdrand is hidden: %s", lz_error());
	if (ret || !p.n)
		return 0;
	p.sites = sites;
	t->random.at = calloc(p.n, sizeof(*t->random.at));
	ret = t->random.at ? lz_proc_maps(t->p.pid, arm_mapping, &p) : lz_fail("out of memory");
	free(sites);
	return ret < 0 ? -1 : 0;
}

bool lz_random_known(const struct lz_tracer *t, uint64_t ip)
{
	return ip >= t->random.start && ip < t->random.end;
}

int lz_random_release(const struct lz_tracer *t, const struct lz_proc *p)
{
	static const uint8_t original = LZ_RAND_OPCODE;

	for (size_t i = 0; i < t->random.n; i++)
		if (lz_proc_write(p, t->random.at[i], &original, 1) < 0)
			return -1;
	return 0;
}

void lz_random_forget(struct lz_tracer *t)
{
	free(t->random.at);
	t->random = (struct lz_random){0};
}
