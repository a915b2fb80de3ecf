/* Which source files does the debug information of a recording's copies name? */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmds/pack.h"
#include <lizard/error.h>
#include <lizard/recording.h>

void lz_names_free(struct lz_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct lz_names){0};
}

static int add(struct lz_names *names, char *name)
{
	char **v = reallocarray(names->v, names->n + 1, sizeof(*v));

	if (!v) {
		free(name);
		return lz_fail("no memory");
	}
	names->v = v;
	v[names->n++] = name;
	return 0;
}

static bool is_readable_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

/* Absolute, without `.` and `..`, as far as the text tells. malloced; NULL: it leads above the root, or no memory. */
static char *absolute(const char *dir, const char *name)
{
	char *all = NULL, *out, *end;

	if (asprintf(&all, "%s/%s", name[0] == '/' || !dir ? "" : dir, name) < 0)
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

static int add_unit(Dwarf_Die *unit, struct lz_names *names)
{
	Dwarf_Attribute attr;
	const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
	Dwarf_Files *files;
	size_t n;

	if (dwarf_getsrcfiles(unit, &files, &n) != 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const char *name = dwarf_filesrc(files, i, NULL, NULL);
		char *path = name ? absolute(dir, name) : NULL;

		if (path && is_readable_file(path)) {
			if (add(names, path) < 0)
				return -1;
		} else {
			free(path);
		}
	}
	return 0;
}

static int add_file(const char *path, struct lz_names *names)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	Dwarf *dw = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	while (rc == 0 && dw && dwarf_get_units(dw, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		rc = add_unit(&unit, names);
	if (dw)
		dwarf_end(dw);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct lz_names *names)
{
	size_t kept = 0;

	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), by_text);
	for (size_t i = 0; i < names->n; i++) {
		if (kept && strcmp(names->v[kept - 1], names->v[i]) == 0)
			free(names->v[i]);
		else
			names->v[kept++] = names->v[i];
	}
	names->n = kept;
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

static int is_new(struct seen_files *s, const char *path)
{
	struct stat st;
	struct seen *v;

	if (stat(path, &st) < 0)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].ino == st.st_ino && s->v[i].dev == st.st_dev)
			return 0;
	v = reallocarray(s->v, s->n + 1, sizeof(*v));
	if (!v)
		return lz_fail("no memory");
	s->v = v;
	v[s->n++] = (struct seen){st.st_dev, st.st_ino};
	return 1;
}

static int add_recording(const char *dir, struct seen_files *seen, struct lz_names *names)
{
	struct lz_reader *r = lz_reader_open(dir);
	int rc = 0;

	if (!r)
		return -1;
	for (uint32_t i = 0; rc == 0 && i < lz_reader_n_files(r); i++) {
		char *copy = lz_reader_object(r, i);

		if (copy && (rc = is_new(seen, copy)) == 1)
			rc = add_file(copy, names);
		free(copy);
	}
	lz_reader_close(r);
	return rc;
}

int lz_pack_sources(const struct lz_processes *all, struct lz_names *names)
{
	struct seen_files seen = {0};
	int rc = 0;

	*names = (struct lz_names){0};
	for (size_t i = 0; rc == 0 && i < all->n; i++)
		rc = all->v[i].bad ? 0 : add_recording(all->v[i].path, &seen, names);
	free(seen.v);
	sort(names);
	if (rc < 0)
		lz_names_free(names);
	return rc;
}
