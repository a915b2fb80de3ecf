#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "stream_int.h"

/* ---- functions ---- */

static uint32_t slot_of(const struct lz_stream *s, uint32_t entry)
{
	return (entry * 0x9E3779B1u) >> 7 & s->hash_mask;
}

static uint32_t resolve(void *arg, uint32_t entry, uint64_t offset)
{
	const struct lz_stream *s = arg;

	for (uint32_t i = s->hash[slot_of(s, entry)]; i != LZ_FN_NONE; i = s->fns[i].next) {
		const struct lz_fn *fn = &s->fns[i];

		if ((uint32_t)(fn->f->entry + fn->mod->bias) == entry &&
		    offset >= fn->mod->from_marker && offset <= fn->mod->to_marker)
			return i;
	}
	return LZ_FN_NONE;
}

static uint32_t n_markers(void *arg, uint32_t fn)
{
	const struct lz_stream *s = arg;

	return s->fns[fn].f->n_markers;
}

static enum lz_tail tail_kind(void *arg, uint32_t fn)
{
	const struct lz_stream *s = arg;

	return s->fns[fn].tail;
}

/* A TAIL site with an EXIT site behind it in the same block: the call between them returns. */
static void find_tails(const struct lz_cfg *cfg, struct lz_fn *fns)
{
	size_t n;
	const struct lz_cfg_site *site = lz_cfg_sites(cfg, &n);
	uint8_t *seen = calloc(lz_cfg_n_funcs(cfg) + 1, 1);

	for (size_t i = 0; seen && i < n; i++) {
		bool returns;

		if (site[i].code != LZ_TAIL || site[i].func >= lz_cfg_n_funcs(cfg))
			continue;
		returns = i + 1 < n && site[i + 1].func == site[i].func &&
		          site[i + 1].code == LZ_EXIT &&
		          lz_cfg_label_before(cfg, site[i].addr) ==
		              lz_cfg_label_before(cfg, site[i + 1].addr);
		seen[site[i].func] |= returns ? 2 : 1;
	}
	for (size_t i = 0; seen && i < lz_cfg_n_funcs(cfg); i++)
		fns[i].tail = seen[i] == 3   ? LZ_TAIL_EITHER
		              : seen[i] == 2 ? LZ_TAIL_RETURNS
		                             : LZ_TAIL_GONE;
	free(seen);
}

static int collect_functions(struct lz_stream *s)
{
	size_t total = 0, k = 0, size = 64;

	for (size_t i = 0; i < lz_modules_count(s->modules); i++) {
		struct lz_cfg *cfg = lz_module_cfg(s->modules, lz_modules_get(s->modules, i));

		total += cfg ? lz_cfg_n_funcs(cfg) : 0;
	}
	while (size < total * 2)
		size *= 2;
	s->fns = calloc(total + 1, sizeof(*s->fns));
	s->hash = malloc(size * sizeof(*s->hash));
	if (!s->fns || !s->hash)
		return lz_fail("out of memory for %zu functions", total);
	s->hash_mask = size - 1;
	memset(s->hash, 0xFF, size * sizeof(*s->hash));
	for (size_t i = 0; i < lz_modules_count(s->modules); i++) {
		struct lz_module *mod = lz_modules_get(s->modules, i);
		struct lz_cfg *cfg = lz_module_cfg(s->modules, mod);

		if (!cfg || !lz_cfg_n_funcs(cfg))
			continue;
		for (size_t j = 0; j < lz_cfg_n_funcs(cfg); j++) {
			struct lz_fn *fn = &s->fns[k + j];
			uint32_t *slot;

			fn->f = lz_cfg_func(cfg, j);
			fn->mod = mod;
			slot = &s->hash[slot_of(s, fn->f->entry + mod->bias)];
			fn->next = *slot;
			*slot = k + j;
		}
		find_tails(cfg, &s->fns[k]);
		k += lz_cfg_n_funcs(cfg);
	}
	s->n_fns = k;
	return 0;
}

size_t lz_stream_n_fns(const struct lz_stream *s)
{
	return s->n_fns;
}

const struct lz_fn *lz_stream_fn(const struct lz_stream *s, uint32_t fn)
{
	return fn < s->n_fns ? &s->fns[fn] : NULL;
}

uint32_t lz_stream_fn_at(struct lz_stream *s, uint64_t addr, uint64_t event)
{
	struct lz_module *mod = lz_modules_at(s->modules, addr, event);
	struct lz_cfg *cfg = mod ? lz_module_cfg(s->modules, mod) : NULL;
	const struct lz_cfg_func *f = NULL;
	const struct lz_cfg_label *label;
	struct lz_range range;

	if (!cfg)
		return LZ_FN_NONE;
	label = lz_cfg_label_before(cfg, addr - mod->bias);
	if (label) {
		f = lz_cfg_func(cfg, label->func);
	} else {
		/* In front of the first block's label: the prologue. */
		struct lz_lines *l = lz_module_lines(s->modules, mod);

		if (l && lz_lines_function(l, addr - mod->bias, &range))
			f = lz_cfg_func_at(cfg, range.start);
	}
	for (size_t i = 0; f && i < s->n_fns; i++)
		if (s->fns[i].f == f && s->fns[i].mod == mod)
			return i;
	return LZ_FN_NONE;
}

/* ---- creation ---- */

struct lz_stream *lz_stream_new(struct lz_reader *r, struct lz_modules *m, uint32_t tid)
{
	struct lz_stream *s = calloc(1, sizeof(*s));

	if (!s) {
		lz_fail("out of memory for a marker stream");
		return NULL;
	}
	s->modules = m;
	s->tid = tid;
	s->n_blocks = lz_reader_n_blocks(r, tid);
	lz_cursor_init(s, &s->own, r);
	if (lz_index_new(s) || collect_functions(s)) {
		lz_stream_free(s);
		return NULL;
	}
	return s;
}

void lz_stream_free(struct lz_stream *s)
{
	if (!s)
		return;
	lz_index_free(s);
	lz_cursor_free(&s->own);
	free(s->fns);
	free(s->hash);
	free(s);
}

uint64_t lz_stream_len(const struct lz_stream *s)
{
	return lz_reader_markers_len(s->own.reader, s->tid);
}

uint32_t lz_stream_n_blocks(const struct lz_stream *s)
{
	return s->n_blocks;
}

uint64_t lz_stream_oddities(const struct lz_stream *s)
{
	return s->own.d.oddities;
}

uint32_t lz_stream_block_of(struct lz_stream *s, uint64_t offset)
{
	uint32_t lo = 0, hi = s->n_blocks;

	while (lo + 1 < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		uint64_t start, len;

		if (lz_reader_block(s->own.reader, s->tid, mid, &start, &len) || start > offset)
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

/* ---- cursors ---- */

void lz_cursor_init(struct lz_stream *s, struct lz_cursor *c, struct lz_reader *r)
{
	c->reader = r;
	c->buf_block = UINT32_MAX;
	lz_decoder_init(&c->d);
	c->d.resolve = resolve;
	c->d.n_markers = n_markers;
	c->d.tail = tail_kind;
	c->d.arg = s;
}

void lz_cursor_free(struct lz_cursor *c)
{
	lz_decoder_free(&c->d);
	free(c->buf);
}

int lz_cursor_load(struct lz_stream *s, struct lz_cursor *c, uint32_t block)
{
	uint64_t start, len;

	if (c->buf_block == block)
		return 0;
	if (lz_reader_block(c->reader, s->tid, block, &start, &len))
		return lz_fail("block %u of markers-%u does not exist", block, s->tid);
	c->buf_block = UINT32_MAX;
	if (len > c->buf_len || !c->buf) {
		uint8_t *p = realloc(c->buf, len ? len : 1);

		if (!p)
			return lz_fail("out of memory for a block of markers");
		c->buf = p;
	}
	if (lz_reader_markers(c->reader, s->tid, start, c->buf, len) != (int64_t)len)
		return lz_fail_in("block %u of markers-%u cannot be read", block, s->tid);
	c->buf_start = start;
	c->buf_len = len;
	c->buf_block = block;
	return 0;
}

int lz_cursor_decode(struct lz_cursor *c, uint64_t end, const uint8_t *watch, lz_mark_fn *fn,
                     void *arg)
{
	uint64_t stop = c->buf_start + c->buf_len;
	int64_t used;

	if (end < stop)
		stop = end;
	if (c->at >= stop)
		return 0;
	used = lz_decoder_feed(&c->d, c->buf + (c->at - c->buf_start), stop - c->at, c->at, watch,
	                       fn, arg);
	if (used < 0)
		return (int)used;
	c->at += used;
	return 0;
}

int lz_stream_decode(struct lz_stream *s, uint32_t block, uint64_t end, const uint8_t *watch,
                     lz_mark_fn *fn, void *arg)
{
	struct lz_cursor *c = &s->own;

	if (block >= s->n_blocks) {
		lz_decoder_reset(&c->d);
		c->at = 0;
		return 0;
	}
	if (lz_index_restore(s, c, block) || lz_cursor_load(s, c, block))
		return -1;
	c->at = c->buf_start;
	return lz_cursor_decode(c, end, watch, fn, arg);
}

int lz_stream_decode_local(struct lz_stream *s, uint32_t block, uint64_t end, const uint8_t *watch,
                           lz_mark_fn *fn, void *arg)
{
	struct lz_cursor *c = &s->own;
	uint64_t oddities = c->d.oddities;
	int rc;

	lz_decoder_reset(&c->d);
	if (block >= s->n_blocks)
		return 0;
	if (lz_cursor_load(s, c, block))
		return -1;
	c->at = c->buf_start;
	rc = lz_cursor_decode(c, end, watch, fn, arg);
	c->d.oddities = oddities; /* exits of what was entered before do not count */
	return rc;
}

struct lz_decoder *lz_stream_stack(struct lz_stream *s, uint64_t offset)
{
	if (lz_stream_decode(s, lz_stream_block_of(s, offset), offset, NULL, NULL, NULL))
		return NULL;
	return &s->own.d;
}

struct lz_decoder *lz_stream_stack_local(struct lz_stream *s, uint64_t offset)
{
	if (lz_stream_decode_local(s, lz_stream_block_of(s, offset), offset, NULL, NULL, NULL))
		return NULL;
	return &s->own.d;
}
