/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's own clock_gettime() for programs, from the vDSO of the calling process: all processes
 * have the same one. It can be put elsewhere, as it makes no system call any more and uses none but
 * general registers. */
#ifndef LZ_COMMON_CLOCK_CODE_H
#define LZ_COMMON_CLOCK_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LZ_CLOCK_CODE_MOST = 16384 };

struct lz_clock_code {
	uint8_t code[LZ_CLOCK_CODE_MOST];
	size_t len;      /* whole pages */
	uint64_t entry;  /* of the function, in it: int (clockid_t, struct timespec *) */
	uint64_t behind; /* the beginning of its data, [vvar], is so far below it */
};

/* Where it would make a system call, it fails instead. Ours until the process ends; NULL: there is none
 * that is understood. */
const struct lz_clock_code *lz_clock_code(void);

#endif
