/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols of code, for functions without debug information. */
#include <stdlib.h>
#include <string.h>
#include "replayer/program/lines_inside.h"

/* Of two symbols at one address the one with a size tells more. */
static int by_addr(const void *a, const void *b)
{
	const struct line_sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->size > y->size ? -1 : x->size < y->size;
}

static bool is_code(struct lz_lines *l, const GElf_Sym *sym, GElf_Word shndx, Elf *elf,
                    uint64_t addr, uint64_t *limit)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr sh;
	Elf_Scn *scn;

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (shndx == SHN_UNDEF || shndx >= SHN_LORESERVE || !elf)
		return false;
	scn = elf_getscn(elf, shndx);
	if (!scn || !gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR))
		return false;
	*limit = addr - sym->st_value + sh.sh_addr + sh.sh_size;
	return true;
}

static void read_symbols(struct lz_lines *l)
{
	int n = dwfl_module_getsymtab(l->mod);
	size_t kept = 0;

	l->syms_read = true;
	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr addr;
		GElf_Word shndx;
		Elf *elf;
		Dwarf_Addr bias;
		struct line_sym *s;
		uint64_t limit;
		const char *name;

		name = dwfl_module_getsym_info(l->mod, i, &sym, &addr, &shndx, &elf, &bias);
		if (!name || !*name || !is_code(l, &sym, shndx, elf, addr, &limit))
			continue;
		s = LINES_PUSH(l->syms, l->n_syms, l->cap_syms);
		if (!s)
			return;
		*s = (struct line_sym){addr, sym.st_size, limit, name};
	}
	if (l->n_syms)
		qsort(l->syms, l->n_syms, sizeof(*l->syms), by_addr);
	for (size_t i = 0; i < l->n_syms; i++)
		if (!kept || l->syms[kept - 1].addr != l->syms[i].addr)
			l->syms[kept++] = l->syms[i];
	l->n_syms = kept;
}

bool lines_symbol(struct lz_lines *l, uint64_t addr, struct lz_range *out)
{
	const struct line_sym *s;
	size_t n;

	if (!l->syms_read)
		read_symbols(l);
	n = lz_lower_bound(i, l->n_syms, l->syms[i].addr <= addr);
	if (!n)
		return false;
	s = &l->syms[n - 1];
	*out = (struct lz_range){s->addr, s->addr + s->size, s->name};
	if (!s->size) {
		out->end = s->limit;
		if (n < l->n_syms && l->syms[n].addr < out->end)
			out->end = l->syms[n].addr;
	}
	return addr < out->end;
}
