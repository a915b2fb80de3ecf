/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intel SDM volume 1, sections 13.4 (the area) and 13.10 (XSAVEC); volume 2: XSAVEC is 0F C7 /4. */
#include <string.h>
#include <common/process/cpuid_cache.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <lizard/xsave_parts.h>
#include <lizard/xsavec.h>

enum {
	X87 = 0,
	SSE = 1,
	MXCSR_AT = 24,
	ST_AT = 32,
	XMM_AT = 160,
	XMM_END = 416,
	XCR0_AT = 464, /* what Linux leaves there */
	HEADER_AT = 512,
	HEADER_END = 576,
	MXCSR_INITIAL = 0x1f80,
	STATE_LEAF = 0xd /* of cpuid */
};

bool lz_xsavec_decode(const uint8_t *code, size_t len, bool armed, struct lz_xsavec *in)
{
	enum { MODRM = 2, SIB = 3, DISP8 = 0x64, DISP32 = 0xa4, RSP = 0x24 };
	uint8_t opcode = armed ? LZ_RAND_ARMED : LZ_RAND_OPCODE;

	if (len < 5 || code[0] != 0x0f || code[1] != opcode || code[SIB] != RSP)
		return false;
	in->at = 1;
	if (code[MODRM] == DISP8) {
		in->offset = (int8_t)code[4];
		in->len = 5;
		return true;
	}
	if (code[MODRM] != DISP32 || len < LZ_XSAVEC_MAX)
		return false;
	memcpy(&in->offset, code + 4, 4);
	in->len = LZ_XSAVEC_MAX;
	return true;
}

static bool leaves_to_chance(void)
{
	uint32_t vendor[4];

	lz_cpuid_ask(0, 0, vendor);
	const uint32_t name[3] = {vendor[1], vendor[3], vendor[2]};

	return !memcmp(name, "AuthenticAMD", sizeof(name)) ||
	       !memcmp(name, "HygonGenuine", sizeof(name));
}

bool lz_xsavec_by_chance(void)
{
	static _Atomic int known;

	if (!known)
		known = leaves_to_chance() ? 1 : -1;
	return known > 0;
}

static bool is_zero(const uint8_t *p, size_t len)
{
	return !len || (!p[0] && !memcmp(p, p + 1, len - 1));
}

/* Where a component is in the standard format and how the compacted one has it. */
struct component {
	unsigned size, at;
	bool aligned;
};

static bool find_component(unsigned i, uint32_t len, struct component *c)
{
	uint32_t answer[4];

	lz_cpuid_ask(0, 0, answer);
	if (answer[0] < STATE_LEAF)
		return false;
	lz_cpuid_ask(STATE_LEAF, i, answer);
	*c = (struct component){answer[0], answer[1], answer[2] & 2};
	return c->size && c->size <= len && c->at >= HEADER_END && c->at <= len - c->size;
}

/* The kernel lets programs use these. */
static uint64_t enabled(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

void lz_xsavec_components(struct lz_xsave_component *c)
{
	const uint64_t all = enabled();

	for (unsigned i = 0; i < LZ_XSAVE_COMPONENTS; i++) {
		struct component found;

		c[i] = (struct lz_xsave_component){0};
		if (i >= 2 && all >> i & 1 && find_component(i, LZ_XSAVEC_ROOM, &found))
			c[i] = (struct lz_xsave_component){found.size, found.aligned};
	}
}

struct image {
	const uint8_t *from;
	uint8_t *to;
	uint64_t in_use;
	struct lz_xsavec_part *part;
	int n;
};

static void store(struct image *m, uint32_t to, uint32_t from, uint32_t len)
{
	memcpy(m->to + to, m->from + from, len);
	m->part[m->n++] = (struct lz_xsavec_part){to, len};
}

static void store_legacy(struct image *m, uint64_t mask)
{
	bool x87 = mask & m->in_use & 1ULL << X87, sse;
	uint32_t mxcsr;

	memcpy(&mxcsr, m->from + MXCSR_AT, sizeof(mxcsr));
	sse = !is_zero(m->from + XMM_AT, XMM_END - XMM_AT) || mxcsr != MXCSR_INITIAL;
	m->in_use = (m->in_use & ~(1ULL << SSE)) | (uint64_t)sse << SSE;
	sse &= mask >> SSE & 1;
	if (x87)
		store(m, 0, 0, MXCSR_AT);
	if (sse)
		store(m, MXCSR_AT, MXCSR_AT, ST_AT - MXCSR_AT);
	if (x87)
		store(m, ST_AT, ST_AT, XMM_AT - ST_AT);
	if (sse)
		store(m, XMM_AT, XMM_AT, XMM_END - XMM_AT);
}

static int store_extended(struct image *m, uint64_t mask, uint32_t len)
{
	uint32_t to = HEADER_END;

	for (unsigned i = 2; i < 63; i++) {
		struct component c;

		if (!(mask >> i & 1))
			continue;
		if (!find_component(i, len, &c) || to > LZ_XSAVEC_ROOM - 64 - c.size)
			return lz_fail("component %u of the vector registers is not known", i);
		if (c.aligned)
			to = (to + 63) & ~63u;
		if (is_zero(m->from + c.at, c.size))
			m->in_use &= ~(1ULL << i);
		if (m->in_use >> i & 1)
			store(m, to, c.at, c.size);
		to += c.size;
	}
	return 0;
}

int lz_xsavec_image(const uint8_t *xstate, uint32_t len, uint64_t mask, uint8_t *image,
                    struct lz_xsavec_part *part)
{
	struct image m = {.from = xstate, .to = image, .part = part};
	uint64_t xcr0, header[2];

	if (len < HEADER_END)
		return lz_fail("vector registers of %u bytes make no sense", len);
	memcpy(&xcr0, xstate + XCR0_AT, sizeof(xcr0));
	memcpy(&m.in_use, xstate + HEADER_AT, sizeof(m.in_use));
	mask &= xcr0;
	store_legacy(&m, mask);
	part[m.n++] = (struct lz_xsavec_part){HEADER_AT, sizeof(header)};
	if (store_extended(&m, mask, len) < 0)
		return -1;
	header[0] = m.in_use & mask;
	header[1] = mask | 1ULL << 63;
	memcpy(image + HEADER_AT, header, sizeof(header));
	return m.n;
}

uint64_t lz_xsavec_addr(const struct lz_xsavec *in, const struct user_regs_struct *r)
{
	return r->rsp + (uint64_t)(int64_t)in->offset;
}

uint64_t lz_xsavec_mask(const struct user_regs_struct *r)
{
	return (uint32_t)r->rax | r->rdx << 32;
}
