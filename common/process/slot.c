/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <lizard/slot.h>

#include <fcntl.h>
#include <gelf.h>
#include <lizard/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* The link-time address of the code at file offset OFFSET. */
static bool address_of(Elf *elf, uint64_t offset, uint64_t *addr)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		uint64_t begin = p.p_align > 1 ? p.p_offset & -p.p_align : p.p_offset;
		if (offset >= begin && offset < p.p_offset + p.p_filesz) {
			*addr = p.p_vaddr + (offset - p.p_offset);
			return true;
		}
	}
	return false;
}

static bool is_pos(Elf *elf, const GElf_Shdr *rela, uint64_t symbol)
{
	Elf_Scn *symbols = elf_getscn(elf, rela->sh_link);
	GElf_Shdr sh;
	GElf_Sym sym;

	if (!symbols || !gelf_getshdr(symbols, &sh) ||
	    !gelf_getsym(elf_getdata(symbols, NULL), (int)symbol, &sym))
		return false;
	const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);
	return name && strcmp(name, "__lizard_pos") == 0;
}

/* Among the relocations of SECTION. */
static bool slot_in(Elf *elf, Elf_Scn *section, uint64_t *slot)
{
	GElf_Shdr sh;
	GElf_Rela rela;

	if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_RELA || !(sh.sh_flags & SHF_ALLOC))
		return false;
	Elf_Data *data = elf_getdata(section, NULL);
	for (int i = 0; data && gelf_getrela(data, i, &rela); i++) {
		if (GELF_R_TYPE(rela.r_info) != R_X86_64_TPOFF64 ||
		    !is_pos(elf, &sh, GELF_R_SYM(rela.r_info)))
			continue;
		*slot = rela.r_offset;
		return true;
	}
	return false;
}

static int find_in(Elf *elf, uint64_t offset, int64_t *distance)
{
	uint64_t code, slot;

	if (elf_kind(elf) != ELF_K_ELF || !address_of(elf, offset, &code))
		return 0;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s)) != NULL;)
		if (slot_in(elf, s, &slot)) {
			*distance = (int64_t)(slot - code);
			return 1;
		}
	return 0;
}

int lz_slot_find(const char *path, uint64_t offset, int64_t *distance)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return lz_fail_errno("%s", path);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	int ret = elf ? find_in(elf, offset, distance) : 0;
	elf_end(elf);
	close(fd);
	return ret;
}
