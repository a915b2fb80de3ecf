/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/elf_syms.h"
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

static uint64_t find_in(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, const char *name)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;

	for (size_t i = 0; i < n; i++) {
		GElf_Sym sym;
		const char *found;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		found = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (found && sym.st_shndx != SHN_UNDEF && strcmp(found, name) == 0)
			return sym.st_value;
	}
	return 0;
}

struct opened {
	int fd;
	Elf *elf; /* NULL: it is none */
};

static struct opened open_elf(const char *path)
{
	struct opened o = {.fd = open(path, O_RDONLY | O_CLOEXEC)};

	elf_version(EV_CURRENT);
	if (o.fd >= 0)
		o.elf = elf_begin(o.fd, ELF_C_READ_MMAP, NULL);
	if (o.elf && elf_kind(o.elf) != ELF_K_ELF) {
		elf_end(o.elf);
		o.elf = NULL;
	}
	return o;
}

static void close_elf(struct opened *o)
{
	if (o->elf)
		elf_end(o->elf);
	if (o->fd >= 0)
		close(o->fd);
}

/* The first section of this type. */
static Elf_Scn *section_of(Elf *elf, uint32_t type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while (elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return scn;
	return NULL;
}

uint64_t lz_elf_dynamic_symbol(const char *path, const char *name)
{
	struct opened o = open_elf(path);
	GElf_Shdr sh;
	Elf_Scn *scn = section_of(o.elf, SHT_DYNSYM, &sh);
	const uint64_t value = scn ? find_in(o.elf, scn, &sh, name) : 0;

	close_elf(&o);
	return value;
}

/* False: no variable, or several ones, lie there. */
static bool variable_at(Elf *elf, uint64_t addr, uint64_t len, struct lz_elf_variable *v)
{
	GElf_Shdr sh;
	Elf_Scn *scn = section_of(elf, SHT_SYMTAB, &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	bool found = false;
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *text;

		if (GELF_ST_TYPE(sym.st_info) != STT_OBJECT || sym.st_shndx == SHN_UNDEF ||
		    addr < sym.st_value || addr - sym.st_value >= sym.st_size)
			continue;
		text = elf_strptr(elf, sh.sh_link, sym.st_name);
		if (found || !text || len > sym.st_size - (addr - sym.st_value) ||
		    strlen(text) >= sizeof v->name)
			return false;
		found = true;
		memcpy(v->name, text, strlen(text) + 1);
		v->addr = sym.st_value;
		v->len = sym.st_size;
	}
	return found;
}

bool lz_elf_own_variable(const char *path, uint64_t addr, uint64_t len, struct lz_elf_variable *v)
{
	struct opened o = open_elf(path);
	GElf_Shdr sh;
	bool own = o.elf && variable_at(o.elf, addr, len, v);
	Elf_Scn *dynamic = own ? section_of(o.elf, SHT_DYNSYM, &sh) : NULL;

	if (dynamic && find_in(o.elf, dynamic, &sh, v->name))
		own = false;
	close_elf(&o);
	return own;
}
