/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One record of the .lizard section, checked and turned into a function. */
#ifndef LIZARD_CFG_RECORD_H
#define LIZARD_CFG_RECORD_H

#include <common/cfg/symbol_ranges.h>
#include <lizard/cfg.h>
#include <lizard/cfg_format.h>

/* What all records of a file are gathered in; the arrays grow by doubling. */
struct lz_cfg {
	struct lz_cfg_func *funcs;
	size_t n_funcs, room_funcs;
	struct lz_cfg_site *sites;
	size_t n_sites, room_sites;
	struct lz_cfg_label *labels;
	size_t n_labels, room_labels;
	const char **files;
	size_t n_files, room_files;
	uint32_t *file_hash; /* [n_hash], index + 1 into files, 0 = free */
	size_t n_hash;
	struct lz_cfg_range *ranges; /* code of one symbol, ascending */
	size_t n_ranges;
	char *taken; /* names, each NUL-terminated, of variables that other code may store to */
	size_t taken_size;
	uint64_t work;    /* done for sets that the file leaves out */
	size_t *by_entry; /* function numbers by entry address */
	char *section;    /* the section's bytes: names point into it */
	size_t section_size;
};

/* Adds the function whose record starts at OFFSET of the section. Returns the
 * record's size, or -1 (lz_fail). */
int64_t lz_cfg_add_record(struct lz_cfg *cfg, size_t offset);
void lz_cfg_free_func(struct lz_cfg_func *f);

/* cfg_source.c: the bytes of a source graph at AT, if LEFT are enough for it; else -1. OPTIONAL: it may
 * have no blocks. */
int lz_cfg_source_size(const char *at, uint64_t left, bool optional, uint64_t *size);
/* The one at AT, whose size was found good, of a record at OFFSET; *G stays NULL if it has no blocks.
 * -1: lz_fail. */
int lz_cfg_read_source(const char *at, const struct lz_cfg_header *h, const char *strings,
                       size_t offset, struct lz_source_graph **g);
void lz_cfg_free_source(struct lz_source_graph *g);

/* cfg_assigns.c: the same for the variables that blocks may assign. */
int lz_cfg_assigns_size(const char *at, uint64_t left, uint64_t *size);
struct lz_assigns *lz_cfg_read_assigns(const char *at, const struct lz_cfg_header *h,
                                       const char *strings, size_t offset);
void lz_cfg_free_assigns(struct lz_assigns *a);

#endif
