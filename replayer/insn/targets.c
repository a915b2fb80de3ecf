/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/insn/targets.h"

#include <stdlib.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include "replayer/program/jumps.h"
#include "replayer/session/session.h"

enum {
	RANGES_MAX = 8,
	CODE_MAX = 1 << 18, /* bytes of a range */
	DATA_MAX = 1 << 24, /* of all that a file has */
	PARTS_MAX = 32,
};

/* One that was asked for. */
struct function {
	const struct lz_fn *fn;
	struct lz_jumps jumps;
};

struct lz_insn_targets {
	struct lz_nav *nav;
	uint64_t event;
	struct lz_vma *vma;
	uint32_t n_vmas;
	struct function *function;
	size_t n, room;
};

struct lz_insn_targets *lz_insn_targets_open(struct lz_nav *nav, uint64_t event)
{
	struct lz_insn_targets *t = calloc(1, sizeof(*t));

	if (!t) {
		lz_fail("out of memory for the targets of jumps");
		return NULL;
	}
	t->nav = nav;
	t->event = event;
	return t;
}

void lz_insn_targets_close(struct lz_insn_targets *t)
{
	for (size_t i = 0; t && i < t->n; i++)
		lz_jumps_free(&t->function[i].jumps);
	if (t) {
		free(t->function);
		free(t->vma);
	}
	free(t);
}

static uint8_t *read_part(struct lz_insn_targets *t, const struct lz_part *part)
{
	size_t len = part->end - part->start;
	uint8_t *bytes = malloc(len);

	if (bytes && lz_session_read(t->nav->s, part->start, bytes, len) == len)
		return bytes;
	free(bytes);
	return NULL;
}

/* ---- what the function's file has ---- */

struct data {
	struct lz_jumps_data part[PARTS_MAX];
	size_t n;
};

static const struct lz_vma *vma_at(const struct lz_insn_targets *t, uint64_t addr)
{
	for (uint32_t i = 0; i < t->n_vmas; i++)
		if (addr >= t->vma[i].start && addr < t->vma[i].end)
			return &t->vma[i];
	return NULL;
}

static void free_data(struct data *d)
{
	while (d->n)
		free((void *)d->part[--d->n].bytes);
}

/* False: no room, or it cannot be read. */
static bool read_data(struct lz_insn_targets *t, const struct lz_fn *fn, struct data *d)
{
	const struct lz_vma *code = vma_at(t, fn->mod->start);
	size_t size = 0;

	for (uint32_t i = 0; code && i < t->n_vmas; i++) {
		const struct lz_vma *v = &t->vma[i];
		struct lz_jumps_data *p = &d->part[d->n];

		if (v->file != code->file || v->file == LZ_NO_FILE || !(v->prot & PROT_READ))
			continue;
		size += v->end - v->start;
		if (d->n == PARTS_MAX || size > DATA_MAX)
			return false;
		*p = (struct lz_jumps_data){.where = {v->start, v->end},
		                            .constant = !(v->prot & PROT_WRITE) &&
		                                        !(v->flags & MAP_SHARED)};
		p->bytes = read_part(t, &p->where);
		if (!p->bytes)
			return false;
		d->n++;
	}
	return d->n > 0;
}

/* ---- where the function's code is ---- */

/* The part that holds ADDR, in order. False: no room, or unknown. */
static bool add_range(struct lz_lines *lines, uint64_t addr, struct lz_part *range, size_t *n)
{
	struct lz_range r;
	size_t i;

	for (i = 0; i < *n; i++)
		if (addr >= range[i].start && addr < range[i].end)
			return true;
	if (*n == RANGES_MAX || !lz_lines_function(lines, addr, &r) || r.end - r.start > CODE_MAX)
		return false;
	for (i = (*n)++; i > 0 && range[i - 1].start > r.start; i--)
		range[i] = range[i - 1];
	range[i] = (struct lz_part){r.start, r.end};
	return true;
}

/* At run-time addresses; 0: not known. */
static size_t find_ranges(struct lz_insn_targets *t, const struct lz_fn *fn, struct lz_part *range)
{
	struct lz_modules *modules = t->nav->modules;
	struct lz_lines *lines = lz_module_lines(modules, fn->mod);
	struct lz_cfg *cfg = lz_module_cfg(modules, fn->mod);
	size_t n = 0, n_labels = 0;
	const struct lz_cfg_label *label = cfg ? lz_cfg_labels(cfg, &n_labels) : NULL;

	if (!lines || !add_range(lines, fn->f->entry, range, &n))
		return 0;
	for (size_t i = 0; i < n_labels; i++)
		if (lz_cfg_func(cfg, label[i].func) == fn->f &&
		    !add_range(lines, label[i].addr, range, &n))
			return 0;
	for (size_t i = 0; i < n; i++) {
		range[i].start += fn->mod->bias;
		range[i].end += fn->mod->bias;
	}
	return n;
}

static int find_jumps(struct lz_insn_targets *t, const struct lz_fn *fn, struct lz_jumps *jumps)
{
	struct lz_part range[RANGES_MAX];
	uint8_t *bytes[RANGES_MAX];
	struct data data = {.n = 0};
	struct lz_jumps_code code = {.range = range,
	                             .bytes = bytes,
	                             .entry = fn->f->entry + fn->mod->bias,
	                             .data = data.part};
	size_t n = find_ranges(t, fn, range);
	int rc = 0;

	/* where a signal, an exception or a longjmp leads is in no table */
	if (!n || (fn->f->flags & LZ_FN_LANDING))
		return 0;
	while (code.n < n && (bytes[code.n] = read_part(t, &range[code.n])))
		code.n++;
	if (code.n == n && read_data(t, fn, &data)) {
		code.n_data = data.n;
		rc = lz_jumps_find(&code, jumps);
	}
	free_data(&data);
	while (code.n)
		free(bytes[--code.n]);
	return rc;
}

/* ---- the answer ---- */

/* NULL: no memory. */
static struct function *add_function(struct lz_insn_targets *t, const struct lz_fn *fn)
{
	if (lz_reserve(t->function, t->room, t->n + 1) < 0)
		return NULL;
	struct function *f = &t->function[t->n];

	*f = (struct function){.fn = fn};
	if (!t->vma && lz_session_vmas(t->nav->s, &t->vma, &t->n_vmas))
		return NULL;
	if (find_jumps(t, fn, &f->jumps))
		return NULL;
	t->n++;
	return f;
}

static int by_pc(const void *key, const void *item)
{
	const uint64_t *pc = key;
	const struct lz_jump *j = item;

	return (*pc > j->pc) - (*pc < j->pc);
}

size_t lz_insn_targets(struct lz_insn_targets *t, uint64_t pc, const uint64_t **targets)
{
	uint32_t id = lz_stream_fn_at(t->nav->stream, pc, t->event);
	const struct lz_fn *fn = id != LZ_FN_NONE ? lz_stream_fn(t->nav->stream, id) : NULL;
	struct function *f = t->function;
	const struct lz_jump *j = NULL;

	if (!fn)
		return 0;
	while (f < t->function + t->n && f->fn != fn)
		f++;
	if (f == t->function + t->n && !(f = add_function(t, fn)))
		return 0;
	if (f->jumps.n)
		j = bsearch(&pc, f->jumps.v, f->jumps.n, sizeof(*j), by_pc);
	if (!j)
		return 0;
	*targets = j->targets;
	return j->n;
}
