/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/cfg/records.h>
#include <lizard/error.h>
#include <lizard/format.h>

static void put_pos(struct lz_buf *b, const struct lz_pos *p)
{
	lz_put_var(b, p->tid);
	lz_put_var(b, p->n);
	lz_put_var(b, p->event);
	lz_put_var(b, p->marker);
	lz_put_var(b, p->ip);
}

static void put_threads(struct lz_buf *b, const struct lz_checkpoint *ck)
{
	lz_put_var(b, ck->n_threads);
	for (uint32_t i = 0; i < ck->n_threads; i++) {
		const struct lz_thread_state *t = &ck->threads[i];

		lz_put_var(b, t->tid);
		lz_put_var(b, t->flags);
		lz_regs_put(b, &t->regs);
		lz_put_var(b, t->xstate_len);
		lz_put(b, t->xstate, t->xstate_len);
		lz_put_var(b, t->marker);
		lz_put_var(b, t->buffer);
		lz_put_var(b, t->buffer_start);
	}
}

static void put_vmas(struct lz_buf *b, const struct lz_checkpoint *ck)
{
	uint64_t last = 0;

	lz_put_var(b, ck->n_vmas);
	for (uint32_t i = 0; i < ck->n_vmas; i++) {
		const struct lz_vma *v = &ck->vmas[i];

		lz_put_var(b, (v->start - last) / LZ_PAGE);
		lz_put_var(b, (v->end - v->start) / LZ_PAGE);
		lz_put_var(b, v->prot);
		lz_put_var(b, v->flags);
		lz_put_var(b, v->file);
		lz_put_var(b, v->role);
		lz_put_var(b, v->offset);
		last = v->end;
	}
}

void lz_head_put(struct lz_buf *b, const struct lz_checkpoint *ck)
{
	uint64_t last = 0;

	lz_put_var(b, ck->index);
	lz_put_u8(b, (uint8_t)(ck->whole | ck->exact << 1));
	put_pos(b, &ck->pos);
	lz_put_var(b, ck->time_ns);
	lz_put_var(b, ck->map_id);
	lz_put_var(b, ck->brk);
	lz_put_var(b, ck->stack_limit);
	lz_put_var(b, ck->stack_start);
	lz_put_var(b, ck->pos_offset);
	put_threads(b, ck);
	put_vmas(b, ck);
	for (uint32_t i = 0; i < ck->n_dirty; i++) {
		lz_put_var(b, ck->dirty[i] / LZ_PAGE - last);
		last = ck->dirty[i] / LZ_PAGE;
	}
}

/* The last page number of a 64-bit address space. */
#define LAST_PAGE (UINT64_MAX / LZ_PAGE)

static void get_pos(struct lz_cur *c, struct lz_pos *p)
{
	p->tid = (uint32_t)lz_get_max(c, LZ_MAX_TID);
	p->n = (uint32_t)lz_get_max(c, UINT32_MAX);
	p->event = lz_get_var(c);
	p->marker = lz_get_var(c);
	p->ip = lz_get_var(c);
}

static void *get_array(struct lz_cur *c, size_t n, size_t size)
{
	void *p = c->bad ? NULL : calloc(n + !n, size);

	if (!p)
		c->bad = true;
	return p;
}

/* Of what takes EACH bytes at least. */
static uint32_t get_count(struct lz_cur *c, size_t each, uint32_t max)
{
	size_t room = lz_cur_left(c) / each;

	return (uint32_t)lz_get_max(c, room < max ? room : max);
}

static void get_thread(struct lz_cur *c, struct lz_thread_state *t)
{
	const uint8_t *x;

	t->tid = (uint32_t)lz_get_max(c, LZ_MAX_TID);
	t->flags = (uint32_t)lz_get_max(c, LZ_THREAD_IN_CALL | LZ_THREAD_FRESH);
	lz_regs_get(c, &t->regs);
	t->xstate_len = (uint32_t)lz_get_max(c, LZ_MAX_XSTATE);
	x = lz_get(c, t->xstate_len);
	t->xstate = get_array(c, t->xstate_len, 1);
	if (t->xstate)
		memcpy(t->xstate, x, t->xstate_len);
	t->marker = lz_get_var(c);
	t->buffer = lz_get_var(c);
	t->buffer_start = lz_get_var(c);
}

static void get_threads(struct lz_cur *c, struct lz_checkpoint *ck)
{
	uint32_t n = get_count(c, sizeof(struct user_regs_struct), LZ_MAX_THREADS);

	ck->threads = get_array(c, n, sizeof(*ck->threads));
	for (uint32_t i = 0; i < n && ck->threads && !c->bad; i++) {
		get_thread(c, &ck->threads[i]);
		ck->n_threads = i + 1;
	}
}

static void get_vma(struct lz_cur *c, struct lz_vma *v, uint64_t *page)
{
	uint64_t pages;

	*page += lz_get_max(c, LAST_PAGE - *page);
	v->start = *page * LZ_PAGE;
	pages = lz_get_max(c, LAST_PAGE - *page);
	*page += pages;
	v->end = *page * LZ_PAGE;
	v->prot = (uint32_t)lz_get_max(c, UINT32_MAX);
	v->flags = (uint32_t)lz_get_max(c, UINT32_MAX);
	v->file = (uint32_t)lz_get_max(c, UINT32_MAX);
	v->role = (uint32_t)lz_get_max(c, LZ_VMA_BUFFER);
	v->offset = lz_get_var(c);
	if (!pages)
		c->bad = true;
}

static void get_vmas(struct lz_cur *c, struct lz_checkpoint *ck)
{
	uint32_t n = get_count(c, 7, LZ_MAX_VMAS);
	uint64_t page = 0;

	ck->vmas = get_array(c, n, sizeof(*ck->vmas));
	for (uint32_t i = 0; i < n && !c->bad; i++)
		get_vma(c, &ck->vmas[i], &page);
	ck->n_vmas = c->bad ? 0 : n;
}

static void get_dirty(struct lz_cur *c, struct lz_checkpoint *ck, uint32_t n)
{
	uint64_t page = 0;

	if (n > lz_cur_left(c))
		c->bad = true;
	ck->dirty = get_array(c, n, sizeof(*ck->dirty));
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		uint64_t step = lz_get_max(c, LAST_PAGE - page);

		if (i && !step)
			c->bad = true; /* not ascending */
		page += step;
		ck->dirty[i] = page * LZ_PAGE;
	}
	ck->n_dirty = c->bad ? 0 : n;
}

struct lz_checkpoint *lz_head_get(const struct lz_buf *b, uint32_t n_dirty)
{
	struct lz_cur c = {.p = b->p, .end = b->p + b->len};
	struct lz_checkpoint *ck = calloc(1, sizeof(*ck));

	if (!ck) {
		lz_fail("no memory for a checkpoint");
		return NULL;
	}
	ck->index = (uint32_t)lz_get_max(&c, UINT32_MAX);
	uint8_t kind = lz_get_u8(&c);
	ck->whole = kind & 1;
	ck->exact = kind >> 1 & 1;
	c.bad |= kind > 3;
	get_pos(&c, &ck->pos);
	ck->time_ns = lz_get_var(&c);
	ck->map_id = lz_get_var(&c);
	ck->brk = lz_get_var(&c);
	ck->stack_limit = lz_get_var(&c);
	ck->stack_start = lz_get_var(&c);
	ck->pos_offset = lz_get_var(&c);
	get_threads(&c, ck);
	get_vmas(&c, ck);
	get_dirty(&c, ck, n_dirty);
	/* one thread runs, the first */
	if (!c.bad && c.p == c.end && ck->n_threads)
		return ck;
	lz_checkpoint_free(ck);
	lz_fail("a checkpoint's bytes make no sense");
	return NULL;
}

void lz_checkpoint_free(struct lz_checkpoint *ck)
{
	if (!ck)
		return;
	for (uint32_t i = 0; i < ck->n_threads; i++)
		free(ck->threads[i].xstate);
	free(ck->threads);
	free(ck->vmas);
	free(ck->dirty);
	free(ck);
}

void lz_file_put(struct lz_buf *b, const struct lz_file *f)
{
	lz_put_text(b, f->path);
	lz_put_text(b, f->copy);
	lz_put_text(b, f->build_id);
	lz_put_var(b, f->size);
	lz_put_u32(b, f->crc);
}

int lz_file_get(const struct lz_buf *b, struct lz_file *f)
{
	struct lz_cur c = {.p = b->p, .end = b->p + b->len};

	memset(f, 0, sizeof(*f));
	f->path = lz_get_text(&c, LZ_MAX_FILE_RAW);
	f->copy = lz_get_text(&c, 255);
	f->build_id = lz_get_text(&c, 255);
	f->size = lz_get_var(&c);
	f->crc = lz_get_u32(&c);
	/* A copy's name must stay below files/. */
	if (!c.bad && c.p == c.end && !strchr(f->copy, '/') && f->copy[0] != '.')
		return 0;
	lz_file_free(f);
	return lz_fail("an entry of the file table makes no sense");
}

void lz_file_free(struct lz_file *f)
{
	free(f->path);
	free(f->copy);
	free(f->build_id);
	free(f->damage);
	memset(f, 0, sizeof(*f));
}
