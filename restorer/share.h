/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is mapped more than once, in the replay process. */
#ifndef LIZARD_RESTORER_SHARE_H
#define LIZARD_RESTORER_SHARE_H

#include <lizard/proc.h>
#include <lizard/recording.h>

/* The stub's first page has its code, then the filter of system calls; the second one is for
 * give.h. The code is an instruction for injected calls, one for calls that the process makes itself,
 * which are those that return to at most LZ_STUB_MAP_INSN_LEN bytes behind it, and the byte that bars
 * all others. */
enum {
	LZ_STUB_MAP_INSN = 8,
	LZ_STUB_MAP_INSN_LEN = 3,
	LZ_STUB_BARRED_BYTE = 16,
	LZ_STUB_CODE_ROOM = 64,
	LZ_STUB_PAGES = 2,
	LZ_STUB_SOCKET = 3
};

/* What is mapped: LEN bytes of OBJECT from AT on. OWN: stores there make pages that only this
 * mapping has. */
struct lz_share {
	uint64_t addr, len, at;
	uint32_t prot, object;
	bool own;
};

int lz_share_map(struct lz_proc *p, const struct lz_share *m);
/* Does an earlier one of the sorted mappings show the page at ADDR, too? */
bool lz_share_shown_before(const struct lz_vma *vmas, uint32_t n, uint64_t addr);
/* COPY, which P was forked to, gets objects of its own with the same contents. */
int lz_share_split(struct lz_proc *p, struct lz_proc *copy);

#endif
