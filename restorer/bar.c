/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that a replayed process makes by itself. */
#include "restorer/share.h"

#include <lizard/error.h>
#include <lizard/restore.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

uint64_t lz_stub_units_end(const struct lz_stub *stub)
{
	return (stub->end + (1U << LZ_UNIT_BITS) - 1) >> LZ_UNIT_BITS;
}

bool lz_stub_is_apart(const struct lz_stub *stub, uint64_t addr, uint64_t len)
{
	const uint64_t first = addr >> LZ_UNIT_BITS;

	return addr < 1ULL << 47 && len < 1ULL << 47 &&
	       (first >= lz_stub_units_end(stub) ||
	        first + (len >> LZ_UNIT_BITS) + LZ_UNITS_MORE <= stub->start >> LZ_UNIT_BITS);
}

int lz_stub_can_bar(struct lz_proc *p)
{
	struct lz_stub *stub = p->stub;
	int64_t result;

	if (stub->can_bar)
		return 1;
	if (lz_proc_syscall(p, &result, SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
	                    stub->map_insn, LZ_STUB_MAP_INSN_LEN, stub->barred_byte, 0) < 0)
		return -1;
	if (result)
		lz_debug("calls cannot be barred here: %s", strerror((int)-result));
	stub->can_bar = !result;
	stub->cannot_bar = result;
	return !result;
}
