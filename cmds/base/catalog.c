/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/array.h>
#include <common/recording/copystore.h>
#include <common/recording/parts.h>
#include <common/base/sparse.h>
#include <common/base/tree.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmds/base/catalog.h>
#include <common/base/dir.h>
#include <lizard/error.h>

/* ---- a recording's files ---- */

/* How many recordings have the file. */
static uint64_t holders(const struct stat *st)
{
	bool in_store = st->st_nlink > 1 && !(st->st_mode & 0222);

	return st->st_nlink < 2 ? 1 : st->st_nlink - in_store;
}

/* A hole counts for nothing. Else a stranger's recording could claim to be larger than all others,
 * and `prune --max-size` would remove those. */
static int add_size(int fd, const char *name, void *arg)
{
	uint64_t *sum = arg;
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISDIR(st.st_mode)) /* what stores hold is counted where they are not */
		return strcmp(name, LZ_RUN_COPIES) == 0 ? 0
		                                        : lz_each_entry(fd, name, add_size, arg);
	*sum += lz_file_stored(&st) / holders(&st);
	return 0;
}

uint64_t lz_recording_bytes(const char *path)
{
	uint64_t sum = 0;

	lz_each_entry(AT_FDCWD, path, add_size, &sum);
	return sum;
}

/* Only what Lizard makes: somebody's own file in there keeps the directory alive. meta goes last,
 * so that a half removed recording is still one. */
static int remove_part(int fd, const char *name, void *arg)
{
	static const char *const folders[] = {"files",     "sources",           "debug",
	                                      "processes", LZ_SOURCES_UNPACKED, LZ_INDEX_FOLDER};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (!strcmp(name, folders[i]))
			return lz_remove_at(fd, name, NULL);
	return lz_part_is_file(name) || !strcmp(name, "meta.tmp") ||
	               !strcmp(name, LZ_POINTS_FILE ".new")
	           ? lz_remove_at(fd, name, NULL)
	           : 0;
}

static int remove_all(const char *path, bool *gone)
{
	char *meta = NULL;
	int rc = -1;

	if (lz_each_entry(AT_FDCWD, path, remove_part, NULL) < 0)
		return -1;
	if (asprintf(&meta, "%s/meta", path) < 0)
		return lz_fail("no memory");
	*gone = unlink(meta) == 0;
	if (!*gone)
		lz_fail_errno("cannot remove %s", meta);
	else if (rmdir(path) < 0)
		lz_fail_errno("the recording is removed, its directory %s is not", path);
	else
		rc = 0;
	free(meta);
	return rc;
}

/* ---- PROG-latest ---- */

/* Splits PROG-N; N is 0 if NAME is not of that form. */
static unsigned long split(const char *name, size_t *prog)
{
	const char *dash = strrchr(name, '-');
	char *end;
	unsigned long n;

	if (!dash || dash[1] < '1' || dash[1] > '9')
		return 0;
	n = strtoul(dash + 1, &end, 10);
	*prog = (size_t)(dash - name);
	return *end ? 0 : n;
}

struct newest {
	const char *name;
	size_t prog;
	unsigned long n;
};

static int find_newest(int fd, const char *name, void *arg)
{
	struct newest *s = arg;
	size_t prog;
	unsigned long n = split(name, &prog);
	char meta[300];

	snprintf(meta, sizeof(meta), "%s/meta", name);
	if (n > s->n && faccessat(fd, meta, F_OK, 0) == 0 && prog == s->prog &&
	    !strncmp(name, s->name, prog))
		s->n = n;
	return 0;
}

static void relink(int fd, const char *gone)
{
	struct newest s = {.name = gone};
	char *link = NULL, *target = NULL, old[256];
	ssize_t n;

	if (!split(gone, &s.prog) || asprintf(&link, "%.*s-latest", (int)s.prog, gone) < 0)
		return;
	n = readlinkat(fd, link, old, sizeof(old) - 1);
	if (n > 0 && (old[n] = 0, !strcmp(old, gone))) {
		unlinkat(fd, link, 0);
		lz_each_entry(fd, ".", find_newest, &s);
		if (s.n && asprintf(&target, "%.*s-%lu", (int)s.prog, gone, s.n) > 0 &&
		    symlinkat(target, fd, link))
			lz_warn("%s is gone, and cannot be made anew: %s", link, strerror(errno));
		free(target);
	}
	free(link);
}

/* A meta that is damaged still marks a recording; none at all does not. */
static int check_removable(const char *path)
{
	struct lz_meta m;

	if (lz_meta_read(path, &m) == 0)
		lz_meta_free(&m);
	else if (strstr(lz_error(), "not a recording"))
		return -1;
	if (lz_recording_busy(path))
		return lz_fail("%s is being written by lizard-trace", path);
	return 0;
}

/* The link of the program whose recording REAL is gone from its directory. */
static void relink_beside(char *real)
{
	char *slash = strrchr(real, '/');
	int fd;

	if (!slash || slash == real)
		return;
	*slash = 0;
	fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	relink(fd, slash + 1);
	close(fd);
}

int lz_recording_remove(const char *path)
{
	char *real = realpath(path, NULL);
	int rc;

	if (!real)
		return lz_fail_errno("%s", path);
	rc = check_removable(real);
	if (rc == 0) {
		bool gone = false;

		rc = remove_all(real, &gone);
		if (gone)
			relink_beside(real);
	}
	free(real);
	return rc;
}

/* ---- the list ---- */

/* Not known: now, so that it is not taken for an old one. */
static uint64_t written(const char *path)
{
	char meta[PATH_MAX];
	struct stat st;

	snprintf(meta, sizeof(meta), "%s/meta", path);
	return (uint64_t)(stat(meta, &st) < 0 ? time(NULL) : st.st_mtime);
}

/* A recording cannot have begun after it was written: a stranger's would stay newer than all
 * others, and `prune --keep` would remove those. */
static uint64_t began(const struct lz_entry *e, const char *path)
{
	uint64_t latest = written(path);

	return e->bad || e->meta.start_time > latest ? latest : e->meta.start_time;
}

static int fill_entry(struct lz_entry *e, const char *path, bool size)
{
	const char *slash = strrchr(path, '/');

	e->name = strdup(slash ? slash + 1 : path);
	e->path = strdup(path);
	if (!e->name || !e->path)
		return lz_fail("no memory");
	if (lz_meta_read(path, &e->meta) < 0 && !(e->bad = strdup(lz_error())))
		return lz_fail("no memory");
	e->began = began(e, path);
	e->busy = (e->bad || e->meta.state != LZ_REC_COMPLETE) && lz_recording_busy(path);
	e->bytes = size ? lz_recording_bytes(path) : 0;
	return 0;
}

int lz_catalog_add(struct lz_catalog *c, const char *path)
{
	if (lz_reserve(c->v, c->room, c->n + 1) < 0)
		return -1;
	memset(&c->v[c->n], 0, sizeof(c->v[c->n]));
	return fill_entry(&c->v[c->n++], path, !c->no_sizes);
}

struct listing {
	struct lz_catalog *c;
	const char *dir;
};

static int list_entry(int fd, const char *name, void *arg)
{
	struct listing *l = arg;
	struct stat st;
	char meta[300], *path = NULL;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	snprintf(meta, sizeof(meta), "%s/meta", name);
	if (faccessat(fd, meta, F_OK, 0) < 0)
		return 0;
	if (asprintf(&path, "%s/%s", l->dir, name) < 0)
		return lz_fail("no memory");
	int rc = lz_catalog_add(l->c, path);
	free(path);
	return rc;
}

int lz_catalog_add_all(struct lz_catalog *c, const char *dir)
{
	struct listing l = {c, dir};

	return access(dir, F_OK) == 0 ? lz_each_entry(AT_FDCWD, dir, list_entry, &l) : 0;
}

static int by_age(const void *a, const void *b)
{
	const struct lz_entry *x = a, *y = b;

	if (x->began != y->began)
		return x->began < y->began ? -1 : 1;
	return strverscmp(x->name, y->name);
}

int lz_catalog_read(struct lz_catalog *c)
{
	memset(c, 0, sizeof(*c));
	c->dir = lz_recordings_dir();
	if (!c->dir)
		return -1;
	if (lz_catalog_add_all(c, c->dir) < 0)
		return -1;
	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), by_age);
	return 0;
}

const char *lz_entry_status(const struct lz_entry *e, char buf[LZ_TEXT])
{
	if (e->bad && e->meta.version &&
	    (e->meta.version < LZ_FORMAT_OLDEST || e->meta.version > LZ_FORMAT_VERSION)) {
		snprintf(buf, LZ_TEXT, "format %u", e->meta.version);
		return buf;
	}
	if (e->bad)
		return "damaged";
	if (e->meta.became && *e->meta.became) {
		snprintf(buf, LZ_TEXT, "became %.38s", e->meta.became);
		return buf;
	}
	if (e->meta.state == LZ_REC_COMPLETE)
		return lz_text_status(e->meta.exit_status, buf);
	if (*e->meta.stopped)
		return "cut short";
	return e->busy ? "recording" : "not finished";
}

void lz_entry_free(struct lz_entry *e)
{
	free(e->name);
	free(e->path);
	free(e->bad);
	lz_meta_free(&e->meta);
}

void lz_catalog_free(struct lz_catalog *c)
{
	for (size_t i = 0; i < c->n; i++)
		lz_entry_free(&c->v[i]);
	free(c->v);
	free(c->dir);
	memset(c, 0, sizeof(*c));
}
