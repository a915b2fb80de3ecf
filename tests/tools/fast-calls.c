/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fast-calls: the names of the system calls that may be made without a stop. */
#include <lizard/syscalls.h>
#include <stdio.h>
#include "tracer/calls/fast.h"

int main(void)
{
	for (uint64_t nr = 0; nr < LZ_FAST_CALLS; nr++)
		if (lz_fast_may(nr))
			puts(lz_syscall_name(nr));
	return 0;
}
