/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/cfg/symbol_ranges.h>

#include <common/base/array.h>
#include <gelf.h>
#include <lizard/error.h>
#include <stdlib.h>

struct list {
	struct lz_cfg_range *v;
	size_t n, room;
};

static int add_section(struct list *to, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	if (!data || shdr->sh_entsize == 0)
		return 0;
	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_size == 0 ||
		    sym.st_shndx == SHN_UNDEF || sym.st_value + sym.st_size < sym.st_value)
			continue;
		if (lz_reserve(to->v, to->room, to->n + 1) < 0)
			return lz_fail("out of memory for %zu symbols", to->n + 1);
		to->v[to->n++] = (struct lz_cfg_range){sym.st_value, sym.st_value + sym.st_size};
	}
	return 0;
}

/* ELF has at most one section of each of these kinds. */
static bool is_first(const GElf_Shdr *shdr, unsigned *seen)
{
	unsigned kind = shdr->sh_type == SHT_SYMTAB ? 1 : shdr->sh_type == SHT_DYNSYM ? 2 : 0;
	bool first = kind & ~*seen;

	*seen |= kind;
	return first;
}

static int by_start(const void *pa, const void *pb)
{
	const struct lz_cfg_range *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

int lz_symbol_ranges(Elf *elf, struct lz_cfg_range **ranges, size_t *n)
{
	struct list all = {0};
	Elf_Scn *scn = NULL;
	unsigned seen = 0;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) && is_first(&shdr, &seen) &&
		    add_section(&all, scn, &shdr) < 0) {
			free(all.v);
			return -1;
		}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_start);
	*ranges = all.v;
	*n = all.n;
	return 0;
}

size_t lz_range_of(const struct lz_cfg_range *ranges, size_t n, uint64_t addr)
{
	size_t after = lz_lower_bound(i, n, ranges[i].start <= addr);

	return after && addr < ranges[after - 1].end ? after - 1 : n;
}
