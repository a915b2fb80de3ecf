/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers that stand for sequences of numbers. */
#ifndef LIZARD_REPLAYER_MIX_H
#define LIZARD_REPLAYER_MIX_H

#include <stdint.h>

/* KEY, of a sequence, with one more behind it. The mixing is that of splitmix64 (Steele, Lea and
 * Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). */
static inline uint64_t lz_mix(uint64_t key, uint64_t with)
{
	uint64_t x = key * 0x9E3779B97F4A7C15u + with + 1;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
	x = (x ^ x >> 27) * 0x94D049BB133111EBu;
	return x ^ x >> 31;
}

#endif
