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

uint64_t lz_elf_dynamic_symbol(const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t value = 0;
	Elf_Scn *scn = NULL;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

	while (elf && elf_kind(elf) == ELF_K_ELF && !value && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_DYNSYM)
			value = find_in(elf, scn, &sh, name);
	}
	if (elf)
		elf_end(elf);
	close(fd);
	return value;
}
