/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LZ_COMMON_CODE_RANGE_H
#define LZ_COMMON_CODE_RANGE_H

#include <stdint.h>

/* Code that has been changed. */
struct lz_code_range {
	uint64_t start, end;
};

#endif
