/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arms cpuid where the processor cannot trap it: lizard/randinsn.h. */
#include "tracer/code/code.h"
#include "tracer/state/pair.h"

#include <common/process/vdso.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <sys/mman.h>

int lz_cpuid_mapped(struct lz_tracer *t, const struct lz_vma *v, bool logged)
{
	bool private = v->file != LZ_NO_FILE && !(v->flags & MAP_SHARED);
	const uint64_t *sites;
	size_t n;

	if (t->cpuid_faults || !(v->prot & PROT_EXEC))
		return 0;
	if (!private || lz_writer_file_insns(t->w, v->file, LZ_INSNS_CPUID, &sites, &n)) {
		lz_debug("cpuid is not known in the code at %#" PRIx64, v->start);
		lz_pair_told(t);
		return 0;
	}
	return lz_armed_sites(t, LZ_ARMED_CPUID, sites, n, v, logged) < 0 ? -1 : 0;
}

int lz_cpuid_arm(struct lz_tracer *t)
{
	t->cpuid_told = false;
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;

		if (v->role != LZ_VMA_STACK && v->role != LZ_VMA_HEAP && !lz_vdso_is(&t->p, v) &&
		    lz_cpuid_mapped(t, v, false) < 0)
			return -1;
	}
	return 0;
}

bool lz_cpuid_does(const struct lz_tracer *t, uint64_t ip, const uint8_t *insn)
{
	if (insn[0] != 0x0f)
		return false;
	return insn[1] == LZ_CPUID_OPCODE ||
	       (insn[1] == LZ_CPUID_ARMED && lz_places_has(&t->armed.at[LZ_ARMED_CPUID], ip + 1));
}
