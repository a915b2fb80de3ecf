/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which source files does the debug information of a recording's copies name, and which of them may
 * go into a pack? */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmds/pack/pack.h"
#include <common/base/hostfile.h>
#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <common/base/tree.h>
#include <lizard/error.h>
#include <lizard/recording.h>

/* A file of the recording's with debug information. */
struct object {
	size_t number; /* from 1 */
	const struct lz_file *file;
	int fd;
	enum { NOT_KNOWN, HERE, FOREIGN } where;
};

/* A source file, and for whom it was looked at last. */
struct found {
	struct lz_source s;
	size_t object, root; /* numbers */
};

struct search {
	struct lz_sources *out;
	size_t n_user; /* the first ones of out->roots are the user's */
	size_t n_objects;
	void *tree; /* of struct found, by path */
	int rc;
};

/* Absolute, without `.` and `..`, as far as the text tells. malloced; NULL: it is relative to
 * nothing, or no memory. */
static char *absolute(const char *dir, const char *name)
{
	char *all = NULL, *out, *end;

	if (name[0] != '/' && dir[0] != '/')
		return NULL;
	if (asprintf(&all, "%s/%s", name[0] == '/' ? "" : dir, name) < 0)
		return NULL;
	out = end = calloc(strlen(all) + 2, 1);
	for (char *save, *part = out ? strtok_r(all, "/", &save) : NULL; part;
	     part = strtok_r(NULL, "/", &save)) {
		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") != 0) {
			end += sprintf(end, "/%s", part);
			continue;
		}
		while (end > out && *--end != '/')
			;
		*end = 0;
	}
	free(all);
	return out;
}

/* ---- is the program here, as it was recorded? ---- */

static bool same_bytes(int a, int b, off_t size)
{
	static char x[1 << 16], y[1 << 16];
	ssize_t n = 1;

	for (off_t at = 0; at < size && n > 0; at += n) {
		n = pread(a, x, sizeof(x), at);
		if (n > 0 && (pread(b, y, (size_t)n, at) != n || memcmp(x, y, (size_t)n) != 0))
			return false;
	}
	return n > 0;
}

bool lz_is_here(const struct lz_file *f, int copy)
{
	int fd = f->path[0] == '/' ? lz_open_regular(f->path) : -1;
	struct stat st;
	bool same;

	if (fd < 0)
		return false;
	same = fstat(fd, &st) == 0 && (uint64_t)st.st_size == f->size &&
	       same_bytes(fd, copy, st.st_size);
	close(fd);
	return same;
}

static bool is_here(struct object *o)
{
	if (o->where == NOT_KNOWN)
		o->where = lz_is_here(o->file, o->fd) ? HERE : FOREIGN;
	return o->where == HERE;
}

/* ---- directories ---- */

static int add_root(struct lz_sources *out, const char *given, char *real)
{
	if (lz_extend(out->roots, out->n_roots) < 0 ||
	    !(out->roots[out->n_roots].given = strdup(given))) {
		free(real);
		return lz_fail("no memory");
	}
	out->roots[out->n_roots++].real = real;
	return 0;
}

static int add_user_root(struct lz_sources *out, const char *dir)
{
	char *real = realpath(dir, NULL);
	struct stat st;

	if (real && stat(real, &st) == 0 && S_ISDIR(st.st_mode))
		return add_root(out, dir, real);
	free(real);
	return real ? lz_fail("%s is no directory", dir) : lz_fail_errno("%s", dir);
}

/* The number of the unit's compilation directory among the roots. */
static int root_of(struct search *q, Dwarf_Die *unit, size_t *root)
{
	Dwarf_Attribute attr;
	const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));

	if (!dir)
		dir = "";
	for (*root = q->n_user; *root < q->out->n_roots; ++*root)
		if (strcmp(q->out->roots[*root].given, dir) == 0)
			return 0;
	return add_root(q->out, dir, lz_compilation_dir(dir));
}

/* ---- what becomes of a file ---- */

static void decide(const struct search *q, struct object *o, const char *comp_dir,
                   struct lz_source *s)
{
	enum lz_source_fate fate = lz_source_check(s->path, comp_dir ? comp_dir : "/", NULL);

	if (fate != LZ_SOURCE_ABSENT && !comp_dir)
		fate = LZ_SOURCE_WIDE;
	else if (fate == LZ_SOURCE_PACKED && !is_here(o))
		fate = LZ_SOURCE_FOREIGN;
	s->root = comp_dir;
	for (size_t i = 0; i < q->n_user && fate > LZ_SOURCE_ABSENT; i++) {
		enum lz_source_fate users = lz_source_check(s->path, q->out->roots[i].real, NULL);

		if (users == LZ_SOURCE_PACKED)
			s->root = q->out->roots[i].real;
		if (users != LZ_SOURCE_OUTSIDE)
			fate = users;
	}
	s->fate = fate;
}

static int by_path(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return strcmp(x->s.path, y->s.path);
}

/* Takes PATH over. NULL: no memory. */
static struct found *entry_of(struct search *q, char *path)
{
	struct found *f = malloc(sizeof(*f)), **at = NULL;

	if (f) {
		*f = (struct found){.s = {path, LZ_SOURCE_OUTSIDE, NULL}};
		at = (struct found **)tsearch(f, &q->tree, by_path);
	}
	if (!at || *at != f) {
		free(path);
		free(f);
	}
	if (!at)
		lz_fail("no memory");
	return at ? *at : NULL;
}

static int add_source(struct search *q, char *path, struct object *o, size_t root)
{
	struct found *f = entry_of(q, path);

	if (!f)
		return -1;
	if (f->s.fate <= LZ_SOURCE_ABSENT || (f->object == o->number && f->root == root))
		return 0;
	f->object = o->number;
	f->root = root;
	decide(q, o, q->out->roots[root].real, &f->s);
	return 0;
}

/* ---- debug information ---- */

static int add_unit(struct search *q, struct object *o, Dwarf_Die *unit)
{
	Dwarf_Files *files;
	size_t n, root;

	if (dwarf_getsrcfiles(unit, &files, &n) != 0)
		return 0;
	if (root_of(q, unit, &root) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const char *name = dwarf_filesrc(files, i, NULL, NULL);
		char *path = name ? absolute(q->out->roots[root].given, name) : NULL;

		if (path && add_source(q, path, o, root) < 0)
			return -1;
	}
	return 0;
}

/* The units of the open file FD. 1: there are some. */
static int add_units(struct search *q, struct object *o, int fd)
{
	Dwarf *dw = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	int rc = 0;

	while (rc >= 0 && dw && dwarf_get_units(dw, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		rc = add_unit(q, o, &unit) < 0 ? -1 : 1;
	if (dw)
		dwarf_end(dw);
	return rc;
}

/* Its debug information lies apart. */
static int add_beside(struct search *q, struct object *o)
{
	struct lz_debug_files d;
	int rc = lz_debug_beside(o->file, o->fd, &d);

	for (size_t i = 0; rc == 0 && i < d.n; i++) {
		lz_auto_close int fd = lz_debug_open(&d.v[i]);

		rc = add_units(q, o, fd) < 0 ? -1 : 0;
	}
	lz_debug_free(&d);
	return rc;
}

static int add_object(struct search *q, const struct lz_file *file, const char *copy)
{
	struct object o = {++q->n_objects, file, open(copy, O_RDONLY | O_CLOEXEC), NOT_KNOWN};
	int rc = add_units(q, &o, o.fd);

	if (rc == 0 && o.fd >= 0)
		rc = add_beside(q, &o);
	if (o.fd >= 0)
		close(o.fd);
	return rc < 0 ? -1 : 0;
}

/* Processes share the copies of what they all have mapped: each is looked at once. */
struct seen {
	dev_t dev;
	ino_t ino;
};

struct seen_files {
	struct seen *v;
	size_t n;
};

static bool is_seen(const struct seen_files *s, const struct stat *st)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].ino == st->st_ino && s->v[i].dev == st->st_dev)
			return true;
	return false;
}

static int is_new(struct seen_files *s, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || is_seen(s, &st))
		return 0;
	if (lz_extend(s->v, s->n) < 0)
		return -1;
	s->v[s->n++] = (struct seen){st.st_dev, st.st_ino};
	return 1;
}

static int is_unseen(int folder, const char *name, void *arg)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !is_seen(arg, &st);
}

/* To open a recording takes longer, as its copies are read and compared with their checksums. */
static bool has_unseen(const char *dir, struct seen_files *seen)
{
	lz_auto_free char *files = NULL;

	return asprintf(&files, "%s/files", dir) < 0 ||
	       lz_each_entry(AT_FDCWD, files, is_unseen, seen) != 0;
}

static int add_recording(struct search *q, const char *dir, struct seen_files *seen)
{
	if (!has_unseen(dir, seen))
		return 0;
	struct lz_reader *r = lz_reader_open(dir);
	int rc = 0;

	if (!r)
		return -1;
	for (uint32_t i = 0; rc >= 0 && i < lz_reader_n_files(r); i++) {
		char *copy = lz_reader_object(r, i);

		if (copy && (rc = is_new(seen, copy)) == 1)
			rc = add_object(q, lz_reader_file(r, i), copy);
		free(copy);
	}
	lz_reader_close(r);
	return rc < 0 ? -1 : 0;
}

/* ---- the list ---- */

static void keep(const void *node, VISIT visit, void *arg)
{
	const struct found *f = *(struct found *const *)node;
	struct search *q = arg;
	struct lz_sources *out = q->out;

	if ((visit != postorder && visit != leaf) || f->s.fate == LZ_SOURCE_ABSENT || q->rc < 0)
		return;
	if (lz_extend(out->v, out->n) < 0 || !(out->v[out->n].path = strdup(f->s.path))) {
		q->rc = lz_fail("no memory");
		return;
	}
	out->v[out->n].fate = f->s.fate;
	out->v[out->n++].root = f->s.root;
	out->n_packed += f->s.fate == LZ_SOURCE_PACKED;
}

static void forget(void *node)
{
	struct found *f = node;

	free(f->s.path);
	free(f);
}

int lz_sources_find(const struct lz_processes *all, char *const *dirs, size_t n_dirs,
                    struct lz_sources *s)
{
	struct search q = {.out = s, .n_user = n_dirs};
	struct seen_files seen = {0};

	*s = (struct lz_sources){.wanted = true};
	for (size_t i = 0; q.rc == 0 && i < n_dirs; i++)
		q.rc = add_user_root(s, dirs[i]);
	for (size_t i = 0; q.rc == 0 && i < all->n; i++)
		q.rc = all->v[i].bad ? 0 : add_recording(&q, all->v[i].path, &seen);
	if (q.rc == 0)
		twalk_r(q.tree, keep, &q);
	tdestroy(q.tree, forget);
	free(seen.v);
	if (q.rc < 0)
		lz_sources_free(s);
	return q.rc;
}

void lz_sources_free(struct lz_sources *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].path);
	for (size_t i = 0; i < s->n_roots; i++) {
		free(s->roots[i].given);
		free(s->roots[i].real);
	}
	free(s->v);
	free(s->roots);
	*s = (struct lz_sources){0};
}
