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

/* The file at PATH, as NAME. Who owned it is nobody's business. */
static int put_file(struct archive *a, const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;
	struct archive_entry *e = archive_entry_new();
	struct stat st;

	if (!e || fd < 0 || fstat(fd, &st) < 0) {
		lz_fail_errno("cannot read %s", path);
	} else {
		archive_entry_set_pathname(e, name);
		archive_entry_set_filetype(e, AE_IFREG);
		archive_entry_set_perm(e, 0600);
		archive_entry_set_size(e, st.st_size);
		archive_entry_set_mtime(e, st.st_mtime, 0);
		rc = archive_write_header(a, e) == ARCHIVE_OK
		         ? put_contents(a, fd, path, st.st_size)
		         : broken(a, name);
	}
	if (fd >= 0)
		close(fd);
	archive_entry_free(e);
	return rc;
}

/* The plain files of DIR/BELOW, BELOW being "" or ending in a slash. */
static int put_directory(struct archive *a, const char *dir, const char *below)
{
	struct dirent **v;
	char *path = NULL;
	int n, rc = 0;

	if (asprintf(&path, "%s/%s", dir, below) < 0)
		return lz_fail("no memory");
	n = scandir(path, &v, NULL, alphasort);
	if (n < 0)
		rc = lz_fail_errno("cannot read %s", path);
	for (int i = 0; i < n; i++) {
		char *file = NULL, *name = NULL;

		if (rc == 0 && v[i]->d_type == DT_REG &&
		    (asprintf(&file, "%s%s", path, v[i]->d_name) < 0 ||
		     asprintf(&name, "%s%s", below, v[i]->d_name) < 0))
			rc = lz_fail("no memory");
		if (rc == 0 && file)
			rc = put_file(a, file, name);
		free(file);
		free(name);
		free(v[i]);
	}
	if (n >= 0)
		free(v);
	free(path);
	return rc;
}

static int put_all(struct archive *a, const char *dir, const struct lz_names *sources)
{
	int rc = put_directory(a, dir, "");

	if (rc == 0)
		rc = put_directory(a, dir, "files/");
	for (size_t i = 0; rc == 0 && i < sources->n; i++) {
		char *name = NULL;

		if (asprintf(&name, "sources%s", sources->v[i]) < 0)
			return lz_fail("no memory");
		rc = put_file(a, sources->v[i], name);
		free(name);
	}
	return rc;
}

int lz_pack_write(const char *dir, const char *path, const struct lz_names *sources)
{
	int fd, rc = -1;

	if (lz_recording_busy(dir))
		return lz_fail("%s is being written by lizard-trace", dir);
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
		rc = put_all(a, dir, sources);
	if (rc == 0 && archive_write_close(a) != ARCHIVE_OK)
		rc = broken(a, path);
	archive_write_free(a);
	if (close(fd) < 0 && rc == 0)
		rc = lz_fail_errno("cannot write %s", path);
	if (rc < 0)
		unlink(path);
	return rc;
}
