/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of a checkpoint and its pages. */
#include "tests/forge/forge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <common/recording/codec.h>
#include <common/cfg/records.h>
#include <tests/fuzz/pieces.h>

/* A page that the checkpoint lists: its kind, and its contents as they are stored. */
struct page {
	uint64_t addr;
	const uint8_t *bytes;
	size_t len;
};

struct whole {
	struct lz_checkpoint *ck;
	struct page *pages;
	uint32_t n, room;
};

#define C(member, kind) FIELD(struct lz_checkpoint, member, kind)
static const struct field of_head[] = {
    C(pos.tid, THREAD),     C(pos.n, NUMBER),        C(pos.event, NUMBER),   C(pos.marker, NUMBER),
    C(pos.ip, ADDRESS),     C(time_ns, NUMBER),      C(map_id, NUMBER),      C(brk, ADDRESS),
    C(stack_limit, LENGTH), C(stack_start, ADDRESS), C(pos_offset, ADDRESS), C(pos_offset, NUMBER),
};
#define T(member, kind) FIELD(struct lz_thread_state, member, kind)
static const struct field of_thread[] = {
    T(tid, THREAD),     T(flags, SMALL),         T(marker, NUMBER),
    T(buffer, ADDRESS), T(buffer_start, NUMBER), T(buffer, ADDRESS),
};
#define V(member, kind) FIELD(struct lz_vma, member, kind)
static const struct field of_vma[] = {
    V(start, PAGE_ADDRESS), V(end, PAGE_ADDRESS), V(prot, PROT),     V(flags, MAP_FLAGS),
    V(file, FILE_INDEX),    V(role, SMALL),       V(offset, NUMBER), V(offset, LENGTH),
};

static struct lz_thread_state *thread_pick(struct whole *w)
{
	/* the first one runs */
	return &w->ck->threads[pick(2) ? 0 : pick(w->ck->n_threads)];
}

static void forge_head(struct whole *w)
{
	field_forge(w->ck, &of_head[pick(N_OF(of_head))], "checkpoint");
}

static void forge_thread(struct whole *w)
{
	field_forge(thread_pick(w), &of_thread[pick(N_OF(of_thread))], "thread");
}

static void forge_regs(struct whole *w)
{
	regs_forge(&thread_pick(w)->regs, "thread");
}

static void forge_xstate(struct whole *w)
{
	struct lz_thread_state *t = thread_pick(w);

	t->xstate = xstate_forge(t->xstate, &t->xstate_len);
}

/* ---- mappings ---- */

static int by_start(const void *a, const void *b)
{
	const struct lz_vma *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorted and without overlaps, as the format has them. The one that was changed, at START, wins. */
static void sort_vmas(struct lz_checkpoint *ck, uint64_t start, uint64_t end)
{
	uint64_t last = 0;
	uint32_t n = 0;

	qsort(ck->vmas, ck->n_vmas, sizeof(*ck->vmas), by_start);
	for (uint32_t i = 0; i < ck->n_vmas; i++) {
		struct lz_vma v = ck->vmas[i];
		v.start = v.start < last ? last : v.start;
		if (v.start < start && v.end > start)
			v.end = start;
		if (v.start > start && v.start < end)
			v.start = end;
		if (v.start >= v.end)
			continue;
		last = v.end;
		ck->vmas[n++] = v;
	}
	ck->n_vmas = n;
}

static void settle(struct whole *w, struct lz_vma *v)
{
	uint64_t page = LZ_PAGE;

	v->start &= -page;
	v->end = (v->end + page - 1) & -page;
	if (v->end <= v->start)
		v->end = v->start + page;
	if (v->role > LZ_VMA_BUFFER)
		v->role = LZ_VMA_PLAIN;
	sort_vmas(w->ck, v->start, v->end);
}

static void forge_vma(struct whole *w)
{
	if (!w->ck->n_vmas)
		return;
	struct lz_vma *v = &w->ck->vmas[pick(w->ck->n_vmas)];
	field_forge(v, &of_vma[pick(N_OF(of_vma))], "mapping");
	settle(w, v);
}

static void map_range(struct whole *w, uint64_t start, uint64_t len)
{
	struct lz_checkpoint *ck = w->ck;

	ck->vmas = reallocarray(ck->vmas, ck->n_vmas + 1u, sizeof(*ck->vmas));
	struct lz_vma *v = &ck->vmas[ck->n_vmas++];
	*v = (struct lz_vma){.start = start,
	                     .end = start + len,
	                     .prot = PROT_READ | PROT_WRITE | PROT_EXEC,
	                     .flags = MAP_PRIVATE | MAP_ANONYMOUS,
	                     .file = LZ_NO_FILE};
	note("mapping of %#llx-%#llx", (unsigned long long)v->start, (unsigned long long)v->end);
	settle(w, v);
}

static void add_vma(struct whole *w)
{
	map_range(w, value_address() & -(uint64_t)LZ_PAGE, pick(2) ? LZ_PAGE : value_length());
}

/* ---- pages ---- */

static struct page *page_at(struct whole *w, uint64_t addr)
{
	uint32_t i = 0;

	while (i < w->n && w->pages[i].addr < addr)
		i++;
	if (i < w->n && w->pages[i].addr == addr)
		return &w->pages[i];
	w->pages = reallocarray(w->pages, w->n + 1u, sizeof(*w->pages));
	memmove(&w->pages[i + 1], &w->pages[i], (w->n - i) * sizeof(*w->pages));
	w->n++;
	w->pages[i] = (struct page){.addr = addr};
	return &w->pages[i];
}

/* So that the page counts. */
static void map_page(struct whole *w, uint64_t addr)
{
	for (uint32_t i = 0; i < w->ck->n_vmas; i++)
		if (addr >= w->ck->vmas[i].start && addr < w->ck->vmas[i].end)
			return;
	map_range(w, addr, LZ_PAGE);
}

/* Code in a page, with what does nothing around it. */
static void forge_page(struct whole *w)
{
	const struct payload *p = payload_pick();
	uint64_t at = pick(2) ? value_ours() : pick(2) ? value_place() : value_address();
	size_t off = at % LZ_PAGE, len = (size_t)(p->end - p->code);
	struct lz_buf b = {0};
	uint8_t page[LZ_PAGE];

	memset(page, NOP, sizeof(page));
	memcpy(page + off, p->code, len < LZ_PAGE - off ? len : LZ_PAGE - off);
	lz_put_u8(&b, LZ_PAGE_NEW);
	lz_rle_put(&b, page);
	struct page *to = page_at(w, at - off);
	to->bytes = b.p;
	to->len = b.len;
	note("%s in the page at %#llx", p->name, (unsigned long long)at);
	if (pick(2))
		map_page(w, at - off);
	if (pick(2))
		return;
	struct user_regs_struct *regs = &w->ck->threads[0].regs;
	regs->rip = at;
	regs->cs = p->is_32_bit ? 0x23 : regs->cs;
	note("rip there, cs %#llx", (unsigned long long)regs->cs);
}

/* Its contents at another address. */
static void move_page(struct whole *w)
{
	if (!w->n)
		return;
	uint32_t i = pick(w->n);
	struct page old = w->pages[i];
	uint64_t to = value_address() & -(uint64_t)LZ_PAGE;

	memmove(&w->pages[i], &w->pages[i + 1], (w->n - i - 1) * sizeof(*w->pages));
	w->n--;
	struct page *p = page_at(w, to);
	p->bytes = old.bytes;
	p->len = old.len;
	note("page %#llx at %#llx", (unsigned long long)old.addr, (unsigned long long)to);
}

static void drop_page(struct whole *w)
{
	static const uint8_t gone[] = {LZ_PAGE_GONE};

	if (!w->n)
		return;
	struct page *p = &w->pages[pick(w->n)];
	p->bytes = gone;
	p->len = 1;
	note("page %#llx gone", (unsigned long long)p->addr);
}

/* ---- taken apart and put together ---- */

static bool read_pages(struct whole *w, const struct piece *p)
{
	struct lz_buf raw = piece_raw(p); /* stays: pages point into it */
	struct lz_cur c = {.p = raw.p, .end = raw.p + raw.len};
	uint8_t page[LZ_PAGE];

	for (uint32_t i = 0; i < p->f.count && w->n < w->ck->n_dirty; i++) {
		const uint8_t *begin = c.p;
		if (lz_get_u8(&c) != LZ_PAGE_GONE && lz_rle_get(&c, page) < 0)
			return false;
		w->pages[w->n] = (struct page){
		    .addr = w->ck->dirty[w->n], .bytes = begin, .len = (size_t)(c.p - begin)};
		w->n++;
	}
	return true;
}

/* Pages follow their HEAD: how many pieces it is. 0: an earlier change has made it unreadable. */
static uint32_t read_whole(struct whole *w, const struct pieces *all, uint32_t head)
{
	struct lz_buf raw = piece_raw(&all->v[head]);
	uint32_t i = head + 1;

	w->ck = lz_head_get(&raw, all->v[head].f.count);
	lz_buf_free(&raw);
	if (!w->ck)
		return 0;
	w->pages = calloc(w->ck->n_dirty + 1u, sizeof(*w->pages));
	for (; i < all->n && all->v[i].f.type == LZ_FRAME_PAGES; i++)
		if (!read_pages(w, &all->v[i]))
			return 0;
	return i - head;
}

static struct piece head_piece(const struct whole *w)
{
	struct piece p = {.f = {.type = LZ_FRAME_HEAD,
	                        .flags = w->ck->whole ? LZ_HEAD_WHOLE : 0,
	                        .count = w->n,
	                        .key0 = w->ck->pos.event,
	                        .key1 = w->ck->pos.marker}};
	struct lz_buf b = {0};

	w->ck->dirty = calloc(w->n + 1u, sizeof(*w->ck->dirty));
	w->ck->n_dirty = w->n;
	for (uint32_t i = 0; i < w->n; i++)
		w->ck->dirty[i] = w->pages[i].addr;
	lz_head_put(&b, w->ck);
	piece_set(&p, &b);
	return p;
}

static struct piece pages_piece(const struct whole *w, uint32_t from)
{
	uint32_t n = w->n - from < LZ_PAGES_FRAME ? w->n - from : LZ_PAGES_FRAME;
	struct piece p = {
	    .f = {.type = LZ_FRAME_PAGES, .count = n, .key0 = w->ck->index, .key1 = from}};
	struct lz_buf b = {0};

	for (uint32_t i = 0; i < n; i++)
		lz_put(&b, w->pages[from + i].bytes, w->pages[from + i].len);
	piece_set(&p, &b);
	return p;
}

static void write_whole(const struct whole *w, struct pieces *all, uint32_t head, uint32_t n)
{
	struct pieces now = {.v = calloc(all->n + w->n + 2u, sizeof(*now.v))};

	for (uint32_t i = 0; i < head; i++)
		now.v[now.n++] = all->v[i];
	now.v[now.n++] = head_piece(w);
	for (uint32_t from = 0; from < w->n; from += LZ_PAGES_FRAME)
		now.v[now.n++] = pages_piece(w, from);
	for (uint32_t i = head + n; i < all->n; i++)
		now.v[now.n++] = all->v[i];
	*all = now;
}

static void change(struct whole *w)
{
	static void (*const kind[])(struct whole *) = {
	    forge_head, forge_thread, forge_regs, forge_regs, forge_xstate, forge_vma,
	    forge_vma,  add_vma,      forge_page, forge_page, move_page,    drop_page,
	};
	kind[pick(N_OF(kind))](w);
	if (!pick(3))
		kind[pick(N_OF(kind))](w);
}

static uint32_t heads(const struct pieces *all, uint32_t *at, uint32_t room)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n && n < room; i++)
		if (all->v[i].f.type == LZ_FRAME_HEAD)
			at[n++] = i;
	return n;
}

/* The first one, from which replay begins, more often than others. */
bool forge_checkpoint(void)
{
	const char *name = part_pick("checkpoints");
	struct pieces all = name ? take_apart(name) : (struct pieces){0};
	uint32_t at[1024], n = heads(&all, at, N_OF(at));
	struct whole w = {0};

	if (!n)
		return false;
	uint32_t head = at[pick(2) ? 0 : pick(n)], pieces = read_whole(&w, &all, head);
	if (!pieces || !w.ck->n_threads)
		return false;
	change(&w);
	note("checkpoint %u", w.ck->index);
	write_whole(&w, &all, head, pieces);
	put_together(&all, name);
	return true;
}

static bool put_buffer(const char *part, const void *arg)
{
	const struct lz_thread_state *to = arg;
	struct pieces all = take_apart(part);
	struct whole w = {0};
	uint32_t head, pieces;

	if (!heads(&all, &head, 1) || !(pieces = read_whole(&w, &all, head)))
		return false;
	struct lz_thread_state *t = &w.ck->threads[0];
	t->buffer = to->buffer;
	t->buffer_start = to->buffer_start;
	t->marker = to->marker;
	write_whole(&w, &all, head, pieces);
	put_together(&all, part);
	return true;
}

bool checkpoint_buffer(uint64_t addr, uint64_t len)
{
	struct lz_thread_state t = {
	    .buffer = addr, .buffer_start = world.first, .marker = world.first + len};

	return part_each("checkpoints", put_buffer, &t);
}
