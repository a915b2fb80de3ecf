/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What cpuid answers. In a virtual machine it takes 4 to 10 us, and the C library asks for the same
 * things in each program; a CPU always answers the same. */
#ifndef LZ_COMMON_CPUID_CACHE_H
#define LZ_COMMON_CPUID_CACHE_H

#include <stdint.h>

enum { LZ_CPUID_KNOWN = 64 };
struct lz_cpuid_cache {
	int cpu; /* the one that said so */
	uint32_t n;
	struct lz_cpuid_known {
		uint32_t leaf, sub, answer[4]; /* eax, ebx, ecx, edx */
	} known[LZ_CPUID_KNOWN];
};
/* What cpuid answers on this CPU. */
void lz_cpuid_ask(uint32_t leaf, uint32_t sub, uint32_t answer[4]);
/* What this thread has asked, for another process, and there. */
void lz_cpuid_cache_get(struct lz_cpuid_cache *to);
void lz_cpuid_cache_set(const struct lz_cpuid_cache *from);

#endif
