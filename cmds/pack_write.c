#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmds/pack.h"
#include <common/parts.h>
#include <lizard/error.h>
#include <lizard/recording.h>

static int broken(struct archive *a, const char *what)
{
	const char *why = archive_error_string(a);

	return lz_fail("cannot write %s: %s", what, why ? why : "unknown error");
}

static int put_contents(struct archive *a, int fd, const char *name, off_t left)
{
	static char buf[1 << 17];

	while (left > 0) {
		ssize_t n = read(fd, buf, left < (off_t)sizeof(buf) ? (size_t)left : sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return lz_fail("%s became shorter while it was packed", name);
		if (archive_write_data(a, buf, (size_t)n) != n)
			return broken(a, name);
		left -= n;
	}
	return 0;
}

/* Files with several names, which the recordings of one run share: the first name is packed, the others as links to it. */
struct packed {
	dev_t dev;
	ino_t ino;
	char *name;
};

struct pack {
	struct archive *a;
	bool links; /* may be packed */
	struct packed *shared;
	size_t n, room;
};

static const char *packed_as(const struct pack *p, const struct stat *st)
{
	for (size_t i = 0; p->links && i < p->n; i++)
		if (p->shared[i].ino == st->st_ino && p->shared[i].dev == st->st_dev)
			return p->shared[i].name;
	return NULL;
}

static int keep_name(struct pack *p, const struct stat *st, const char *name)
{
	if (st->st_nlink < 2 || !p->links)
		return 0;
	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		struct packed *v = reallocarray(p->shared, room, sizeof(*v));

		if (!v)
			return lz_fail("no memory");
		p->shared = v;
		p->room = room;
	}
	p->shared[p->n] = (struct packed){st->st_dev, st->st_ino, strdup(name)};
	return p->shared[p->n++].name ? 0 : lz_fail("no memory");
}

static int put_entry(struct pack *p, int fd, const struct stat *st, const char *path,
                     const char *name)
{
	struct archive_entry *e = archive_entry_new();
	const char *first = packed_as(p, st);
	int rc;

	if (!e)
		return lz_fail("no memory");
	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0600);
	archive_entry_set_mtime(e, st->st_mtime, 0);
	archive_entry_set_size(e, first ? 0 : st->st_size);
	if (first)
		archive_entry_set_hardlink(e, first);
	rc = archive_write_header(p->a, e) == ARCHIVE_OK ? 0 : broken(p->a, name);
	archive_entry_free(e);
	if (rc < 0 || first)
		return rc;
	rc = put_contents(p->a, fd, path, st->st_size);
	return rc == 0 ? keep_name(p, st, name) : rc;
}

/* The file at PATH, as NAME. Who owned it is nobody's business. */
static int put_file(struct pack *p, const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		rc = lz_fail_errno("cannot read %s", path);
	else
		rc = put_entry(p, fd, &st, path, name);
	if (fd >= 0)
		close(fd);
	return rc;
}

bool lz_pack_is_own(const char *name)
{
	return lz_part_is_file(name) || strcmp(name, "meta") == 0;
}

bool lz_pack_is_copy(const char *name)
{
	return strncmp(name, "files/", 6) == 0 && name[6] && !strchr(name + 6, '/');
}

/* The plain files of the folder PATH that belong to a recording (others may lie there, such as what a killed tracer has left), their names behind BELOW; both end in a slash, or BELOW
 * is "". COPIES: all files there do. */
static int put_directory(struct pack *p, const char *path, const char *below, bool copies)
{
	struct dirent **v;
	int n = scandir(path, &v, NULL, alphasort), rc = 0;

	if (n < 0)
		return lz_fail_errno("cannot read %s", path);
	for (int i = 0; i < n; i++) {
		char *file = NULL, *name = NULL;

		if (rc == 0 && v[i]->d_type == DT_REG && (copies || lz_pack_is_own(v[i]->d_name)) &&
		    (asprintf(&file, "%s%s", path, v[i]->d_name) < 0 ||
		     asprintf(&name, "%s%s", below, v[i]->d_name) < 0))
			rc = lz_fail("no memory");
		if (rc == 0 && file)
			rc = put_file(p, file, name);
		free(file);
		free(name);
		free(v[i]);
	}
	free(v);
	return rc;
}

/* The files of the recording DIR, their names behind BELOW. */
static int put_recording(struct pack *p, const char *dir, const char *below)
{
	char *own = NULL, *files = NULL, *below_files = NULL;
	int rc = -1;

	if (asprintf(&own, "%s/", dir) < 0 || asprintf(&files, "%s/files/", dir) < 0 ||
	    asprintf(&below_files, "%sfiles/", below) < 0)
		lz_fail("no memory");
	else
		rc = put_directory(p, own, below, false);
	if (rc == 0)
		rc = put_directory(p, files, below_files, true);
	free(own);
	free(files);
	free(below_files);
	return rc;
}

static int put_processes(struct pack *p, const struct lz_processes *all)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < all->n; i++) {
		char *below = NULL;

		if (i && asprintf(&below, "processes/%s/", all->v[i].name) < 0)
			return lz_fail("no memory");
		rc = put_recording(p, all->v[i].path, i ? below : "");
		free(below);
	}
	return rc;
}

static int put_all(struct archive *a, const struct lz_processes *all,
                   const struct lz_names *sources)
{
	struct pack p = {.a = a, .links = true};
	int rc = put_processes(&p, all);

	p.links = false;
	for (size_t i = 0; rc == 0 && i < sources->n; i++) {
		char *name = NULL;

		if (asprintf(&name, "sources%s", sources->v[i]) < 0)
			rc = lz_fail("no memory");
		else
			rc = put_file(&p, sources->v[i], name);
		free(name);
	}
	for (size_t i = 0; i < p.n; i++)
		free(p.shared[i].name);
	free(p.shared);
	return rc;
}

int lz_pack_write(const struct lz_processes *all, const char *path, const struct lz_names *sources)
{
	int fd, rc = -1;

	for (size_t i = 0; i < all->n; i++)
		if (lz_recording_busy(all->v[i].path))
			return lz_fail("%s is being written by lizard-trace", all->v[i].path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return lz_fail_errno("cannot create %s", path);
	struct archive *a = archive_write_new();
	if (!a)
		lz_fail("no memory");
	else if (archive_write_add_filter_zstd(a) != ARCHIVE_OK ||
	         archive_write_set_format_pax_restricted(a) != ARCHIVE_OK ||
	         archive_write_open_fd(a, fd) != ARCHIVE_OK)
		broken(a, path);
	else
		rc = put_all(a, all, sources);
	if (rc == 0 && archive_write_close(a) != ARCHIVE_OK)
		rc = broken(a, path);
	archive_write_free(a);
	if (close(fd) < 0 && rc == 0)
		rc = lz_fail_errno("cannot write %s", path);
	if (rc < 0)
		unlink(path);
	return rc;
}
