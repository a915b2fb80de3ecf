/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arms cpuid where the processor cannot trap it: lizard/randinsn.h. */
#include "tracer/code/code.h"
#include "tracer/state/pair.h"

#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <stdlib.h>
#include <sys/mman.h>

int lz_cpuid_mapped(struct lz_tracer *t, const char *path, const struct lz_vma *v, bool logged)
{
	uint64_t *sites = NULL;
	size_t n = 0;
	int ret;

	if (t->cpuid_faults || !(v->prot & PROT_EXEC))
		return 0;
	ret = path && !(v->flags & MAP_SHARED) ? lz_cpuid_find(path, &sites, &n) : 1;
	if (ret) {
		lz_debug("cpuid is not known in %s", path ? path : "memory without a file");
		lz_pair_told(t);
	}
	ret = ret ? 0 : lz_armed_sites(t, LZ_ARMED_CPUID, sites, n, v, logged);
	free(sites);
	return ret < 0 ? -1 : 0;
}

static int arm(void *arg, const struct lz_maps_entry *e)
{
	struct lz_tracer *t = arg;
	const struct lz_vma v = {.start = e->start,
	                         .end = e->end,
	                         .offset = e->offset,
	                         .prot = e->prot,
	                         .flags = e->shared ? MAP_SHARED : MAP_PRIVATE};

	if (e->start == t->meta.stub_addr || e->path[0] == '[')
		return 0;
	return lz_cpuid_mapped(t, e->inode ? e->path : NULL, &v, false);
}

int lz_cpuid_arm(struct lz_tracer *t)
{
	t->cpuid_told = false;
	return t->cpuid_faults ? 0 : lz_proc_maps(t->p.pid, arm, t);
}

bool lz_cpuid_does(const struct lz_tracer *t, uint64_t ip, const uint8_t *insn)
{
	if (insn[0] != 0x0f)
		return false;
	return insn[1] == LZ_CPUID_OPCODE ||
	       (insn[1] == LZ_CPUID_ARMED && lz_places_has(&t->armed.at[LZ_ARMED_CPUID], ip + 1));
}
