/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/sites.h>

#include <lizard/recording.h>
#include <stdlib.h>
#include <string.h>

static bool in_pool(const struct lz_sites *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_pools; i++)
		if (addr - s->pool[i] < LZ_POOL_LEN)
			return true;
	return false;
}

uint64_t lz_sites_shown(const struct lz_sites *s, uint64_t real)
{
	if (!in_pool(s, real))
		return real;
	for (size_t i = 0; i < s->n; i++)
		for (unsigned k = 0; k < s->a[i].n_points; k++)
			if (real == s->a[i].call + s->a[i].point[k].in)
				return s->a[i].at + s->a[i].point[k].at;
	return real;
}

static void show(const struct lz_elsewhere *e, struct user_regs_struct *r)
{
	const struct lz_sites *s = (const struct lz_sites *)e;
	uint64_t real = r->rip;

	r->rip = lz_sites_shown(s, real);
	if (r->rip != real && r->rcx == real)
		r->rcx = r->rip;
}

struct lz_site *lz_site_at(const struct lz_sites *s, uint64_t at)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->a[i].at == at && !s->a[i].gone)
			return &s->a[i];
	return NULL;
}

/* Its place in the detour; NULL: it is in no jump. */
static const struct lz_point *point_at(const struct lz_site *x, uint64_t addr)
{
	uint64_t off = addr - x->at;

	for (unsigned k = 0; off < x->patch[LZ_AT_SITE].len && k < x->n_points; k++)
		if (off == x->point[k].at)
			return &x->point[k];
	return NULL;
}

struct lz_site *lz_site_of(const struct lz_sites *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->a[i].gone && point_at(&s->a[i], addr))
			return &s->a[i];
	return NULL;
}

struct lz_site *lz_site_behind(const struct lz_sites *s, uint64_t addr)
{
	struct lz_site *x = lz_site_at(s, addr - LZ_CALL_INSN);

	return x && !x->counter && !x->cpuid && !x->xsavec ? x : NULL;
}

/* Is a call over with R, or to be made again by the kernel? */
static bool is_in_call(const struct user_regs_struct *r)
{
	return (int64_t)r->orig_rax >= 0;
}

static void hide(const struct lz_elsewhere *e, struct user_regs_struct *r)
{
	const struct lz_sites *s = (const struct lz_sites *)e;
	const struct lz_site *x = is_in_call(r) ? lz_site_behind(s, r->rip) : NULL;

	if (x && !x->given_back) {
		r->rip = x->call + LZ_CALL_INSN;
		return;
	}
	x = lz_site_of(s, r->rip);
	if (x && !x->given_back)
		r->rip = x->call + point_at(x, r->rip)->in;
}

void lz_sites_begin(struct lz_sites *s)
{
	*s = (struct lz_sites){.elsewhere = {show, hide}};
}

void lz_sites_free(struct lz_sites *s)
{
	free(s->a);
	free(s->changed.a);
	*s = (struct lz_sites){0};
}

/* Is ADDR where X jumps from padding? */
static bool is_second_jump(const struct lz_site *x, uint64_t addr)
{
	const struct lz_patch *p = &x->patch[LZ_IN_PADDING];

	return p->len && addr == p->at + p->len - LZ_JUMP;
}

struct lz_site *lz_site_padding(const struct lz_sites *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct lz_patch *p = &s->a[i].patch[LZ_IN_PADDING];

		if (p->len && p->at == addr && !s->a[i].gone)
			return &s->a[i];
	}
	return NULL;
}

bool lz_sites_inside(const struct lz_sites *s, uint64_t addr, uint64_t *at)
{
	*at = 0;
	if (addr - s->code < s->code_len || addr - s->clock < s->clock_len)
		return true;
	for (size_t i = 0; i < s->n; i++) {
		const struct lz_site *x = &s->a[i];

		if ((addr >= x->begin && addr < x->call) || (!x->gone && is_second_jump(x, addr))) {
			*at = x->at;
			return true;
		}
	}
	return false;
}

static bool show_patch(const struct lz_patch *p, uint64_t addr, uint8_t *bytes, size_t n)
{
	bool shown = false;

	for (unsigned k = 0; k < p->len; k++) {
		const uint64_t off = p->at + k - addr;

		if (off >= n || bytes[off] != p->now[k])
			continue;
		bytes[off] = p->was[k];
		shown = true;
	}
	return shown;
}

bool lz_sites_show_some(const struct lz_sites *s, uint64_t addr, uint8_t *bytes, size_t n)
{
	bool shown = false;

	for (size_t i = 0; i < s->n; i++)
		for (unsigned k = 0; !s->a[i].given_back && !s->a[i].gone && k < LZ_PATCHES; k++)
			shown |= show_patch(&s->a[i].patch[k], addr, bytes, n);
	return shown;
}

bool lz_sites_show(const struct lz_sites *s, uint64_t addr, uint8_t *page)
{
	return lz_sites_show_some(s, addr, page, LZ_PAGE);
}

bool lz_sites_had(const struct lz_sites *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n; i++)
		for (unsigned k = 0; k < LZ_PATCHES; k++)
			if (lz_patch_overlaps(&s->a[i].patch[k], addr, addr + LZ_PAGE))
				return true;
	return false;
}
