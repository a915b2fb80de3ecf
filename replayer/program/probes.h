/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a C library says that it is about to make a longjmp: SystemTap's probes, of which its notes
 * tell. GDB has breakpoints there while it steps. */
#ifndef LIZARD_REPLAYER_PROBES_H
#define LIZARD_REPLAYER_PROBES_H

#include <stddef.h>
#include <stdint.h>

/* Which register of struct user_regs_struct has the address that the longjmp leads to. */
struct lz_long_jump {
	uint64_t addr; /* link-time */
	size_t target; /* an offset */
};

enum { LZ_LONG_JUMPS_MAX = 8 };

/* Those of the file PATH into V[LZ_LONG_JUMPS_MAX]; how many there are. The file is untrusted. */
size_t lz_probes_long_jumps(const char *path, struct lz_long_jump *v);

#endif
