/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/cpuid_cache.h>
#include <cpuid.h>
#include <sched.h>
#include <string.h>

static _Thread_local struct lz_cpuid_cache cache;

void lz_cpuid_ask(uint32_t leaf, uint32_t sub, uint32_t answer[4])
{
	const int cpu = sched_getcpu();
	struct lz_cpuid_known *k;

	if (cpu != cache.cpu)
		cache = (struct lz_cpuid_cache){.cpu = cpu};
	for (uint32_t i = 0; i < cache.n; i++) {
		k = &cache.known[i];
		if (k->leaf == leaf && k->sub == sub) {
			memcpy(answer, k->answer, sizeof(k->answer));
			return;
		}
	}
	__cpuid_count(leaf, sub, answer[0], answer[1], answer[2], answer[3]);
	if (cache.n == LZ_CPUID_KNOWN || sched_getcpu() != cpu)
		return;
	k = &cache.known[cache.n++];
	*k = (struct lz_cpuid_known){leaf, sub, {0}};
	memcpy(k->answer, answer, sizeof(k->answer));
}

void lz_cpuid_cache_get(struct lz_cpuid_cache *to)
{
	*to = cache;
}

void lz_cpuid_cache_set(const struct lz_cpuid_cache *from)
{
	cache = *from;
}
