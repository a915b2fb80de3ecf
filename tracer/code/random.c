/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arms rdrand and rdseed: the program's own, and libraries' where they cannot be hidden. See
 * lizard/randinsn.h. */
#include "tracer/code/code.h"
#include "tracer/memory/objects.h"

#include <cpuid.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The code in which all rdrand and rdseed are armed: it may know of them. */
static struct known_code {
	uint64_t start, end;
} known;

/* They are done by the tracer. */
static bool ask_for_both(void)
{
	uint32_t highest[4], one[4], seven[4];

	lz_cpuid_ask(0, 0, highest);
	if (highest[0] < 7)
		return false;
	lz_cpuid_ask(1, 0, one);
	lz_cpuid_ask(7, 0, seven);
	return one[2] & bit_RDRND && seven[1] & bit_RDSEED;
}

/* In a virtual machine cpuid may take 10 us. */
static bool can_do_both(void)
{
	static int can;

	if (!can)
		can = ask_for_both() ? 1 : -1;
	return can > 0;
}

int lz_random_mapped(struct lz_tracer *t, const struct lz_vma *v, bool logged)
{
	const uint64_t *sites;
	size_t n;

	if (t->cpuid_faults || !(v->prot & PROT_EXEC) || v->flags & MAP_SHARED ||
	    v->file == LZ_NO_FILE || !can_do_both())
		return 0;
	if (lz_writer_file_insns(t->w, v->file, LZ_INSNS_RANDOM, &sites, &n)) {
		lz_debug("rdrand is not known in the code at %#" PRIx64, v->start);
		return 0;
	}
	return lz_armed_sites(t, LZ_ARMED_INSN, sites, n, v, logged) < 0 ? -1 : 0;
}

/* The part of the program that this mapping shows. */
static int arm_program(struct lz_tracer *t, const struct lz_vma *v)
{
	const uint64_t *sites;
	size_t n;
	int ret = lz_writer_file_insns(t->w, v->file, LZ_INSNS_RANDOM, &sites, &n);

	if (ret < 0)
		lz_debug("rdrand is not known: %s", lz_error());
	if (ret && t->cpuid_told)
		lz_warn(
		    "the program may have rdrand or rdseed in code without unwind rules, and this "
		    "processor cannot hide them: replay will draw other numbers there");
	ret = ret ? 0 : lz_armed_sites(t, LZ_ARMED_INSN, sites, n, v, false);
	if (ret > 0)
		known = (struct known_code){v->start, v->end};
	return ret < 0 ? -1 : 0;
}

int lz_random_arm(struct lz_tracer *t)
{
	struct stat exe;
	char link[64];
	int ret = 0;

	known = (struct known_code){0};
	if (!can_do_both())
		return 0;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)t->p.pid);
	if (stat(link, &exe) < 0)
		return lz_fail_errno("%s", link);
	for (size_t i = 0; ret == 0 && i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		const struct lz_object *o = lz_object(t, t->vmas.a[i].object);

		if (!(v->prot & PROT_EXEC) || v->file == LZ_NO_FILE || !o)
			continue;
		ret = o->ino == exe.st_ino && o->dev == exe.st_dev ? arm_program(t, v)
		                                                   : lz_random_mapped(t, v, false);
	}
	return ret;
}

bool lz_random_known(uint64_t ip)
{
	return ip >= known.start && ip < known.end;
}
