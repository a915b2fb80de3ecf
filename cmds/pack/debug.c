/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files with the debug information of the programs and libraries of a recording, where they lie
 * apart. They are packed under their build-id, or the name that a unit has for its file: by these
 * GDB looks for them. */
#include "cmds/pack/pack.h"

#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <common/base/filecopy.h>
#include <common/base/hostfile.h>
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <lizard/recording.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM "/usr/lib/debug"

static bool is_hex(const char *id)
{
	size_t n = strlen(id);

	return n > 2 && n <= 128 && strspn(id, "0123456789abcdef") == n;
}

static bool is_known(const struct lz_debug_files *d, const char *id)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].build_id && strcmp(d->v[i].build_id, id) == 0)
			return true;
	return false;
}

static int open_by_id(const struct lz_debug_file *f)
{
	int fd = lz_open_regular(f->path);
	lz_auto_free char *id = fd < 0 ? NULL : lz_build_id_fd(fd);
	struct stat st;

	if (id && strcmp(id, f->build_id) == 0 && fstat(fd, &st) == 0 && (st.st_mode & S_IROTH))
		return fd;
	if (fd >= 0)
		close(fd);
	return lz_fail("%s is no file with the debug information of %s for all", f->path,
	               f->build_id);
}

static int open_below_root(const struct lz_debug_file *f)
{
	char head[SELFMAG];
	int fd = -1;

	if (lz_source_check(f->path, f->root, &fd) == LZ_SOURCE_PACKED &&
	    pread(fd, head, SELFMAG, 0) == SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return lz_fail("%s is no file with debug information for all", f->path);
}

int lz_debug_open(const struct lz_debug_file *f)
{
	return f->build_id ? open_by_id(f) : open_below_root(f);
}

static void file_free(struct lz_debug_file *f)
{
	free(f->path);
	free(f->name);
	free(f->build_id);
	free(f->root);
}

/* F, which is taken over, if it is what it should be: 1 and *FD. */
static int add_file(struct lz_debug_files *d, struct lz_debug_file *f, int *fd)
{
	bool whole = f->path && f->name && (f->build_id || f->root);

	*fd = whole ? lz_debug_open(f) : lz_fail("no memory");
	if (*fd < 0 || lz_extend(d->v, d->n) < 0) {
		file_free(f);
		return whole && *fd < 0 ? 0 : -1;
	}
	d->v[d->n++] = *f;
	return 1;
}

/* Of the debug file FD: the one that it shares with others (dwz), by its build-id. */
static int add_shared(struct lz_debug_files *d, int fd);

/* The file at PATH, if it is the one with ID. Takes PATH over. 1: it was. */
static int try_path(struct lz_debug_files *d, char *path, const char *id)
{
	struct lz_debug_file f = {.path = path, .build_id = strdup(id)};
	lz_auto_close int fd = -1;

	if (asprintf(&f.name, "debug/.build-id/%.2s/%s.debug", id, id + 2) < 0)
		f.name = NULL;
	int rc = add_file(d, &f, &fd);

	return rc == 1 && add_shared(d, fd) < 0 ? -1 : rc;
}

static int try_format(struct lz_debug_files *d, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int try_format(struct lz_debug_files *d, const char *id, const char *format, ...)
{
	char *path;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&path, format, ap) < 0)
		path = NULL;
	va_end(ap);
	return try_path(d, path, id);
}

static int try_id(struct lz_debug_files *d, const char *id)
{
	if (is_known(d, id))
		return 1;
	return try_format(d, id, SYSTEM "/.build-id/%.2s/%s.debug", id, id + 2);
}

static int add_shared(struct lz_debug_files *d, int fd)
{
	Dwarf *dw = dwarf_begin(fd, DWARF_C_READ);
	char hex[2 * 64 + 1] = "";
	const char *name;
	const void *id;
	ssize_t n = dw ? dwelf_dwarf_gnu_debugaltlink(dw, &name, &id) : 0;

	for (ssize_t i = 0; i < n && n <= 64; i++)
		sprintf(hex + 2 * i, "%02x", ((const unsigned char *)id)[i]);
	int rc = is_hex(hex) ? try_id(d, hex) : 0;

	if (dw)
		dwarf_end(dw);
	return rc < 0 ? -1 : 0;
}

/* The name that the program FD has for it; NULL: none. It is in ELF's memory. */
static const char *link_of(Elf *elf)
{
	GElf_Word crc;
	const char *name = elf ? dwelf_elf_gnu_debuglink(elf, &crc) : NULL;

	return name && *name && !strchr(name, '/') ? name : NULL;
}

/* By that name, beside the program. */
static int try_beside(struct lz_debug_files *d, const struct lz_file *f, const char *name)
{
	const char *slash = strrchr(f->path, '/');
	int dir = slash ? (int)(slash - f->path) : 0;
	int rc = try_format(d, f->build_id, "%.*s/%s", dir, f->path, name);

	return rc ? rc : try_format(d, f->build_id, "%.*s/.debug/%s", dir, f->path, name);
}

/* By that name, where GDB looks. */
static int try_link(struct lz_debug_files *d, const struct lz_file *f, const char *name)
{
	const char *slash = strrchr(f->path, '/');
	int dir = slash ? (int)(slash - f->path) : 0;
	int rc = try_beside(d, f, name);

	return rc ? rc : try_format(d, f->build_id, SYSTEM "%.*s/%s", dir, f->path, name);
}

int lz_debug_beside(const struct lz_file *f, int copy, struct lz_debug_files *d)
{
	Elf *elf;
	const char *name;

	*d = (struct lz_debug_files){0};
	elf_version(EV_CURRENT);
	elf = elf_begin(copy, ELF_C_READ_MMAP, NULL);
	name = link_of(elf);
	int rc = name && f->path[0] == '/' && is_hex(f->build_id) ? try_beside(d, f, name) : 0;

	elf_end(elf);
	return rc < 0 ? -1 : 0;
}

/* ---- split debug information: a unit names its file ---- */

static const char *text_of(Dwarf_Die *unit, unsigned attribute)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(unit, attribute, &attr));
}

/* GDB looks for a relative name in its directories of debug information, too. */
static bool is_below(const char *name)
{
	return *name && name[0] != '/' && name[0] != '.' && !strstr(name, "/.");
}

static bool has_name(const struct lz_debug_files *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->v[i].name + strlen("debug/"), name) == 0)
			return true;
	return false;
}

static int add_unit(struct lz_debug_files *d, Dwarf_Die *unit)
{
	const char *dwo = text_of(unit, DW_AT_dwo_name), *dir = text_of(unit, DW_AT_comp_dir);
	struct lz_debug_file f = {0};
	lz_auto_close int fd = -1;

	if (!dwo)
		dwo = text_of(unit, DW_AT_GNU_dwo_name);
	if (!dwo || !dir || !is_below(dwo) || has_name(d, dwo) ||
	    !(f.root = lz_compilation_dir(dir)))
		return 0;
	if (asprintf(&f.path, "%s/%s", dir, dwo) < 0)
		f.path = NULL;
	if (asprintf(&f.name, "debug/%s", dwo) < 0)
		f.name = NULL;
	return add_file(d, &f, &fd) < 0 ? -1 : 0;
}

static int add_units(struct lz_debug_files *d, int fd)
{
	Dwarf *dw = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	int rc = 0;

	while (rc == 0 && dw && dwarf_get_units(dw, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		rc = add_unit(d, &unit);
	if (dw)
		dwarf_end(dw);
	return rc;
}

/* A program that is not here as it was recorded may be a stranger's: docs/SECURITY.md. */
static int add_object(struct lz_debug_files *d, const struct lz_file *f, const char *copy)
{
	lz_auto_close int fd = open(copy, O_RDONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0 || !is_hex(f->build_id) || is_known(d, f->build_id) || !lz_is_here(f, fd))
		return 0;
	rc = try_id(d, f->build_id);
	Elf *elf = rc == 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	const char *link = link_of(elf);

	if (link)
		rc = try_link(d, f, link);
	elf_end(elf);
	return rc < 0 ? -1 : add_units(d, fd);
}

static int add_recording(struct lz_debug_files *d, const char *dir)
{
	struct lz_reader *r = lz_reader_open(dir);
	int rc = r ? 0 : -1;

	for (uint32_t i = 0; rc == 0 && i < lz_reader_n_files(r); i++) {
		lz_auto_free char *copy = lz_reader_object(r, i);

		if (copy)
			rc = add_object(d, lz_reader_file(r, i), copy);
	}
	lz_reader_close(r);
	return rc;
}

int lz_debug_find(const struct lz_processes *all, struct lz_debug_files *d)
{
	int rc = 0;

	*d = (struct lz_debug_files){0};
	elf_version(EV_CURRENT);
	for (size_t i = 0; rc == 0 && i < all->n; i++)
		if (!all->v[i].bad)
			rc = add_recording(d, all->v[i].path);
	return rc;
}

void lz_debug_free(struct lz_debug_files *d)
{
	for (size_t i = 0; i < d->n; i++)
		file_free(&d->v[i]);
	free(d->v);
	*d = (struct lz_debug_files){0};
}
