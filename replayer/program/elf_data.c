/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/elf_data.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lizard/error.h>

enum { PARTS_MAX = 32, SIZE_MAX_ALL = 1 << 29 };

struct lz_elf_data {
	struct lz_jumps_data part[PARTS_MAX];
	uint8_t *bytes[PARTS_MAX];
	size_t n, size;
};

/* What the file says of it may be anything. */
static int add_part(struct lz_elf_data *d, int fd, const GElf_Phdr *p)
{
	if (!p->p_filesz || p->p_filesz > p->p_memsz || p->p_vaddr + p->p_filesz < p->p_vaddr ||
	    p->p_filesz > SIZE_MAX_ALL - d->size)
		return 0;
	uint8_t *bytes = d->n < PARTS_MAX ? malloc(p->p_filesz) : NULL;

	if (!bytes)
		return lz_fail("out of memory for a program's code");
	const ssize_t got = pread(fd, bytes, p->p_filesz, (off_t)p->p_offset);
	if (got < 0 || (uint64_t)got < p->p_filesz) {
		free(bytes);
		return 0;
	}
	d->bytes[d->n] = bytes;
	d->part[d->n] = (struct lz_jumps_data){
	    .where = {p->p_vaddr, p->p_vaddr + p->p_filesz},
	    .bytes = bytes,
	    .constant = !(p->p_flags & PF_W),
	};
	d->n++;
	d->size += p->p_filesz;
	return 0;
}

static struct lz_jumps_data *part_at(struct lz_elf_data *d, uint64_t addr)
{
	for (size_t i = 0; i < d->n; i++)
		if (addr >= d->part[i].where.start && addr < d->part[i].where.end)
			return &d->part[i];
	return NULL;
}

static void relocate(struct lz_elf_data *d, Elf_Data *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		GElf_Rela rela;

		if (!gelf_getrela(data, (int)i, &rela))
			return;
		struct lz_jumps_data *p = GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE
		                              ? part_at(d, rela.r_offset)
		                              : NULL;
		if (p && p->where.end - rela.r_offset >= sizeof(rela.r_addend))
			memcpy((uint8_t *)p->bytes + (rela.r_offset - p->where.start),
			       &rela.r_addend, sizeof(rela.r_addend));
	}
}

static void relocate_all(struct lz_elf_data *d, Elf *elf)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			continue;
		if (sh.sh_type == SHT_RELA && sh.sh_flags & SHF_ALLOC && sh.sh_entsize) {
			Elf_Data *data = elf_getdata(scn, NULL);
			if (data)
				relocate(d, data, sh.sh_size / sh.sh_entsize);
		}
	}
}

static int read_file(struct lz_elf_data *d, int fd, Elf *elf)
{
	size_t n;

	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &n) < 0)
		return lz_fail("it is no ELF file");
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && add_part(d, fd, &p) < 0)
			return -1;
	}
	relocate_all(d, elf);
	return 0;
}

struct lz_elf_data *lz_elf_data_open(const char *path)
{
	struct lz_elf_data *d = calloc(1, sizeof(*d));
	const int fd = d ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (!d) {
		lz_fail("out of memory for %s", path);
		return NULL;
	}
	elf_version(EV_CURRENT);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	const int rc = fd < 0 ? lz_fail_errno("cannot read %s", path) : read_file(d, fd, elf);
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		return d;
	lz_elf_data_close(d);
	return NULL;
}

void lz_elf_data_close(struct lz_elf_data *d)
{
	if (!d)
		return;
	while (d->n)
		free(d->bytes[--d->n]);
	free(d);
}

const struct lz_jumps_data *lz_elf_data_parts(const struct lz_elf_data *d, size_t *n)
{
	*n = d->n;
	return d->part;
}

const uint8_t *lz_elf_data_at(const struct lz_elf_data *d, uint64_t addr, size_t *left)
{
	const struct lz_jumps_data *p = part_at((struct lz_elf_data *)d, addr);

	*left = p ? p->where.end - addr : 0;
	return p ? p->bytes + (addr - p->where.start) : NULL;
}
