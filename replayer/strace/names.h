/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of numbers, in tables; strace's order. */
#ifndef LZ_REPLAYER_STRACE_NAMES_H
#define LZ_REPLAYER_STRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct lz_name {
	uint64_t value;
	const char *name;
};
#define LZ_N(x)                                                                                    \
	{                                                                                          \
		(uint64_t)(x), #x                                                                  \
	}

struct lz_names {
	const char *table;
	const struct lz_name *v;
	size_t n;
	/* Flags: these bits hold one of the values, the others are bits. */
	uint64_t mask;
};
#define LZ_NAMES(table, v, mask)                                                                   \
	{                                                                                          \
		table, v, sizeof(v) / sizeof(*(v)), mask                                           \
	}

/* With {0} behind the last one. */
extern const struct lz_names lz_names_files[], lz_names_memory[], lz_names_process[],
    lz_names_net[], lz_names_ioctl[];

#endif
