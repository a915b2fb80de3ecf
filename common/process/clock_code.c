/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/clock_code.h>

#include <Zydis/Zydis.h>
#include <gelf.h>
#include <lizard/proc.h>
#include <string.h>
#include <unistd.h>

/* ---- the vDSO of this process ---- */

struct place {
	uint64_t data, code, end;
};

static int find(void *arg, const struct lz_maps_entry *e)
{
	struct place *p = arg;

	if (strcmp(e->path, "[vvar]") == 0)
		p->data = e->start;
	if (strcmp(e->path, "[vdso]") != 0)
		return 0;
	p->code = e->start;
	p->end = e->end;
	return 1;
}

static bool read_code(struct lz_clock_code *c)
{
	struct place p = {0};

	if (lz_proc_maps(getpid(), find, &p) < 0 || !p.code || !p.data || p.data >= p.code ||
	    p.end - p.code > sizeof(c->code))
		return false;
	c->len = p.end - p.code;
	c->behind = p.code - p.data;
	memcpy(c->code, (const void *)(uintptr_t)p.code, c->len); // NOLINT: the kernel's
	return true;
}

static uint64_t find_in(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, sh->sh_link, sym.st_name);

		if (name && sym.st_shndx != SHN_UNDEF && strcmp(name, "__vdso_clock_gettime") == 0)
			return sym.st_value;
	}
	return 0;
}

/* 0: it is not there. */
static uint64_t find_entry(struct lz_clock_code *c)
{
	Elf_Scn *scn = NULL;
	uint64_t entry = 0;
	GElf_Shdr sh;

	elf_version(EV_CURRENT);
	Elf *elf = elf_memory((char *)c->code, c->len);
	while (elf && !entry && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_DYNSYM)
			entry = find_in(elf, scn, &sh);
	elf_end(elf);
	return entry < c->len ? entry : 0;
}

/* ---- what it does ---- */

enum { WAYS = 64, CALLS = 8 };

/* All that can be reached. */
struct walk {
	struct lz_clock_code *c;
	uint8_t seen[LZ_CLOCK_CODE_MOST];
	uint64_t todo[WAYS], call[CALLS];
	size_t n_todo, n_calls;
};

static bool is_general(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	for (unsigned i = 0; i < in->operand_count; i++) {
		if (op[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(op[i].reg.value)) {
		case ZYDIS_REGCLASS_X87:
		case ZYDIS_REGCLASS_MMX:
		case ZYDIS_REGCLASS_XMM:
		case ZYDIS_REGCLASS_YMM:
		case ZYDIS_REGCLASS_ZMM:
		case ZYDIS_REGCLASS_TMM:
		case ZYDIS_REGCLASS_MASK:
		case ZYDIS_REGCLASS_BOUND: return false;
		default: break;
		}
	}
	return true;
}

static bool follow(struct walk *w, uint64_t at)
{
	if (at >= w->c->len || w->n_todo == WAYS)
		return false;
	w->todo[w->n_todo++] = at;
	return true;
}

/* What comes behind IN, which ends at NEXT. */
static bool follow_all(struct walk *w, const ZydisDecodedInstruction *in, uint64_t next)
{
	const bool has_target = in->raw.imm[0].is_relative;
	const uint64_t target = next + (uint64_t)in->raw.imm[0].value.s;

	switch (in->meta.category) {
	case ZYDIS_CATEGORY_RET: return true;
	case ZYDIS_CATEGORY_UNCOND_BR: return has_target && follow(w, target);
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR: return has_target && follow(w, target) && follow(w, next);
	case ZYDIS_CATEGORY_INTERRUPT: return false;
	case ZYDIS_CATEGORY_SYSTEM:
		return (in->mnemonic == ZYDIS_MNEMONIC_RDTSC ||
		        in->mnemonic == ZYDIS_MNEMONIC_RDTSCP) &&
		       follow(w, next);
	case ZYDIS_CATEGORY_SYSCALL:
		if (in->mnemonic != ZYDIS_MNEMONIC_SYSCALL || w->n_calls == CALLS)
			return false;
		w->call[w->n_calls++] = next - in->length;
		return follow(w, next);
	default: return follow(w, next);
	}
}

static bool walk(struct walk *w)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (w->n_todo) {
		const uint64_t at = w->todo[--w->n_todo];

		if (w->seen[at])
			continue;
		w->seen[at] = 1;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, w->c->code + at, w->c->len - at,
		                                         &in, op)) ||
		    !is_general(&in, op) || !follow_all(w, &in, at + in.length))
			return false;
	}
	return true;
}

/* Whoever calls it takes what is less than 0 for a failure: the number of a call is in eax there. */
static void fail_instead(struct walk *w)
{
	static const uint8_t neg_eax[] = {0xf7, 0xd8};

	for (size_t i = 0; i < w->n_calls; i++)
		memcpy(w->c->code + w->call[i], neg_eax, sizeof(neg_eax));
}

static bool understand(struct lz_clock_code *c)
{
	static struct walk w;

	w.c = c;
	if (!read_code(c) || !(c->entry = find_entry(c)) || !follow(&w, c->entry) || !walk(&w))
		return false;
	fail_instead(&w);
	return true;
}

const struct lz_clock_code *lz_clock_code(void)
{
	static struct lz_clock_code code;
	static int known;

	if (!known)
		known = understand(&code) ? 1 : -1;
	return known > 0 ? &code : NULL;
}
