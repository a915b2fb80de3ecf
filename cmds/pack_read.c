#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "cmds/pack.h"
#include <common/filecopy.h>
#include <common/recdir.h>
#include <common/tree.h>
#include <lizard/error.h>
#include <lizard/recording.h>

static int open_archive(const char *path, struct archive **out)
{
	struct archive *a = archive_read_new();

	*out = a;
	if (!a)
		return lz_fail("no memory");
	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	if (archive_read_open_filename(a, path, 1 << 17) != ARCHIVE_OK)
		return lz_fail("cannot read %s: %s", path, archive_error_string(a));
	return 0;
}

bool lz_pack_is(const char *path)
{
	static const uint8_t zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
	uint8_t head[4];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool yes = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) &&
	           memcmp(head, zstd, sizeof(zstd)) == 0;

	if (fd >= 0)
		close(fd);
	return yes;
}

/* Opens the directory NAME of FD, made if it is missing; a link is none. */
static int enter(int fd, const char *name)
{
	if (mkdirat(fd, name, 0700) < 0 && errno != EEXIST)
		return -1;
	return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens the directory below ROOT that NAME is in, and makes it if it is missing; *LAST: the file's own name. No part of
 * NAME can lead out of ROOT. */
static int enter_parents(int root, char *name, const char **last)
{
	int fd = dup(root);
	char *part = name, *slash;

	for (; fd >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
		int next;

		*slash = 0;
		next = *part && strcmp(part, ".") && strcmp(part, "..") ? enter(fd, part) : -1;
		*slash = '/';
		close(fd);
		fd = next;
	}
	*last = part;
	return fd;
}

static int make_file(int root, char *name)
{
	const char *last;
	int fd = enter_parents(root, name, &last), file;

	if (fd < 0)
		return -1;
	file = openat(fd, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	close(fd);
	return file;
}

/* Makes NAME another name of the file TARGET, or a copy of it where there are no links. */
static int make_link(int root, char *name, char *target)
{
	const char *last, *target_last;
	uint64_t size = 0;
	uint32_t crc;
	struct stat st;
	int to = enter_parents(root, name, &last), file, rc;
	int from = enter_parents(root, target, &target_last);

	file = from < 0 ? -1 : openat(from, target_last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (file >= 0 && fstat(file, &st) == 0)
		size = (uint64_t)st.st_size;
	if (to < 0 || file < 0)
		rc = -1;
	else if ((rc = linkat(from, target_last, to, last, 0)) < 0 && errno != EEXIST)
		rc = lz_copy_file(file, &size, &crc, to, last, NULL);
	for (int i = 0, fds[] = {to, from, file}; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return rc;
}

/* NAME without the process that it belongs to. */
static const char *in_recording(const char *name)
{
	const char *slash;

	if (strncmp(name, "processes/", 10) != 0)
		return name;
	slash = strchr(name + 10, '/');
	return slash ? slash + 1 : "";
}

static bool is_allowed(struct archive_entry *e, const char *name)
{
	const char *link = archive_entry_hardlink(e);

	if (!name || (!link && archive_entry_filetype(e) != AE_IFREG) || strlen(name) > 4096)
		return false;
	if (link)
		return lz_pack_is_copy(in_recording(name)) && lz_pack_is_copy(in_recording(link));
	return lz_pack_is_copy(in_recording(name)) || lz_pack_is_own(in_recording(name)) ||
	       strncmp(name, "sources/", 8) == 0;
}

static int take_link(const char *given, const char *of, int root)
{
	char *name = strdup(given), *target = strdup(of);
	int rc = -1;

	if (!name || !target)
		lz_fail("no memory");
	else if ((rc = make_link(root, name, target)) < 0)
		lz_fail_errno("cannot create its file %s", given);
	free(name);
	free(target);
	return rc;
}

static int take_entry(struct archive *a, struct archive_entry *e, int root)
{
	const char *given = archive_entry_pathname(e);
	char *name;
	int fd, rc = 0;

	if (!is_allowed(e, given))
		return lz_fail("it holds `%s`, which is no part of a recording",
		               given ? given : "(no name)");
	if (archive_entry_hardlink(e))
		return take_link(given, archive_entry_hardlink(e), root);
	name = strdup(given);
	fd = name ? make_file(root, name) : -1;
	if (fd < 0)
		rc = lz_fail_errno("cannot create its file %s", given);
	else if (archive_read_data_into_fd(a, fd) != ARCHIVE_OK)
		rc = lz_fail("its file %s is damaged: %s", given, archive_error_string(a));
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = lz_fail_errno("cannot write %s", given);
	free(name);
	return rc;
}

static int take_all(struct archive *a, int root)
{
	struct archive_entry *e;
	int rc;

	while ((rc = archive_read_next_header(a, &e)) == ARCHIVE_OK)
		if (take_entry(a, e, root) < 0)
			return -1;
	if (rc != ARCHIVE_EOF)
		return lz_fail("it is damaged: %s", archive_error_string(a));
	return faccessat(root, "meta", F_OK, 0) == 0 ? 0 : lz_fail("it holds no recording");
}

int lz_pack_read(const char *path, const char *dir)
{
	struct archive *a;
	int root = -1, rc = open_archive(path, &a);

	if (rc == 0)
		rc = lz_recdir_make(dir);
	if (rc == 0) {
		root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		rc = root < 0 ? lz_fail_errno("cannot open %s", dir) : take_all(a, root);
	}
	if (root >= 0)
		close(root);
	archive_read_free(a);
	if (rc == 0)
		return 0;
	lz_fail_in("%s", path);
	if (root >= 0) {
		char *why = strdup(lz_error());

		lz_remove_tree(dir);
		lz_fail("%s", why ? why : "no memory");
		free(why);
	}
	return -1;
}

static int checksum(const char *path, uint32_t *crc)
{
	static uint8_t buf[1 << 17];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uLong c = crc32_z(0, NULL, 0);
	ssize_t n;

	if (fd < 0)
		return lz_fail_errno("cannot read %s", path);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		c = crc32_z(c, buf, (size_t)n);
	close(fd);
	*crc = (uint32_t)c;
	return n < 0 ? lz_fail_errno("cannot read %s", path) : 0;
}

/* Unpacked beside DIR and then renamed, so that what is there is whole. */
static int unpack_to(const char *path, const char *dir)
{
	char *part = NULL;
	int rc;

	if (access(dir, F_OK) == 0)
		return 0;
	if (asprintf(&part, "%s.part-%d", dir, (int)getpid()) < 0)
		return lz_fail("no memory");
	rc = lz_pack_read(path, part);
	if (rc == 0 && rename(part, dir) < 0 && access(dir, F_OK) < 0)
		rc = lz_fail_errno("cannot rename %s", part);
	free(part);
	return rc;
}

char *lz_pack_open(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *all = lz_recordings_dir(), *dir = NULL;
	uint32_t crc = 0;
	int rc = all ? lz_make_dirs(all) : -1;

	if (rc == 0)
		rc = checksum(path, &crc);
	if (rc == 0 && asprintf(&dir, "%s/%.*s.%08x", all, (int)strcspn(base, "."), base, crc) < 0)
		rc = lz_fail("no memory");
	if (rc == 0)
		rc = unpack_to(path, dir);
	free(all);
	if (rc == 0)
		return dir;
	free(dir);
	return NULL;
}

char *lz_find(const char *what)
{
	return lz_pack_is(what) ? lz_pack_open(what) : lz_recording_find(what);
}
