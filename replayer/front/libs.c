/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loaded libraries, as GDB's library-list-svr4. The loader's list of them is in the
 * program's memory; a debugger would look there itself, but a name in it may be relative to a
 * directory of then, or a link that leads elsewhere by now. What is given here is the file that
 * was mapped. */
#include "replayer/front/inside.h"
#include "replayer/front/xml.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum {
	LIBRARIES_MAX = 4000, /* a damaged list may have no end */
	NAMESPACES_MAX = 1000,
	HEADERS_MAX = 64,
	DYNAMIC_MAX = 512
};

/* A list of the loader's while it is read. */
struct list {
	struct lz_front *f;
	struct lz_vma *vmas;
	uint32_t n_vmas, n;
	bool here; /* by where the files are on this machine */
	struct lz_front_libs libs;
};

static bool read_all(struct lz_front *f, uint64_t addr, void *to, size_t n)
{
	return lz_front_read(f, addr, to, n) == n;
}

/* Where the program's dynamic section is; 0: it has none. */
static uint64_t dynamic_section(struct lz_front *f)
{
	uint64_t at = lz_front_auxv_value(f, AT_PHDR), n = lz_front_auxv_value(f, AT_PHNUM),
	         bias = 0, dynamic = 0;
	Elf64_Phdr h[HEADERS_MAX];

	if (!at || n > HEADERS_MAX || !read_all(f, at, h, n * sizeof *h))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		if (h[i].p_type == PT_PHDR)
			bias = at - h[i].p_vaddr;
		if (h[i].p_type == PT_DYNAMIC)
			dynamic = h[i].p_vaddr;
	}
	return dynamic ? dynamic + bias : 0;
}

uint64_t lz_front_loaders_list(struct lz_front *f)
{
	uint64_t at = dynamic_section(f);
	Elf64_Dyn d;

	for (int i = 0; at && i < DYNAMIC_MAX; i++, at += sizeof d) {
		if (!read_all(f, at, &d, sizeof d) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_DEBUG)
			return at + offsetof(Elf64_Dyn, d_un);
	}
	return 0;
}

/* Where the loader's list begins, 0 before it is made. -1: the program is not one with such a
 * list. */
static int find_list(struct lz_front *f, uint64_t *r_debug)
{
	uint64_t at = lz_front_loaders_list(f);

	if (at && read_all(f, at, r_debug, sizeof *r_debug))
		return 0;
	return lz_fail("the program has no list of libraries");
}

/* The file that was mapped at ADDR; LZ_NO_FILE: none. */
static uint32_t file_at(const struct list *l, uint64_t addr)
{
	for (uint32_t i = 0; i < l->n_vmas; i++)
		if (addr >= l->vmas[i].start && addr < l->vmas[i].end)
			return l->vmas[i].file < lz_reader_n_files(l->f->reader) ? l->vmas[i].file
			                                                         : LZ_NO_FILE;
	return LZ_NO_FILE;
}

/* Does NAME still name the file PATH? */
static bool leads_to(const char *name, const char *path)
{
	char real[PATH_MAX];

	if (name[0] != '/')
		return false;
	return strcmp(name, path) == 0 || (realpath(name, real) && strcmp(real, path) == 0);
}

static char *as_xml(const char *name, uint64_t space, uint64_t at, const struct link_map *m)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	fputs("<library name=\"", to);
	lz_put_xml(to, name);
	fprintf(to, "\" lm=\"0x%lx\" l_addr=\"0x%lx\" l_ld=\"0x%lx\" lmid=\"0x%lx\"/>", at,
	        (uint64_t)m->l_addr, (uint64_t)m->l_ld, space);
	fclose(to);
	return text;
}

/* Takes XML. */
static void add(struct lz_front_libs *libs, char *xml)
{
	if (xml && lz_extend(libs->xml, libs->n) == 0)
		libs->xml[libs->n++] = xml;
	else
		free(xml);
}

/* What the debugger is told that file FILE of the table is, which the loader calls NAME. */
static const char *name_for(const struct list *l, uint32_t file, const char *name)
{
	const char *mapped;

	if (l->here)
		return file == LZ_NO_FILE ? NULL : lz_front_file_here(l->f, file);
	/* that is the program's word alone, and the debugger would open what has such a name */
	if (file == LZ_NO_FILE)
		return strchr(name, '/') ? NULL : name;
	mapped = lz_reader_file(l->f->reader, file)->path;
	return leads_to(name, mapped) ? name : mapped;
}

static void add_library(struct list *l, uint64_t space, uint64_t at, const struct link_map *m)
{
	char name[PATH_MAX] = "";
	size_t n = lz_front_read(l->f, (uint64_t)m->l_name, name, sizeof name - 1);

	name[n] = 0;
	if (!*name)
		return;
	const char *shown = name_for(l, file_at(l, (uint64_t)m->l_ld), name);

	if (shown)
		add(&l->libs, as_xml(shown, space, at, m));
}

/* Those of one namespace; the first of the first one is the program itself. */
static void read_namespace(struct list *l, uint64_t space, uint64_t at, bool first)
{
	struct link_map m;

	for (; at && l->n < LIBRARIES_MAX; at = (uint64_t)m.l_next, l->n++) {
		if (!read_all(l->f, at, &m, sizeof m))
			return;
		if (!first)
			add_library(l, space, at, &m);
		first = false;
	}
}

/* Returns where the first namespace's list begins. */
static uint64_t read_list(struct list *l, uint64_t r_debug)
{
	struct r_debug d = {0};
	uint64_t space = r_debug, main_map = 0;

	for (int i = 0; space && i < NAMESPACES_MAX && read_all(l->f, space, &d, sizeof d); i++) {
		uint64_t next = 0; /* of struct r_debug_extended, from version 2 on */

		if (space == r_debug)
			main_map = (uint64_t)d.r_map;
		read_namespace(l, space, (uint64_t)d.r_map, space == r_debug);
		if (d.r_version < 2 || !read_all(l->f, space + sizeof d, &next, sizeof next))
			break;
		space = next;
	}
	return main_map;
}

static bool is_among(const struct lz_front_libs *libs, const char *xml)
{
	for (size_t i = 0; i < libs->n; i++)
		if (strcmp(libs->xml[i], xml) == 0)
			return true;
	return false;
}

/* Those that the debugger knows and that are not there now, even where something else has their
 * place. */
static void add_kept(struct lz_front_libs *libs, struct lz_front_libs *known)
{
	for (size_t i = 0; i < known->n; i++)
		if (!is_among(libs, known->xml[i])) {
			add(libs, known->xml[i]);
			known->xml[i] = NULL;
		}
}

void lz_front_libs_free(struct lz_front_libs *libs)
{
	for (size_t i = 0; i < libs->n; i++)
		free(libs->xml[i]);
	free(libs->xml);
	*libs = (struct lz_front_libs){0};
}

static char *print_list(const struct lz_front_libs *libs, uint64_t main_map)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to) {
		lz_fail("out of memory");
		return NULL;
	}
	fputs("<library-list-svr4 version=\"1.0\"", to);
	if (main_map)
		fprintf(to, " main-lm=\"0x%lx\"", main_map);
	fputc('>', to);
	for (size_t i = 0; i < libs->n; i++)
		fputs(libs->xml[i], to);
	fputs("</library-list-svr4>", to);
	fclose(to);
	return text;
}

void lz_front_keep_libraries(struct lz_front *f, bool keep)
{
	f->libs.kept = keep;
}

static char *libraries(struct lz_front *f, bool here)
{
	struct list l = {.f = f, .here = here};
	uint64_t r_debug = 0, main_map;

	if (find_list(f, &r_debug) < 0 || lz_session_vmas(f->s, &l.vmas, &l.n_vmas) < 0)
		return NULL;
	main_map = read_list(&l, r_debug);
	if (f->libs.kept)
		add_kept(&l.libs, &f->libs.told);
	free(l.vmas);
	lz_front_libs_free(&f->libs.told);
	f->libs.told = l.libs;
	return print_list(&f->libs.told, main_map);
}

char *lz_front_libraries(struct lz_front *f)
{
	return libraries(f, false);
}

char *lz_front_libraries_here(struct lz_front *f)
{
	return libraries(f, true);
}
