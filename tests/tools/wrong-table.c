/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of system calls with one output left out: linked in place of the right one, to see that the tests notice.
 * LIZARD_WRONG_TABLE=NR:I leaves out output I of call NR; without it the table is right. */
#define lz_syscall(nr) right_syscall(nr) /* not the structure of that name */
#include "common/process/syscalls.c"
#undef lz_syscall

#include <stdlib.h>
#include <string.h>

const struct lz_syscall *lz_syscall(uint64_t nr)
{
	static struct lz_syscall wrong;
	const struct lz_syscall *row = right_syscall(nr);
	const char *which = getenv("LIZARD_WRONG_TABLE");
	unsigned long n;
	int i;

	if (!row || !which || sscanf(which, "%lu:%d", &n, &i) != 2 || n != nr)
		return row;
	wrong = *row;
	memmove(&wrong.out[i], &wrong.out[i + 1],
	        (size_t)(LZ_SYS_OUTS - 1 - i) * sizeof(wrong.out[0]));
	memset(&wrong.out[LZ_SYS_OUTS - 1], 0, sizeof(wrong.out[0]));
	return &wrong;
}
