#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "stream.h"

/* A saved activation; the ones below it hang on `parent`. Node 0 is the empty stack. */
struct node {
	struct lz_act act;
	uint32_t parent;
};

struct saved {
	uint32_t top;
	uint32_t parked, n_parked; /* slice of stream.parked */
};

struct saved_parked {
	uint32_t top;
	uint32_t n;
	size_t base;
};

struct lz_stream {
	struct lz_reader *reader;
	struct lz_modules *modules;
	uint32_t tid, n_blocks;
	struct lz_fn *fns;
	size_t n_fns;
	uint32_t *hash, hash_mask;

	struct node *nodes;
	size_t n_nodes, cap_nodes;
	struct saved_parked *parked;
	size_t n_parked, cap_parked;
	struct saved *starts; /* [n_blocks], the first n_starts are known */
	uint32_t n_starts;

	struct lz_decoder d;
	uint64_t at; /* stream offset up to which d has decoded */
	uint8_t *buf;
	uint64_t buf_start, buf_len;
	uint32_t buf_block;
};

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
	s->reader = r;
	s->modules = m;
	s->tid = tid;
	s->n_blocks = lz_reader_n_blocks(r, tid);
	s->starts = calloc(s->n_blocks + 1, sizeof(*s->starts));
	lz_decoder_init(&s->d);
	s->buf_block = UINT32_MAX;
	s->d.resolve = resolve;
	s->d.n_markers = n_markers;
	s->d.tail = tail_kind;
	s->d.arg = s;
	s->n_nodes = 1; /* node 0: the empty stack */
	s->n_starts = 1;
	if (!s->starts || collect_functions(s)) {
		if (!s->starts)
			lz_fail("out of memory for a marker stream");
		lz_stream_free(s);
		return NULL;
	}
	return s;
}

void lz_stream_free(struct lz_stream *s)
{
	if (!s)
		return;
	lz_decoder_free(&s->d);
	free(s->fns);
	free(s->hash);
	free(s->nodes);
	free(s->parked);
	free(s->starts);
	free(s->buf);
	free(s);
}

uint64_t lz_stream_len(const struct lz_stream *s)
{
	return lz_reader_markers_len(s->reader, s->tid);
}

uint32_t lz_stream_n_blocks(const struct lz_stream *s)
{
	return s->n_blocks;
}

uint64_t lz_stream_oddities(const struct lz_stream *s)
{
	return s->d.oddities;
}

uint32_t lz_stream_block_of(struct lz_stream *s, uint64_t offset)
{
	uint32_t lo = 0, hi = s->n_blocks;

	while (lo + 1 < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		uint64_t start, len;

		if (lz_reader_block(s->reader, s->tid, mid, &start, &len) || start > offset)
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

/* ---- stacks at block starts ---- */

static void *grow(void *array, size_t *cap, size_t n, size_t size)
{
	void *p;

	if (n < *cap)
		return array;
	p = reallocarray(array, *cap ? *cap * 2 : 1024, size);
	if (!p) {
		lz_fail("out of memory for the index of call stacks");
		return NULL;
	}
	*cap = *cap ? *cap * 2 : 1024;
	return p;
}

/* Saves what is not yet saved of N activations; what lies below a saved one is saved too. */
static int save_acts(struct lz_stream *s, struct lz_act *a, size_t n, uint32_t *top)
{
	size_t first = n;
	uint32_t parent;

	while (first && !a[first - 1].node)
		first--;
	parent = first ? a[first - 1].node : 0;
	for (size_t i = first; i < n; i++) {
		struct node *nodes = grow(s->nodes, &s->cap_nodes, s->n_nodes, sizeof(*nodes));

		if (!nodes)
			return -1;
		s->nodes = nodes;
		a[i].node = s->n_nodes;
		nodes[s->n_nodes++] = (struct node){a[i], parent};
		parent = a[i].node;
	}
	*top = parent;
	return 0;
}

static int save(struct lz_stream *s, uint32_t block)
{
	struct saved *st = &s->starts[block];

	if (save_acts(s, s->d.acts, s->d.n, &st->top))
		return -1;
	st->parked = s->n_parked;
	st->n_parked = s->d.n_parked;
	for (size_t i = 0; i < s->d.n_parked; i++) {
		struct lz_parked *p = &s->d.parked[i];
		struct saved_parked *sp = grow(s->parked, &s->cap_parked, s->n_parked, sizeof(*sp));

		if (!sp)
			return -1;
		s->parked = sp;
		sp += s->n_parked++;
		sp->base = p->base;
		sp->n = p->n;
		if (save_acts(s, p->acts, p->n, &sp->top))
			return -1;
	}
	return 0;
}

/* The N topmost activations of a saved stack, oldest first. */
static void load_acts(struct lz_stream *s, uint32_t top, struct lz_act *a, size_t n)
{
	for (size_t i = n; i-- > 0 && top;) {
		a[i] = s->nodes[top].act;
		a[i].node = top;
		top = s->nodes[top].parent;
	}
}

static int restore(struct lz_stream *s, uint32_t block)
{
	const struct saved *st = &s->starts[block];
	struct lz_act empty = {.fn = LZ_FN_NONE};
	size_t depth = 0;

	lz_decoder_reset(&s->d);
	for (uint32_t i = st->top; i; i = s->nodes[i].parent)
		depth++;
	for (size_t i = 0; i < depth; i++)
		if (lz_decoder_push(&s->d, &empty))
			return -1;
	load_acts(s, st->top, s->d.acts, s->d.n);
	for (uint32_t i = 0; i < st->n_parked; i++) {
		const struct saved_parked *sp = &s->parked[st->parked + i];
		struct lz_parked *p = &s->d.parked[i];

		p->acts = calloc(sp->n, sizeof(*p->acts));
		if (!p->acts)
			return lz_fail("out of memory for a parked call stack");
		load_acts(s, sp->top, p->acts, sp->n);
		p->n = sp->n;
		p->base = sp->base;
		s->d.n_parked++;
	}
	return 0;
}

static int load_block(struct lz_stream *s, uint32_t block)
{
	uint64_t start, len;

	if (s->buf_block == block)
		return 0;
	if (lz_reader_block(s->reader, s->tid, block, &start, &len))
		return lz_fail("block %u of markers-%u does not exist", block, s->tid);
	s->buf_block = UINT32_MAX;
	if (len > s->buf_len || !s->buf) {
		uint8_t *p = realloc(s->buf, len ? len : 1);

		if (!p)
			return lz_fail("out of memory for a block of markers");
		s->buf = p;
	}
	if (lz_reader_markers(s->reader, s->tid, start, s->buf, len) != (int64_t)len)
		return lz_fail_in("block %u of markers-%u cannot be read", block, s->tid);
	s->buf_start = start;
	s->buf_len = len;
	s->buf_block = block;
	return 0;
}

/* Decodes what is left of the loaded block, from s->at up to END. */
static int decode_rest(struct lz_stream *s, uint64_t end, const uint8_t *watch, lz_mark_fn *fn,
                       void *arg)
{
	uint64_t stop = s->buf_start + s->buf_len;
	int64_t used;

	if (end < stop)
		stop = end;
	if (s->at >= stop)
		return 0;
	used = lz_decoder_feed(&s->d, s->buf + (s->at - s->buf_start), stop - s->at, s->at, watch,
	                       fn, arg);
	if (used < 0)
		return (int)used;
	s->at += used;
	return 0;
}

/* Makes the stacks at the starts of blocks 0..BLOCK known. */
static int index_to(struct lz_stream *s, uint32_t block)
{
	while (s->n_starts <= block) {
		uint32_t i = s->n_starts - 1;
		uint64_t oddities = s->d.oddities;

		if (restore(s, i) || load_block(s, i))
			return -1;
		s->at = s->buf_start;
		if (decode_rest(s, UINT64_MAX, NULL, NULL, NULL))
			return -1;
		if (s->d.oddities != oddities)
			lz_debug("block %u of markers-%u: %llu markers do not fit", i, s->tid,
			         (unsigned long long)(s->d.oddities - oddities));
		if (save(s, i + 1))
			return -1;
		s->n_starts++;
	}
	return 0;
}

int lz_stream_decode(struct lz_stream *s, uint32_t block, uint64_t end, const uint8_t *watch,
                     lz_mark_fn *fn, void *arg)
{
	if (block >= s->n_blocks) {
		lz_decoder_reset(&s->d);
		s->at = 0;
		return 0;
	}
	if (index_to(s, block) || restore(s, block) || load_block(s, block))
		return -1;
	s->at = s->buf_start;
	return decode_rest(s, end, watch, fn, arg);
}

int lz_stream_decode_local(struct lz_stream *s, uint32_t block, uint64_t end, const uint8_t *watch,
                           lz_mark_fn *fn, void *arg)
{
	uint64_t oddities = s->d.oddities;
	int rc;

	lz_decoder_reset(&s->d);
	if (block >= s->n_blocks)
		return 0;
	if (load_block(s, block))
		return -1;
	s->at = s->buf_start;
	rc = decode_rest(s, end, watch, fn, arg);
	s->d.oddities = oddities; /* exits of what was entered before do not count */
	return rc;
}

struct lz_decoder *lz_stream_stack(struct lz_stream *s, uint64_t offset)
{
	if (lz_stream_decode(s, lz_stream_block_of(s, offset), offset, NULL, NULL, NULL))
		return NULL;
	return &s->d;
}

struct lz_decoder *lz_stream_stack_local(struct lz_stream *s, uint64_t offset)
{
	if (lz_stream_decode_local(s, lz_stream_block_of(s, offset), offset, NULL, NULL, NULL))
		return NULL;
	return &s->d;
}
