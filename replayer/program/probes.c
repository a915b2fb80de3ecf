/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/probes.h"
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/user.h>
#include <unistd.h>

enum { NT_STAPSDT = 3 };

/* "8@%rdx": a word in a register. */
static bool read_register(const char *text, size_t *offset)
{
#define REGISTER(name)                                                                             \
	{                                                                                          \
#name, offsetof(struct user_regs_struct, name)                                     \
	}
	static const struct {
		const char *name;
		size_t offset;
	} registers[] = {REGISTER(rax), REGISTER(rbx), REGISTER(rcx), REGISTER(rdx), REGISTER(rsi),
	                 REGISTER(rdi), REGISTER(rbp), REGISTER(r8),  REGISTER(r9),  REGISTER(r10),
	                 REGISTER(r11), REGISTER(r12), REGISTER(r13), REGISTER(r14), REGISTER(r15)};
	const size_t length = strcspn(text, " ");

	if (strncmp(text, "8@%", 3) != 0)
		return false;
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		if (strlen(registers[i].name) == length - 3 &&
		    !strncmp(registers[i].name, text + 3, length - 3)) {
			*offset = registers[i].offset;
			return true;
		}
	return false;
}

/* The next of the strings at *AT. NULL: none ends before END. */
static const char *next_string(const char **at, const char *end)
{
	const char *text = *at, *zero = memchr(text, 0, (size_t)(end - text));

	if (zero)
		*at = zero + 1;
	return zero ? text : NULL;
}

/* Three addresses: the probe, where .stapsdt.base was, a semaphore. Then provider, name and arguments:
 * of a longjmp the buffer, the value and the address. BASE: where .stapsdt.base is. */
static bool read_note(const char *desc, size_t size, uint64_t base, struct lz_long_jump *jump)
{
	uint64_t addr[3];
	const char *at = desc + sizeof(addr), *end = desc + size;
	const char *provider, *name, *argument;

	if (size < sizeof(addr))
		return false;
	memcpy(addr, desc, sizeof(addr));
	provider = next_string(&at, end);
	name = provider ? next_string(&at, end) : NULL;
	argument = name ? next_string(&at, end) : NULL;
	if (!argument || strcmp(provider, "libc") != 0 || strcmp(name, "longjmp") != 0)
		return false;
	for (int i = 0; i < 2 && argument; i++)
		if ((argument = strchr(argument, ' ')))
			argument++;
	jump->addr = addr[0] + (base ? base - addr[1] : 0);
	return argument && read_register(argument, &jump->target);
}

static size_t read_notes(Elf_Data *data, uint64_t base, struct lz_long_jump *v)
{
	size_t n = 0, at = 0, name, desc;
	GElf_Nhdr note;

	while (n < LZ_LONG_JUMPS_MAX && (at = gelf_getnote(data, at, &note, &name, &desc)))
		if (note.n_type == NT_STAPSDT && note.n_namesz == sizeof("stapsdt") &&
		    !memcmp((const char *)data->d_buf + name, "stapsdt", sizeof("stapsdt")))
			n +=
			    read_note((const char *)data->d_buf + desc, note.n_descsz, base, &v[n]);
	return n;
}

static Elf_Scn *find_section(Elf *elf, const char *wanted, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
		    gelf_getshdr(scn, sh) ? elf_strptr(elf, strings, sh->sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return scn;
	}
	return NULL;
}

static size_t read_elf(Elf *elf, struct lz_long_jump *v)
{
	GElf_Shdr sh;
	const uint64_t base = find_section(elf, ".stapsdt.base", &sh) ? sh.sh_addr : 0;
	Elf_Scn *notes = find_section(elf, ".note.stapsdt", &sh);
	Elf_Data *data = notes && sh.sh_type == SHT_NOTE ? elf_getdata(notes, NULL) : NULL;

	return data && data->d_buf ? read_notes(data, base, v) : 0;
}

size_t lz_probes_long_jumps(const char *path, struct lz_long_jump *v)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

	if (elf && elf_kind(elf) == ELF_K_ELF)
		n = read_elf(elf, v);
	if (elf)
		elf_end(elf);
	close(fd);
	return n;
}
