/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tools that damage things have in common: chance by a seed. */
#ifndef LIZARD_TESTS_FUZZ_RANDOM_H
#define LIZARD_TESTS_FUZZ_RANDOM_H

#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static uint64_t state;

static inline uint32_t rnd(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

static inline void seed(uint64_t s)
{
	state = s * 0x9E3779B97F4A7C15u;
	for (int i = 0; i < 8; i++)
		rnd();
}

static inline void flip(uint8_t *p, size_t n)
{
	if (!n)
		return;
	for (uint32_t k = rnd() % 8 + 1; k; k--) {
		size_t i = rnd() % n;

		switch (rnd() % 4) {
		case 0: p[i] = (uint8_t)rnd(); break;
		case 1: memset(p + i, rnd() & 1 ? 0xff : 0, n - i < 8 ? n - i : 8); break;
		default: p[i] ^= (uint8_t)(1 << rnd() % 8);
		}
	}
}

/* Bytes of a section that Lizard reads, or of the ELF file's own tables. */
static inline void pick_elf_range(const char *name, size_t *from, size_t *len)
{
	static const char *const wanted[] = {".lizard", ".debug_", ".symtab", ".strtab",
	                                     ".eh_frame"};
	const char *want = rnd() % 3 ? wanted[0] : wanted[rnd() % 5];
	int fd = open(name, O_RDONLY);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;
	size_t names_at = 0;
	GElf_Shdr sh;

	*from = 0;
	*len = 64;
	elf_getshdrstrndx(elf, &names_at);
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh)) {
		const char *is = elf_strptr(elf, names_at, sh.sh_name);

		if (!is || strncmp(is, want, strlen(want)) || !sh.sh_size ||
		    sh.sh_type == SHT_NOBITS)
			continue;
		*from = sh.sh_offset;
		*len = sh.sh_size;
		if (rnd() & 1)
			break;
	}
	elf_end(elf);
	close(fd);
}

#endif
