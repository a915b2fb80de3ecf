/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arms rdrand and rdseed: the program's own, and libraries' where they cannot be hidden. See
 * lizard/randinsn.h. */
#include "tracer/code/code.h"
#include "tracer/log/log.h"

#include <cpuid.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The code in which all rdrand and rdseed are armed: it may know of them. */
static struct known_code {
	uint64_t start, end;
} known;

struct place {
	struct lz_tracer *t;
	struct stat exe;
	const uint64_t *sites; /* file offsets */
	size_t n;
};

static struct lz_vma vma_of(const struct lz_maps_entry *e)
{
	return (struct lz_vma){.start = e->start, .end = e->end, .offset = e->offset};
}

/* The part of the program that this mapping shows. */
static int arm_program(void *arg, const struct lz_maps_entry *e)
{
	struct place *p = arg;
	struct lz_vma v = vma_of(e);

	if (!(e->prot & PROT_EXEC) || e->inode != p->exe.st_ino)
		return 0;
	int n = lz_armed_sites(p->t, LZ_ARMED_INSN, p->sites, p->n, &v, false);
	if (n > 0)
		known = (struct known_code){e->start, e->end};
	return n < 0 ? -1 : 0;
}

/* They are done by the tracer. */
static bool can_do_both(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_RDRND &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_RDSEED;
}

int lz_random_mapped(struct lz_tracer *t, const char *path, const struct lz_vma *v, bool logged)
{
	uint64_t *sites;
	size_t n;
	int ret;

	if (t->cpuid_faults || !(v->prot & PROT_EXEC) || v->flags & MAP_SHARED || !can_do_both())
		return 0;
	ret = lz_rand_find(path, &sites, &n);
	if (ret)
		lz_debug("rdrand is not known in %s", path);
	ret = ret ? 0 : lz_armed_sites(t, LZ_ARMED_INSN, sites, n, v, logged);
	free(sites);
	return ret < 0 ? -1 : 0;
}

/* In a forked process. */
static int arm_library(void *arg, const struct lz_maps_entry *e)
{
	struct place *p = arg;
	struct lz_vma v = vma_of(e);
	struct stat st;

	v.prot = e->prot;
	v.flags = e->shared ? MAP_SHARED : MAP_PRIVATE;
	if (!e->inode || e->inode == p->exe.st_ino || stat(e->path, &st) < 0 ||
	    st.st_ino != e->inode)
		return 0;
	return lz_random_mapped(p->t, e->path, &v, false);
}

int lz_random_arm(struct lz_tracer *t)
{
	struct place p = {.t = t};
	uint64_t *sites = NULL;
	char exe[64];
	int ret;

	known = (struct known_code){0};
	if (!can_do_both())
		return 0;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)t->p.pid);
	if (stat(exe, &p.exe) < 0)
		return lz_fail_errno("%s", exe);
	if (lz_proc_maps(t->p.pid, arm_library, &p) < 0)
		return -1;
	ret = lz_rand_find(exe, &sites, &p.n);
	if (ret < 0)
		lz_debug("rdrand is not known: %s", lz_error());
	if (ret && t->cpuid_told)
		lz_warn(
		    "the program may have rdrand or rdseed in code without unwind rules, and this "
		    "processor cannot hide them: replay will draw other numbers there");
	if (ret || !p.n)
		return 0;
	p.sites = sites;
	ret = lz_proc_maps(t->p.pid, arm_program, &p);
	free(sites);
	return ret < 0 ? -1 : 0;
}

bool lz_random_known(uint64_t ip)
{
	return ip >= known.start && ip < known.end;
}
