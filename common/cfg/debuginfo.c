/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether debug information can name source files of a program or library. */
#include <common/cfg/debuginfo.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <elfutils/libdwelf.h>
#include <common/base/cleanup.h>
#include <lizard/error.h>

/* The sections that have units. */
static bool has_units(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name =
		    gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && (strncmp(name, ".debug_info", 11) == 0 ||
		             strncmp(name, ".zdebug_info", 12) == 0 ||
		             strncmp(name, ".debug_types", 12) == 0 ||
		             strncmp(name, ".gnu.debuglto_", 14) == 0))
			return true;
	}
	return false;
}

int lz_debug_look(int fd, struct lz_debug_look *look)
{
	Elf *elf;
	GElf_Word crc;

	*look = (struct lz_debug_look){0};
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		const char *link = dwelf_elf_gnu_debuglink(elf, &crc);

		look->inside = has_units(elf);
		look->link = strdup(link && *link && !strchr(link, '/') ? link : "");
	} else {
		look->link = strdup("");
	}
	elf_end(elf);
	return look->link ? 0 : lz_fail("no memory");
}

bool lz_debug_is_beside(const char *path, const char *link)
{
	const char *slash = strrchr(path, '/');
	const int dir = slash ? (int)(slash - path) : 0;
	static const char *const folder[] = {"", ".debug/"};

	for (int i = 0; *link && i < 2; i++) {
		lz_auto_free char *file = NULL;

		if (asprintf(&file, "%.*s/%s%s", dir, path, folder[i], link) < 0 ||
		    access(file, F_OK) == 0)
			return true;
	}
	return false;
}
