/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files with the debug information of the programs and libraries of a recording, where they lie
 * apart. Each is packed under its build-id, by which GDB looks for it. */
#include "cmds/pack.h"

#include <common/array.h>
#include <common/cleanup.h>
#include <common/filecopy.h>
#include <common/hostfile.h>
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
		if (strcmp(d->v[i].build_id, id) == 0)
			return true;
	return false;
}

int lz_debug_open(const char *path, const char *build_id)
{
	int fd = lz_open_regular(path);
	lz_auto_free char *id = fd < 0 ? NULL : lz_build_id_fd(fd);
	struct stat st;

	if (id && strcmp(id, build_id) == 0 && fstat(fd, &st) == 0 && (st.st_mode & S_IROTH))
		return fd;
	if (fd >= 0)
		close(fd);
	return lz_fail("%s is no file with the debug information of %s for all", path, build_id);
}

/* Of the debug file FD: the one that it shares with others (dwz), by its build-id. */
static int add_shared(struct lz_debug_files *d, int fd);

/* The file at PATH, if it is the one with ID. Takes PATH over. 1: it was. */
static int try_path(struct lz_debug_files *d, char *path, const char *id)
{
	lz_auto_close int fd = path ? lz_debug_open(path, id) : -1;

	if (fd < 0) {
		free(path);
		return path ? 0 : lz_fail("no memory");
	}
	if (lz_extend(d->v, d->n) < 0) {
		free(path);
		return -1;
	}
	d->v[d->n++] = (struct lz_debug_file){path, strdup(id)};
	if (!d->v[d->n - 1].build_id)
		return lz_fail("no memory");
	return add_shared(d, fd) < 0 ? -1 : 1;
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

/* By the name that the program has for it, where GDB looks. */
static int try_link(struct lz_debug_files *d, const struct lz_file *f, const char *name)
{
	const char *slash = strrchr(f->path, '/');
	int dir = slash ? (int)(slash - f->path) : 0;
	int rc;

	if (f->path[0] != '/' || !*name || strchr(name, '/'))
		return 0;
	rc = try_format(d, f->build_id, "%.*s/%s", dir, f->path, name);
	if (rc == 0)
		rc = try_format(d, f->build_id, "%.*s/.debug/%s", dir, f->path, name);
	if (rc == 0)
		rc = try_format(d, f->build_id, SYSTEM "%.*s/%s", dir, f->path, name);
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
	GElf_Word crc;
	const char *link = elf ? dwelf_elf_gnu_debuglink(elf, &crc) : NULL;

	if (link)
		rc = try_link(d, f, link);
	elf_end(elf);
	return rc < 0 ? -1 : 0;
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
	for (size_t i = 0; i < d->n; i++) {
		free(d->v[i].path);
		free(d->v[i].build_id);
	}
	free(d->v);
	*d = (struct lz_debug_files){0};
}
