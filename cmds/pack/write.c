/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmds/pack/archive.h"
#include "cmds/pack/new_file.h"
#include "cmds/pack/pack.h"
#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <common/base/filecopy.h>
#include <common/recording/parts.h>
#include <common/base/sparse.h>
#include <common/base/work.h>
#include <lizard/error.h>
#include <lizard/recording.h>

enum { HOLE_AT_ONCE = 1 << 30, MAX_META = 64 << 20 };

static int broken(struct archive *a, const char *what)
{
	const char *why = lz_archive->archive_error_string(a);

	return lz_fail("cannot write %s: %s", what, why ? why : "unknown error");
}

/* Files that may come again: the first one is packed, the others as links to it. These are those
 * with several names, which the recordings of one run share, and in a pack of several recordings all
 * with the same bytes. */
struct packed {
	struct stat st;
	uint32_t crc; /* of a pack of several recordings */
	char *path, *name;
};

struct pack {
	struct archive *a;
	bool all_env, links; /* may be packed */
	bool sources;        /* those that a recording has go in, too */
	bool index;          /* so does what was computed again */
	bool several;        /* recordings */
	const char *below;   /* their names are behind this */
	struct packed *shared;
	size_t n, room;
	struct lz_packed *told;
	uint64_t limit; /* of what they cost; 0: none */
	struct lz_work work;
};

struct stretch {
	uint64_t from, to;
};

/* A file that goes into the archive. */
struct content {
	int fd;
	struct stat st;
	const char *path, *name; /* here, in the archive */
	struct stretch *data;
	size_t n;
	uint32_t crc;
};

/* May it come again in another recording? */
static bool is_common(const struct pack *p, const char *name)
{
	const char *in = name + strlen(p->below);

	return p->several && lz_pack_is_linked(in);
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static bool same_bytes(const struct packed *first, const struct content *c)
{
	static char x[1 << 16], y[1 << 16];
	lz_auto_close int fd = open(first->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || !same_inode(&st, &first->st))
		return false;
	for (off_t at = 0; (n = pread(fd, x, sizeof(x), at)) > 0; at += n)
		if (pread(c->fd, y, sizeof(y), at) != n || memcmp(x, y, (size_t)n) != 0)
			return false;
	return n == 0;
}

/* *NAME: of the first file that is the same; NULL: it is the first. */
static int packed_as(struct pack *p, struct content *c, const char **name)
{
	bool common = is_common(p, c->name);

	*name = NULL;
	if (common && lz_file_crc(c->fd, &c->crc, &p->work) < 0)
		return -1;
	for (size_t i = 0; i < p->n && !*name; i++) {
		const struct packed *s = &p->shared[i];

		if ((p->links && same_inode(&s->st, &c->st)) ||
		    (common && s->crc == c->crc && s->st.st_size == c->st.st_size &&
		     same_bytes(s, c)))
			*name = s->name;
	}
	return 0;
}

static int keep_name(struct pack *p, const struct content *c)
{
	if (!is_common(p, c->name) && (c->st.st_nlink < 2 || !p->links))
		return 0;
	if (lz_reserve(p->shared, p->room, p->n + 1) < 0)
		return -1;
	p->shared[p->n] = (struct packed){c->st, c->crc, strdup(c->path), strdup(c->name)};
	if (!p->shared[p->n].path || !p->shared[p->n++].name)
		return lz_fail("no memory");
	return 0;
}

/* ---- contents ---- */

static int add_stretch(void *arg, uint64_t from, uint64_t to)
{
	struct content *c = arg;

	if (lz_extend(c->data, c->n) < 0)
		return -1;
	c->data[c->n++] = (struct stretch){from, to};
	return 0;
}

static int put_bytes(struct pack *p, const void *bytes, size_t n, const char *name)
{
	if (lz_archive->archive_write_data(p->a, bytes, n) != (la_ssize_t)n)
		return broken(p->a, name);
	return lz_work_done(&p->work, n);
}

static int put_data(struct pack *p, const struct content *c, const struct stretch *s)
{
	static char buf[1 << 17];

	for (uint64_t at = s->from; at < s->to;) {
		size_t want = s->to - at < sizeof(buf) ? (size_t)(s->to - at) : sizeof(buf);
		ssize_t n = pread(c->fd, buf, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return lz_fail("%s became shorter while it was packed", c->path);
		if (n > 0 && put_bytes(p, buf, (size_t)n, c->name) < 0)
			return -1;
		at += (uint64_t)n;
	}
	return 0;
}

/* The archive does not store holes, but counts what is written for them. These zeroes take no
 * memory. */
static int put_hole(struct pack *p, const struct content *c, uint64_t n)
{
	size_t piece = n < HOLE_AT_ONCE ? (size_t)n : HOLE_AT_ONCE;
	void *zeroes =
	    mmap(NULL, piece, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int rc = 0;

	if (zeroes == MAP_FAILED)
		return lz_fail_errno("cannot write %s", c->name);
	for (; rc == 0 && n; n -= piece) {
		piece = n < piece ? (size_t)n : piece;
		if (lz_archive->archive_write_data(p->a, zeroes, piece) != (la_ssize_t)piece)
			rc = broken(p->a, c->name);
		else
			rc = lz_work_done(&p->work, 0);
	}
	munmap(zeroes, piece);
	return rc;
}

static int put_contents(struct pack *p, const struct content *c)
{
	uint64_t at = 0, size = (uint64_t)c->st.st_size;

	for (size_t i = 0; i < c->n; i++) {
		if (c->data[i].from > at && put_hole(p, c, c->data[i].from - at) < 0)
			return -1;
		if (put_data(p, c, &c->data[i]) < 0)
			return -1;
		at = c->data[i].to;
	}
	return at < size ? put_hole(p, c, size - at) : 0;
}

/* ---- entries ---- */

/* Who owned the file is nobody's business. LINK: to that name, or NULL. */
static int put_header(struct pack *p, const struct content *c, int64_t size, const char *link)
{
	struct archive_entry *e = lz_archive->archive_entry_new();
	bool sparse = c->n != 1 || c->data[0].to - c->data[0].from != (uint64_t)size;
	int rc;

	if (!e)
		return lz_fail("no memory");
	lz_archive->archive_entry_set_pathname(e, c->name);
	lz_archive->archive_entry_set_filetype(e, AE_IFREG);
	lz_archive->archive_entry_set_perm(e, 0600);
	lz_archive->archive_entry_set_mtime(e, c->st.st_mtime, 0);
	lz_archive->archive_entry_set_size(e, size);
	if (link)
		lz_archive->archive_entry_set_hardlink(e, link);
	for (size_t i = 0; sparse && i < c->n; i++)
		lz_archive->archive_entry_sparse_add_entry(
		    e, (la_int64_t)c->data[i].from, (la_int64_t)(c->data[i].to - c->data[i].from));
	if (sparse && !c->n && size)
		lz_archive->archive_entry_sparse_add_entry(e, 0, 0);
	rc = lz_archive->archive_write_header(p->a, e) == ARCHIVE_OK ? 0 : broken(p->a, c->name);
	lz_archive->archive_entry_free(e);
	p->told->cost += lz_pack_cost(c->name, (uint64_t)size);
	return rc;
}

static int put_entry(struct pack *p, struct content *c)
{
	uint64_t size = (uint64_t)c->st.st_size;
	const char *first;
	int rc = packed_as(p, c, &first);

	if (rc == 0 && first)
		return put_header(p, c, 0, first);
	if (rc == 0)
		rc = lz_each_data(c->fd, size, add_stretch, c);
	if (rc == 0)
		rc = put_header(p, c, (int64_t)size, NULL);
	if (rc == 0)
		rc = put_contents(p, c);
	free(c->data);
	return rc == 0 ? keep_name(p, c) : rc;
}

static char *read_text(const struct content *c)
{
	size_t size = (size_t)c->st.st_size;
	char *text = c->st.st_size > MAX_META ? NULL : malloc(size + 1);

	if (text && pread(c->fd, text, size, 0) == (ssize_t)size)
		return text;
	free(text);
	return NULL;
}

static int put_meta(struct pack *p, struct content *c)
{
	size_t len = (size_t)c->st.st_size;
	char *text = read_text(c), *out;
	int rc = -1;

	if (!text)
		return lz_fail("cannot read %s", c->path);
	out = lz_pack_meta(text, &len, &p->told->left_out);
	free(text);
	c->data = &(struct stretch){0, len};
	c->n = 1;
	if (out && put_header(p, c, (int64_t)len, NULL) == 0)
		rc = put_bytes(p, out, len, c->name);
	free(out);
	return rc;
}

/* The open file at PATH, as NAME. Closes it. */
static int put_open(struct pack *p, int fd, const char *path, const char *name)
{
	struct content c = {.fd = fd, .path = path, .name = name};
	const char *base = strrchr(name, '/');
	int rc;

	if (fd < 0 || fstat(fd, &c.st) < 0)
		rc = lz_fail_errno("cannot read %s", path);
	else if (!S_ISREG(c.st.st_mode))
		rc = lz_fail("%s is no regular file", path);
	else if (p->links && !p->all_env && strcmp(base ? base + 1 : name, "meta") == 0)
		rc = put_meta(p, &c);
	else
		rc = put_entry(p, &c);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- a recording's files ---- */

bool lz_pack_is_own(const char *name)
{
	return lz_part_is_file(name) || strcmp(name, "meta") == 0;
}

bool lz_pack_is_copy(const char *name)
{
	return strncmp(name, "files/", 6) == 0 && name[6] && !strchr(name + 6, '/');
}

bool lz_pack_is_index(const char *name)
{
	static const char below[] = LZ_INDEX_FOLDER "/markers-";
	const size_t len = sizeof(below) - 1;

	return strncmp(name, below, len) == 0 && name[len] && !strchr(name + len, '/');
}

bool lz_pack_is_linked(const char *name)
{
	const char *in = lz_pack_in_recording(name);

	return lz_pack_is_copy(in) || strcmp(in, LZ_SOURCES_FILE) == 0 ||
	       strncmp(name, "sources/", 8) == 0 || strncmp(name, "debug/", 6) == 0;
}

static int put_named(struct pack *p, int folder, const char *path, const char *below,
                     const char *entry)
{
	char *file = NULL, *name = NULL;
	int rc = -1;

	if (asprintf(&file, "%s/%s", path, entry) < 0 || asprintf(&name, "%s%s", below, entry) < 0)
		lz_fail("no memory");
	else
		rc = put_open(p,
		              openat(folder, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
		              file, name);
	free(file);
	free(name);
	return rc;
}

/* Others may lie there, such as what a killed tracer has left. */
static bool belongs(const struct pack *p, const char *folder, const char *entry)
{
	char name[PATH_MAX];

	if (snprintf(name, sizeof(name), "%s%s", folder, entry) >= (int)sizeof(name))
		return false;
	if (strcmp(name, LZ_SOURCES_FILE) == 0)
		return p->sources;
	return lz_pack_is_own(name) || lz_pack_is_copy(name) || lz_pack_is_index(name);
}

/* The plain files of FOLDER ("" or one that ends in a slash) of the recording DIR that belong to it,
 * their names behind BELOW. A link in the folder's place could lead anywhere. */
static int put_folder(struct pack *p, const char *dir, const char *folder, const char *below)
{
	lz_auto_free char *path = NULL, *inside = NULL;
	struct dirent **v;
	int rc = 0;

	if (asprintf(&path, "%s/%s", dir, folder) < 0 ||
	    asprintf(&inside, "%s%s", below, folder) < 0)
		return lz_fail("no memory");
	path[strlen(path) - 1] = 0; /* with the slash a link would be followed */
	lz_auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int n = fd < 0 ? -1 : scandirat(fd, ".", &v, NULL, alphasort);

	if (n < 0)
		return lz_fail_errno("cannot read %s", path);
	for (int i = 0; i < n; i++) {
		if (rc == 0 && v[i]->d_type == DT_REG && belongs(p, folder, v[i]->d_name))
			rc = put_named(p, fd, path, inside, v[i]->d_name);
		free(v[i]);
	}
	free(v);
	return rc;
}

static bool has_index(const char *dir)
{
	lz_auto_free char *path = NULL;

	return asprintf(&path, "%s/" LZ_INDEX_FOLDER, dir) >= 0 && access(path, F_OK) == 0;
}

static int put_recording(struct pack *p, const char *dir, const char *below)
{
	if (put_folder(p, dir, "", below) < 0 || put_folder(p, dir, "files/", below) < 0)
		return -1;
	return p->index && has_index(dir) ? put_folder(p, dir, LZ_INDEX_FOLDER "/", below) : 0;
}

static int put_processes(struct pack *p, const struct lz_processes *all)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < all->n; i++) {
		char *below = NULL;

		if (asprintf(&below, "%s%s%s%s", p->below, i ? "processes/" : "",
		             i ? all->v[i].name : "", i ? "/" : "") < 0)
			return lz_fail("no memory");
		rc = put_recording(p, all->v[i].path, below);
		free(below);
	}
	return rc;
}

/* Looked at once more: it may have become another file meanwhile. */
static int put_source(struct pack *p, const struct lz_source *s)
{
	char *name = NULL;
	int fd, rc;

	if (lz_source_check(s->path, s->root, &fd) != LZ_SOURCE_PACKED)
		return lz_fail("%s changed while it was packed", s->path);
	if (asprintf(&name, "%ssources%s", p->below, s->path) < 0) {
		close(fd);
		return lz_fail("no memory");
	}
	rc = put_open(p, fd, s->path, name);
	free(name);
	if (rc == 0 && p->limit && p->told->cost > p->limit)
		rc = lz_fail("they take more than %llu MiB", (unsigned long long)p->limit >> 20);
	return rc;
}

static int put_debug(struct pack *p, const struct lz_debug_file *d)
{
	lz_auto_free char *name = NULL;
	int fd;

	if (asprintf(&name, "%s%s", p->below, d->name) < 0)
		return lz_fail("no memory");
	fd = lz_debug_open(d);
	if (fd < 0)
		return lz_fail("%s changed while it was packed", d->path);
	return put_open(p, fd, d->path, name);
}

static int put_roots(struct pack *p, const struct lz_sources *s)
{
	struct content c = {.name = LZ_SOURCES_ROOTS, .data = &(struct stretch){0}, .n = 1};
	size_t len;
	char *text = lz_pack_roots(s, &len);
	int rc = -1;

	if (!text)
		return -1;
	c.data->to = len;
	if (put_header(p, &c, (int64_t)len, NULL) == 0)
		rc = put_bytes(p, text, len, c.name);
	free(text);
	return rc;
}

static int put_sources(struct pack *p, const struct lz_sources *sources)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sources->n; i++)
		if (sources->v[i].fate == LZ_SOURCE_PACKED)
			rc = put_source(p, &sources->v[i]);
	return rc;
}

static int put_item(struct pack *p, const struct lz_pack_item *item)
{
	lz_auto_free char *below = NULL;
	int rc;

	if (asprintf(&below, "%s%s%s", p->several ? LZ_PACK_SEVERAL : "",
	             p->several ? item->name : "", p->several ? "/" : "") < 0)
		return lz_fail("no memory");
	p->below = below;
	p->sources = item->sources.wanted;
	p->index = item->index;
	p->links = true;
	rc = put_processes(p, &item->all);
	p->links = false;
	if (rc == 0)
		rc = put_sources(p, &item->sources);
	for (size_t i = 0; rc == 0 && i < item->debug.n; i++)
		rc = put_debug(p, &item->debug.v[i]);
	p->below = "";
	return rc;
}

/* Items, or sources alone. */
struct wanted {
	const struct lz_pack_item *items;
	size_t n;
	const struct lz_sources *sources;
};

static int put_all(struct pack *p, const struct wanted *w)
{
	int rc = w->sources ? put_roots(p, w->sources) : 0;

	if (rc == 0 && w->sources)
		rc = put_sources(p, w->sources);
	for (size_t i = 0; rc == 0 && i < w->n; i++)
		rc = put_item(p, &w->items[i]);
	return rc;
}

static int put_archive(struct pack *p, int fd, const char *path, const struct wanted *w)
{
	int rc = -1;

	if (lz_archive_load() < 0)
		return -1;
	p->a = lz_archive->archive_write_new();
	if (!p->a)
		return lz_fail("no memory");
	if (lz_archive->archive_write_add_filter_zstd(p->a) != ARCHIVE_OK ||
	    lz_archive->archive_write_set_format_pax_restricted(p->a) != ARCHIVE_OK ||
	    lz_archive->archive_write_open_fd(p->a, fd) != ARCHIVE_OK)
		broken(p->a, path);
	else
		rc = put_all(p, w);
	if (rc == 0 && lz_archive->archive_write_close(p->a) != ARCHIVE_OK)
		rc = broken(p->a, path);
	if (rc < 0)
		lz_archive->archive_write_fail(p->a);
	lz_archive->archive_write_free(p->a);
	return rc;
}

static void pack_free(struct pack *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->shared[i].path);
		free(p->shared[i].name);
	}
	free(p->shared);
}

static int write_file(struct pack *p, const char *path, const struct wanted *w)
{
	struct lz_new_file file;

	if (lz_new_file_begin(&file, path) < 0)
		return -1;
	int rc = put_archive(p, file.fd, path, w);

	rc = lz_new_file_end(&file, rc == 0);
	pack_free(p);
	return rc;
}

/* *BYTES: of all its processes. */
static int check_item(const struct lz_pack_item *item, uint64_t *bytes)
{
	const struct lz_processes *all = &item->all;

	for (size_t i = 0; i < all->n; i++) {
		*bytes += all->v[i].bytes;
		if (lz_recording_busy(all->v[i].path))
			return lz_fail("%s is being written by lizard-trace", all->v[i].path);
	}
	return 0;
}

int lz_pack_write(const struct lz_pack_item *items, size_t n, const char *path, bool all_env,
                  struct lz_packed *packed)
{
	struct pack p = {.all_env = all_env, .several = n > 1, .below = "", .told = packed};
	uint64_t bytes = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = check_item(&items[i], &bytes);
	if (rc < 0)
		return rc;
	lz_work_begin(&p.work, "packing", n > 1 ? 2 * bytes : bytes);
	rc = write_file(&p, path, &(struct wanted){.items = items, .n = n});
	lz_work_end(&p.work);
	return rc;
}

int lz_pack_write_sources(const char *path, const struct lz_sources *sources)
{
	struct lz_packed packed = {0};
	struct pack p = {.limit = LZ_SOURCES_LIMIT, .below = "", .told = &packed};
	int rc;

	lz_work_begin(&p.work, "keeping the sources", 0);
	rc = write_file(&p, path, &(struct wanted){.sources = sources});
	lz_work_end(&p.work);
	return rc;
}
