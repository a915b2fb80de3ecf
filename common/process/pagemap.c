/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/process/pagemap.h>
#include <lizard/recording.h>

/* Fibonacci hashing: neighbouring pages spread, the top bits are the good ones. */
static size_t place(const struct lz_pagemap *m, uint64_t key)
{
	return (size_t)((key * 0x9E3779B97F4A7C15u) >> 20) & (m->cap - 1);
}

static struct lz_pagemap_slot *find(const struct lz_pagemap *m, uint64_t key)
{
	size_t i = place(m, key);

	while (m->slot[i].key && m->slot[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slot[i];
}

uint8_t *lz_pagemap_get(const struct lz_pagemap *m, uint64_t addr)
{
	return m->cap ? find(m, addr / LZ_PAGE + 1)->page : NULL;
}

static int grow(struct lz_pagemap *m)
{
	struct lz_pagemap bigger = {.cap = m->cap ? m->cap * 2 : 1024};

	bigger.slot = calloc(bigger.cap, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -1;
	for (size_t i = 0; i < m->cap; i++) {
		if (!m->slot[i].page)
			continue;
		*find(&bigger, m->slot[i].key) = m->slot[i];
		bigger.used++;
	}
	free(m->slot);
	*m = bigger;
	return 0;
}

uint8_t **lz_pagemap_at(struct lz_pagemap *m, uint64_t addr)
{
	const uint64_t key = addr / LZ_PAGE + 1;
	struct lz_pagemap_slot *s = m->cap ? find(m, key) : NULL;

	if (s && s->key)
		return &s->page;
	if (m->used * 2 >= m->cap) {
		if (grow(m) < 0)
			return NULL;
		s = find(m, key);
	}
	s->key = key;
	m->used++;
	return &s->page;
}

static int each_slot(const struct lz_pagemap *m, uint64_t from, uint64_t to,
                     int (*fn)(void *arg, uint64_t addr, uint8_t *page), void *arg)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < m->cap; i++) {
		uint64_t addr = (m->slot[i].key - 1) * LZ_PAGE;

		if (m->slot[i].page && addr >= from && addr < to)
			ret = fn(arg, addr, m->slot[i].page);
	}
	return ret;
}

int lz_pagemap_each(const struct lz_pagemap *m, uint64_t from, uint64_t to,
                    int (*fn)(void *arg, uint64_t addr, uint8_t *page), void *arg)
{
	int ret = 0;

	if (from < to && (to - from) / LZ_PAGE >= m->cap)
		return each_slot(m, from, to, fn, arg);
	for (uint64_t at = from; ret == 0 && at < to; at += LZ_PAGE) {
		uint8_t *page = lz_pagemap_get(m, at);

		if (page)
			ret = fn(arg, at, page);
	}
	return ret;
}

void lz_pagemap_free(struct lz_pagemap *m)
{
	free(m->slot);
	memset(m, 0, sizeof(*m));
}
