/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers for GDB: see regs.h. Names, order and features are what GDB asks of a target
 * description for i386:x86-64 (manual, "i386 Features"). */
#include "replayer/front/regs.h"

#include <common/base/array.h>
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum place { GPR, XSTATE, X87_16, X87_TAG, X87_OP };

struct reg {
	char name[12];
	const char *type, *group;
	const char *generic; /* what LLDB calls its role; GDB passes that by */
	uint16_t bits, at;   /* at: offset in its place */
	uint8_t place;
	uint8_t component; /* of the xstate, which must not be in its initial state when written */
};

struct lz_regmap {
	struct reg *regs;
	size_t n, cap, bytes;
	char *xml;
};

enum { C_X87 = 0, C_SSE = 1, C_AVX = 2, C_K = 5, C_ZMM_HI = 6, C_HI16 = 7, C_PKRU = 9 };
enum { FX_MXCSR = 24, FX_ST = 32, FX_XMM = 160, XS_XCR0 = 464, XS_BV = 512, XS_HEADER_END = 576 };

static void add(struct lz_regmap *m, FILE *xml, struct reg r)
{
	if (lz_reserve(m->regs, m->cap, m->n + 1) < 0)
		return;
	m->regs[m->n++] = r;
	m->bytes += r.bits / 8;
	fprintf(xml, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"", r.name, r.bits, r.type);
	if (r.group)
		fprintf(xml, " group=\"%s\"", r.group);
	if (r.generic)
		fprintf(xml, " generic=\"%s\"", r.generic);
	fputs("/>\n", xml);
}

static void add_gpr(struct lz_regmap *m, FILE *xml, const char *name, size_t at, unsigned bits,
                    const char *type)
{
	struct reg r = {.type = type, .bits = bits, .at = at, .place = GPR};

	snprintf(r.name, sizeof r.name, "%s", name);
	add(m, xml, r);
}

/* A row of registers with numbers in their names. */
static void add_row(struct lz_regmap *m, FILE *xml, const char *format, unsigned first,
                    unsigned count, size_t at, size_t stride, struct reg r)
{
	r.place = XSTATE;
	for (unsigned i = 0; i < count; i++) {
		snprintf(r.name, sizeof r.name, format, first + i);
		r.at = at + i * stride;
		add(m, xml, r);
	}
}

#define U(field) offsetof(struct user_regs_struct, field)

static void add_integers(struct lz_regmap *m, FILE *xml)
{
	static const struct {
		const char *name;
		size_t at;
		const char *type;
	} rows[] = {
	    {"rax", U(rax), "int64"},    {"rbx", U(rbx), "int64"},    {"rcx", U(rcx), "int64"},
	    {"rdx", U(rdx), "int64"},    {"rsi", U(rsi), "int64"},    {"rdi", U(rdi), "int64"},
	    {"rbp", U(rbp), "data_ptr"}, {"rsp", U(rsp), "data_ptr"}, {"r8", U(r8), "int64"},
	    {"r9", U(r9), "int64"},      {"r10", U(r10), "int64"},    {"r11", U(r11), "int64"},
	    {"r12", U(r12), "int64"},    {"r13", U(r13), "int64"},    {"r14", U(r14), "int64"},
	    {"r15", U(r15), "int64"},    {"rip", U(rip), "code_ptr"},
	};
	static const struct {
		const char *name;
		size_t at;
	} segments[] = {{"cs", U(cs)}, {"ss", U(ss)}, {"ds", U(ds)},
	                {"es", U(es)}, {"fs", U(fs)}, {"gs", U(gs)}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		add_gpr(m, xml, rows[i].name, rows[i].at, 64, rows[i].type);
	add_gpr(m, xml, "eflags", U(eflags), 32, "i386_eflags");
	for (size_t i = 0; i < 6; i++)
		add_gpr(m, xml, segments[i].name, segments[i].at, 32, "int32");
}

static void add_x87(struct lz_regmap *m, FILE *xml)
{
	static const struct {
		const char *name;
		uint16_t at;
		uint8_t place;
	} rows[] = {{"fctrl", 0, X87_16},  {"fstat", 2, X87_16}, {"ftag", 4, X87_TAG},
	            {"fiseg", 12, X87_16}, {"fioff", 8, XSTATE}, {"foseg", 20, X87_16},
	            {"fooff", 16, XSTATE}, {"fop", 6, X87_OP}};

	add_row(m, xml, "st%u", 0, 8, FX_ST, 16,
	        (struct reg){.bits = 80, .type = "i387_ext", .component = C_X87});
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct reg r = {.bits = 32,
		                .type = "int",
		                .group = "float",
		                .at = rows[i].at,
		                .place = rows[i].place,
		                .component = C_X87};

		snprintf(r.name, sizeof r.name, "%s", rows[i].name);
		add(m, xml, r);
	}
}

static const char eflags_type[] =
    "<flags id=\"i386_eflags\" size=\"4\">"
    "<field name=\"\" start=\"22\" end=\"31\"/><field name=\"ID\" start=\"21\" end=\"21\"/>"
    "<field name=\"VIP\" start=\"20\" end=\"20\"/><field name=\"VIF\" start=\"19\" end=\"19\"/>"
    "<field name=\"AC\" start=\"18\" end=\"18\"/><field name=\"VM\" start=\"17\" end=\"17\"/>"
    "<field name=\"RF\" start=\"16\" end=\"16\"/><field name=\"NT\" start=\"14\" end=\"14\"/>"
    "<field name=\"OF\" start=\"11\" end=\"11\"/><field name=\"DF\" start=\"10\" end=\"10\"/>"
    "<field name=\"IF\" start=\"9\" end=\"9\"/><field name=\"TF\" start=\"8\" end=\"8\"/>"
    "<field name=\"SF\" start=\"7\" end=\"7\"/><field name=\"ZF\" start=\"6\" end=\"6\"/>"
    "<field name=\"AF\" start=\"4\" end=\"4\"/><field name=\"PF\" start=\"2\" end=\"2\"/>"
    "<field name=\"\" start=\"1\" end=\"1\"/><field name=\"CF\" start=\"0\" end=\"0\"/>"
    "</flags>\n";

static const char mxcsr_type[] =
    "<flags id=\"i386_mxcsr\" size=\"4\">"
    "<field name=\"IE\" start=\"0\" end=\"0\"/><field name=\"DE\" start=\"1\" end=\"1\"/>"
    "<field name=\"ZE\" start=\"2\" end=\"2\"/><field name=\"OE\" start=\"3\" end=\"3\"/>"
    "<field name=\"UE\" start=\"4\" end=\"4\"/><field name=\"PE\" start=\"5\" end=\"5\"/>"
    "<field name=\"DAZ\" start=\"6\" end=\"6\"/><field name=\"IM\" start=\"7\" end=\"7\"/>"
    "<field name=\"DM\" start=\"8\" end=\"8\"/><field name=\"ZM\" start=\"9\" end=\"9\"/>"
    "<field name=\"OM\" start=\"10\" end=\"10\"/><field name=\"UM\" start=\"11\" end=\"11\"/>"
    "<field name=\"PM\" start=\"12\" end=\"12\"/><field name=\"FZ\" start=\"15\" end=\"15\"/>"
    "</flags>\n";

static const char vec128_type[] =
    "<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
    "<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
    "<vector id=\"v16i8\" type=\"int8\" count=\"16\"/>"
    "<vector id=\"v8i16\" type=\"int16\" count=\"8\"/>"
    "<vector id=\"v4i32\" type=\"int32\" count=\"4\"/>"
    "<vector id=\"v2i64\" type=\"int64\" count=\"2\"/>"
    "<union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/>"
    "<field name=\"v2_double\" type=\"v2d\"/><field name=\"v16_int8\" type=\"v16i8\"/>"
    "<field name=\"v8_int16\" type=\"v8i16\"/><field name=\"v4_int32\" type=\"v4i32\"/>"
    "<field name=\"v2_int64\" type=\"v2i64\"/><field name=\"uint128\" type=\"uint128\"/>"
    "</union>\n";

static void feature(FILE *xml, const char *name)
{
	fprintf(xml, "<feature name=\"org.gnu.gdb.i386.%s\">\n", name);
}

static void end_feature(FILE *xml)
{
	fputs("</feature>\n", xml);
}

static void add_base(struct lz_regmap *m, FILE *xml)
{
	struct reg mxcsr = {.name = "mxcsr",
	                    .bits = 32,
	                    .type = "i386_mxcsr",
	                    .group = "vector",
	                    .at = FX_MXCSR,
	                    .place = XSTATE,
	                    .component = C_SSE};

	feature(xml, "core");
	fputs(eflags_type, xml);
	add_integers(m, xml);
	add_x87(m, xml);
	end_feature(xml);
	feature(xml, "sse");
	fputs(vec128_type, xml);
	fputs(mxcsr_type, xml);
	add_row(m, xml, "xmm%u", 0, 16, FX_XMM, 16,
	        (struct reg){.bits = 128, .type = "vec128", .component = C_SSE});
	add(m, xml, mxcsr);
	end_feature(xml);
	feature(xml, "linux");
	add_gpr(m, xml, "orig_rax", U(orig_rax), 64, "int");
	end_feature(xml);
	feature(xml, "segments");
	add(m, xml,
	    (struct reg){.name = "fs_base",
	                 .type = "int",
	                 .generic = "tp",
	                 .bits = 64,
	                 .at = U(fs_base),
	                 .place = GPR});
	add_gpr(m, xml, "gs_base", U(gs_base), 64, "int");
	end_feature(xml);
}

/* Where the processor keeps a component in the standard format; 0 if it does not fit into LEN. */
static size_t component_at(unsigned c, uint64_t xcr0, uint32_t len)
{
	unsigned size, at, ecx, edx;

	if (!(xcr0 >> c & 1) || !__get_cpuid_count(0xd, c, &size, &at, &ecx, &edx))
		return 0;
	return at >= XS_HEADER_END && size <= len && at <= len - size ? at : 0;
}

static void add_avx512(struct lz_regmap *m, FILE *xml, size_t k, size_t hi, size_t hi16)
{
	feature(xml, "avx512");
	fputs(vec128_type, xml);
	fputs("<vector id=\"v2ui128\" type=\"uint128\" count=\"2\"/>\n", xml);
	add_row(m, xml, "xmm%u", 16, 16, hi16, 64,
	        (struct reg){.bits = 128, .type = "vec128", .component = C_HI16});
	add_row(m, xml, "ymm%uh", 16, 16, hi16 + 16, 64,
	        (struct reg){.bits = 128, .type = "uint128", .component = C_HI16});
	add_row(m, xml, "k%u", 0, 8, k, 8,
	        (struct reg){.bits = 64, .type = "uint64", .component = C_K});
	add_row(m, xml, "zmm%uh", 0, 16, hi, 32,
	        (struct reg){.bits = 256, .type = "v2ui128", .component = C_ZMM_HI});
	add_row(m, xml, "zmm%uh", 16, 16, hi16 + 32, 64,
	        (struct reg){.bits = 256, .type = "v2ui128", .component = C_HI16});
	end_feature(xml);
}

static void add_extended(struct lz_regmap *m, FILE *xml, const uint8_t *xstate, uint32_t len)
{
	uint64_t xcr0 = 0;

	if (len < XS_HEADER_END)
		return;
	memcpy(&xcr0, xstate + XS_XCR0, 8);
	size_t avx = component_at(C_AVX, xcr0, len), k = component_at(C_K, xcr0, len);
	size_t hi = component_at(C_ZMM_HI, xcr0, len), hi16 = component_at(C_HI16, xcr0, len);
	size_t pkru = component_at(C_PKRU, xcr0, len);

	if (avx) {
		feature(xml, "avx");
		add_row(m, xml, "ymm%uh", 0, 16, avx, 16,
		        (struct reg){.bits = 128, .type = "uint128", .component = C_AVX});
		end_feature(xml);
	}
	if (avx && k && hi && hi16)
		add_avx512(m, xml, k, hi, hi16);
	if (pkru) {
		feature(xml, "pkeys");
		add_row(m, xml, "pkru", 0, 1, pkru, 0,
		        (struct reg){.bits = 32, .type = "uint32", .component = C_PKRU});
		end_feature(xml);
	}
}

struct lz_regmap *lz_regmap_new(const uint8_t *xstate, uint32_t len)
{
	struct lz_regmap *m = calloc(1, sizeof *m);
	size_t size;
	FILE *xml = m ? open_memstream(&m->xml, &size) : NULL;

	if (!xml) {
		free(m);
		return NULL;
	}
	fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target>"
	      "<architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>\n",
	      xml);
	add_base(m, xml);
	add_extended(m, xml, xstate, len);
	fputs("</target>\n", xml);
	fclose(xml);
	return m;
}

void lz_regmap_free(struct lz_regmap *m)
{
	if (!m)
		return;
	free(m->regs);
	free(m->xml);
	free(m);
}

const char *lz_regmap_xml(const struct lz_regmap *m)
{
	return m->xml;
}

size_t lz_regmap_count(const struct lz_regmap *m)
{
	return m->n;
}

size_t lz_regmap_size(const struct lz_regmap *m)
{
	return m->bytes;
}

/* The two tag bits of one x87 register, which FXSAVE abridges to one. */
static unsigned full_tag(const uint8_t *st)
{
	unsigned exponent = (st[8] | st[9] << 8) & 0x7fff;
	uint64_t fraction;

	memcpy(&fraction, st, 8);
	if (exponent == 0x7fff)
		return 2;
	if (exponent == 0)
		return fraction ? 2 : 1;
	return fraction >> 63 ? 0 : 2;
}

static uint16_t tags_of(const uint8_t *fx)
{
	unsigned top = (fx[2] | fx[3] << 8) >> 11 & 7;
	unsigned tags = 0;

	for (unsigned i = 0; i < 8; i++) {
		unsigned tag = 3;

		if (fx[4] >> i & 1)
			tag = full_tag(fx + FX_ST + 16 * ((i + 8 - top) % 8));
		tags |= tag << 2 * i;
	}
	return (uint16_t)tags;
}

static uint8_t abridged(uint16_t tags)
{
	uint8_t kept = 0;

	for (unsigned i = 0; i < 8; i++)
		if ((tags >> 2 * i & 3) != 3)
			kept |= (uint8_t)(1u << i);
	return kept;
}

size_t lz_reg_get(const struct lz_regmap *m, const struct lz_regfile *f, size_t nr, void *bytes)
{
	if (nr >= m->n)
		return 0;
	const struct reg *r = &m->regs[nr];
	size_t size = r->bits / 8;
	uint32_t v = 0;

	if (r->place == GPR) {
		memcpy(bytes, (const uint8_t *)&f->gpr + r->at, size);
		return size;
	}
	if (r->at + size > f->xstate_len) {
		memset(bytes, 0, size);
		return size;
	}
	if (r->place == XSTATE) {
		memcpy(bytes, f->xstate + r->at, size);
		return size;
	}
	if (r->place == X87_TAG)
		v = tags_of(f->xstate);
	else
		memcpy(&v, f->xstate + r->at, 2);
	if (r->place == X87_OP)
		v &= 0x7ff;
	memcpy(bytes, &v, size);
	return size;
}

bool lz_reg_is_general(const struct lz_regmap *m, size_t nr)
{
	return nr < m->n && m->regs[nr].place == GPR;
}

size_t lz_reg_set(const struct lz_regmap *m, struct lz_regfile *f, size_t nr, const void *bytes)
{
	if (nr >= m->n)
		return 0;
	const struct reg *r = &m->regs[nr];
	size_t size = r->bits / 8;

	if (r->place == GPR) {
		uint64_t v = 0;

		memcpy(&v, bytes, size);
		memcpy((uint8_t *)&f->gpr + r->at, &v, sizeof v);
		return size;
	}
	if (r->at + size > f->xstate_len || f->xstate_len < XS_HEADER_END)
		return size;
	if (r->place == XSTATE) {
		memcpy(f->xstate + r->at, bytes, size);
	} else if (r->place == X87_TAG) {
		uint16_t tags;

		memcpy(&tags, bytes, 2);
		f->xstate[4] = abridged(tags);
	} else {
		memcpy(f->xstate + r->at, bytes, 2);
	}
	f->xstate[XS_BV + r->component / 8] |= (uint8_t)(1u << r->component % 8);
	return size;
}
