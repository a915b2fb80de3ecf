/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code of a stopped process that is changed in many places at once: each page of it is read once and
 * written once. */
#ifndef LZ_COMMON_CODE_PAGES_H
#define LZ_COMMON_CODE_PAGES_H

#include <lizard/proc.h>
#include <lizard/recording.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lz_code_page {
	uint64_t at;
	bool changed;
	uint8_t bytes[LZ_PAGE];
};

struct lz_code_pages {
	struct lz_code_page *a;
	size_t n, room;
	uint64_t empty, empty_end; /* new memory: there are only zeroes */
};

/* As lz_proc_read() and lz_proc_write(), but what is written is only kept in mind. */
int lz_code_pages_read(struct lz_code_pages *c, const struct lz_proc *p, uint64_t addr, void *buf,
                       size_t len);
int lz_code_pages_write(struct lz_code_pages *c, const struct lz_proc *p, uint64_t addr,
                        const void *buf, size_t len);
/* Now the process has it. Nothing is kept any more, also if that fails. */
int lz_code_pages_end(struct lz_code_pages *c, const struct lz_proc *p);

#endif
