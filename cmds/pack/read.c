/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmds/pack/archive.h"
#include "cmds/pack/pack.h"
#include "common/base/text.h"
#include <common/base/cleanup.h>
#include <common/base/filecopy.h>
#include <common/base/hostfile.h>
#include <common/recording/recdir.h>
#include <common/base/tree.h>
#include <lizard/error.h>
#include <lizard/recording.h>

enum {
	READ_AT_ONCE = 16 << 10,
	MAX_DEPTH = 64,         /* of a name, in folders */
	STREAM_SLACK = 1 << 20, /* the end of an archive */
	READ_AHEAD = 4 << 20
};

struct unpacking {
	struct archive *a;
	int fd, root;
	uint64_t limit, used;   /* as lz_pack_cost() counts */
	uint64_t read;          /* of the file */
	bool stopped;           /* by ourselves: the error is set */
	bool sources;           /* alone */
	struct lz_names *names; /* of several recordings */
	bool begun, several;    /* begun: it is known whether there are */
	struct lz_work work;
	char buf[READ_AT_ONCE];
};

static int too_large(struct unpacking *u)
{
	char limit[LZ_TEXT];

	u->stopped = true;
	return lz_fail(
	    "unpacked, it is larger than %s; if you want it all the same, unpack it with "
	    "`lizard unpack --max-size SIZE FILE`",
	    lz_text_size(u->limit, limit));
}

static int take_room(struct unpacking *u, uint64_t bytes)
{
	if (bytes > u->limit - u->used)
		return too_large(u);
	u->used += bytes;
	return 0;
}

/* An archive can be long without holding much, by headers that are passed over, and so can a file
 * without being much of an archive, by empty blocks. N more bytes of it are read. */
static int check_stream(struct unpacking *u, size_t n)
{
	int64_t stream = lz_archive->archive_filter_bytes(u->a, 0);
	uint64_t out = stream > 0 ? (uint64_t)stream : 0;

	u->read += n;
	if (out > u->limit && out - u->limit > STREAM_SLACK)
		return too_large(u);
	if (u->read > out + out / 1024 + READ_AHEAD)
		u->stopped = lz_fail("it is damaged: hardly anything comes out of it") < 0;
	else
		u->stopped = lz_work_done(&u->work, n) < 0;
	return u->stopped ? -1 : 0;
}

/* libarchive's way to read: in small pieces, since each may become thousands of times as much. */
static la_ssize_t read_some(struct archive *a, void *arg, const void **bytes)
{
	struct unpacking *u = arg;
	ssize_t n;

	do {
		n = read(u->fd, u->buf, sizeof(u->buf));
	} while (n < 0 && errno == EINTR && check_stream(u, 0) == 0);
	*bytes = u->buf;
	if (n >= 0 && check_stream(u, (size_t)n) == 0)
		return n;
	lz_archive->archive_set_error(a, errno, "%s", u->stopped ? lz_error() : strerror(errno));
	return -1;
}

/* NAME: of a file in it, or NULL. */
static int damaged(const struct unpacking *u, const char *name)
{
	if (u->stopped)
		return -1;
	return lz_fail("it%s%s is damaged: %s", name ? "s file " : "", name ? name : "",
	               lz_archive->archive_error_string(u->a));
}

static int open_archive(struct unpacking *u, const char *path)
{
	/* a recording is untrusted: a FIFO would wait for ever */
	const int flags = u->sources ? O_NOFOLLOW | O_NONBLOCK : 0;
	struct stat st;

	u->fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	if (u->fd < 0 || fstat(u->fd, &st) < 0)
		return lz_fail_errno("cannot read it");
	if (u->sources && !S_ISREG(st.st_mode))
		return lz_fail("it is not a regular file");
	u->work.progress.total = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	if (lz_archive_load() < 0)
		return -1;
	u->a = lz_archive->archive_read_new();
	if (!u->a)
		return lz_fail("no memory");
	lz_archive->archive_read_support_filter_zstd(u->a);
	lz_archive->archive_read_support_format_tar(u->a);
	if (lz_archive->archive_read_open(u->a, u, NULL, read_some, NULL) == ARCHIVE_OK)
		return 0;
	return u->stopped ? -1
	                  : lz_fail("cannot read it: %s", lz_archive->archive_error_string(u->a));
}

bool lz_pack_is(const char *path)
{
	static const uint8_t zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
	uint8_t head[4];
	/* it may be a FIFO */
	lz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) &&
	       memcmp(head, zstd, sizeof(zstd)) == 0;
}

/* Opens the directory NAME of FD, made if it is missing; a link is none. */
static int enter(int fd, const char *name)
{
	if (mkdirat(fd, name, 0700) < 0 && errno != EEXIST)
		return -1;
	return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens the directory below ROOT that NAME is in, and makes it if it is missing; *LAST: the file's
 * own name. No part of NAME can lead out of ROOT. */
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
	lz_auto_close int fd = enter_parents(root, name, &last);

	if (fd < 0)
		return -1;
	return openat(fd, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* A copy of FILE where there are no links. */
static int copy_instead(struct unpacking *u, int file, int to, const char *name)
{
	uint64_t size;
	uint32_t crc;
	struct stat st;

	if (fstat(file, &st) < 0)
		return -1;
	size = (uint64_t)st.st_size;
	return take_room(u, size) < 0 ? -1 : lz_copy_file(file, &size, &crc, to, name, &u->work);
}

/* Makes NAME another name of the file TARGET. */
static int make_link(struct unpacking *u, char *name, char *target)
{
	const char *last, *target_last;
	lz_auto_close int to = enter_parents(u->root, name, &last);
	lz_auto_close int from = enter_parents(u->root, target, &target_last);
	lz_auto_close int file =
	    from < 0 ? -1 : openat(from, target_last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (to < 0 || file < 0)
		return -1;
	if (linkat(from, target_last, to, last, 0) == 0)
		return 0;
	return errno == EEXIST ? -1 : copy_instead(u, file, to, last);
}

const char *lz_pack_in_recording(const char *name)
{
	const char *slash;

	if (strncmp(name, "processes/", 10) != 0)
		return name;
	slash = strchr(name + 10, '/');
	return slash ? slash + 1 : "";
}

static unsigned folders_of(const char *name)
{
	unsigned n = 0;

	for (; *name; name++)
		n += *name == '/';
	return n;
}

uint64_t lz_pack_cost(const char *name, uint64_t size)
{
	return size + LZ_PAGE * (1ull + folders_of(name));
}

/* In an archive of sources alone. */
static bool is_source(struct archive_entry *e, const char *name)
{
	return name && !lz_archive->archive_entry_hardlink(e) &&
	       lz_archive->archive_entry_filetype(e) == AE_IFREG && strlen(name) <= 4096 &&
	       folders_of(name) <= MAX_DEPTH &&
	       (strncmp(name, "sources/", 8) == 0 || strcmp(name, LZ_SOURCES_ROOTS) == 0);
}

/* NAME and LINK (or NULL) are within a pack of one recording. */
static bool is_allowed(const char *name, const char *link, bool several)
{
	const char *in = lz_pack_in_recording(name);

	if (link && several)
		return lz_pack_is_linked(name) && lz_pack_is_linked(link);
	if (link)
		return lz_pack_is_copy(in) && lz_pack_is_copy(lz_pack_in_recording(link));
	return lz_pack_is_copy(in) || lz_pack_is_own(in) || lz_pack_is_index(in) ||
	       strncmp(name, "sources/", 8) == 0 || strncmp(name, "debug/", 6) == 0;
}

/* Of several recordings: what stands behind the name of one, which is LEN bytes long. NULL: it has
 * none that could be a folder's, or one that is no text. */
static const char *behind_name(const char *name, size_t *len)
{
	const char *slash = strchr(name, '/');

	*len = slash ? (size_t)(slash - name) : 0;
	if (!*len || *len > 200 || *name == '.' || *name == '-')
		return NULL;
	for (size_t i = 0; i < *len; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 127)
			return NULL;
	return slash + 1;
}

static int note_name(struct lz_names *names, const char *name, size_t len)
{
	lz_auto_free char *text = strndup(name, len);

	if (names->n && text && strcmp(names->v[names->n - 1], text) == 0)
		return 0;
	if (!text || lz_names_add(names, text) < 0)
		return -1;
	return names->n > LZ_PACK_MOST ? lz_fail("it holds more than %d recordings", LZ_PACK_MOST)
	                               : 0;
}

/* *NAME, which is "NAME/..." behind "recordings/": what it is in a pack of that one alone. */
static const char *of_several(const char **name, size_t *len)
{
	size_t prefix = strlen(LZ_PACK_SEVERAL);

	if (strncmp(*name, LZ_PACK_SEVERAL, prefix) != 0)
		return NULL;
	*name += prefix;
	return behind_name(*name, len);
}

/* May it go in? Of several recordings, *NAME and *LINK are then below the folder for all of them. */
static int check_entry(struct unpacking *u, struct archive_entry *e, const char **name,
                       const char **link)
{
	const char *in = *name, *link_in = *link;
	size_t len = 0, link_len = 0;

	if (!in || (!link_in && lz_archive->archive_entry_filetype(e) != AE_IFREG) ||
	    strlen(in) > 4096 || folders_of(in) > MAX_DEPTH)
		return -1;
	if (!u->begun)
		u->several = strncmp(in, LZ_PACK_SEVERAL, strlen(LZ_PACK_SEVERAL)) == 0;
	u->begun = true;
	if (u->several) {
		in = of_several(name, &len);
		link_in = link_in ? of_several(link, &link_len) : NULL;
		if (!in || (*link && !link_in) || note_name(u->names, *name, len) < 0)
			return -1;
	}
	return is_allowed(in, link_in, u->several) ? 0 : -1;
}

static int take_link(struct unpacking *u, const char *given, const char *of)
{
	char *name = strdup(given), *target = strdup(of);
	int rc = -1;

	if (!name || !target)
		lz_fail("no memory");
	else if ((rc = make_link(u, name, target)) < 0 && !u->stopped)
		lz_fail_errno("cannot create its file %s", given);
	free(name);
	free(target);
	return rc;
}

static int write_whole(int fd, const char *bytes, size_t n, off_t at)
{
	while (n) {
		ssize_t done = pwrite(fd, bytes, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

/* What the archive leaves out is holes. */
static int take_data(struct unpacking *u, int fd, int64_t size, const char *name)
{
	const void *bytes;
	la_int64_t at;
	size_t n;
	int rc;

	while ((rc = lz_archive->archive_read_data_block(u->a, &bytes, &n, &at)) == ARCHIVE_OK) {
		if (at < 0 || at > size || n > (uint64_t)(size - at))
			return lz_fail("its file %s is longer than it says", name);
		if (write_whole(fd, bytes, n, at) < 0)
			return lz_fail_errno("cannot write its file %s", name);
		if (check_stream(u, 0) < 0)
			return -1;
	}
	if (rc != ARCHIVE_EOF)
		return damaged(u, name);
	return ftruncate(fd, size) < 0 ? lz_fail_errno("cannot write its file %s", name) : 0;
}

/* GDB compares the times of programs and sources. Those of the recording's own files are when they
 * were made here: by `meta` prune tells old ones. */
static void keep_time(struct unpacking *u, int fd, const char *name, time_t modified)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = modified}};
	const char *in = u->several ? strchr(name, '/') + 1 : name;

	if (!lz_pack_is_own(lz_pack_in_recording(in)) && futimens(fd, times) < 0)
		lz_debug("the time of %s is not kept", name);
}

static int take_file(struct unpacking *u, const char *given, int64_t size, time_t modified)
{
	char *name = strdup(given);
	int fd = name ? make_file(u->root, name) : -1;
	int rc = fd < 0 ? lz_fail_errno("cannot create its file %s", given)
	                : take_data(u, fd, size, given);

	if (rc == 0)
		keep_time(u, fd, given, modified);
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = lz_fail_errno("cannot write its file %s", given);
	free(name);
	return rc;
}

static bool may_take(struct unpacking *u, struct archive_entry *e, const char **name,
                     const char **link)
{
	return u->sources ? is_source(e, *name) : check_entry(u, e, name, link) == 0;
}

static int take_entry(struct unpacking *u, struct archive_entry *e)
{
	const char *given = lz_archive->archive_entry_pathname(e), *name = given;
	const char *link = lz_archive->archive_entry_hardlink(e);
	int64_t size = link ? 0 : lz_archive->archive_entry_size(e);

	if (!may_take(u, e, &name, &link) || size < 0)
		return lz_fail("it holds `%s`, which is no part of a recording",
		               given ? given : "(no name)");
	if (take_room(u, lz_pack_cost(given, (uint64_t)size)) < 0)
		return -1;
	return link ? take_link(u, name, link)
	            : take_file(u, name, size, lz_archive->archive_entry_mtime(e));
}

/* Is each of them there? */
static int check_all(const struct unpacking *u)
{
	char meta[300];

	if (u->sources || (!u->several && faccessat(u->root, "meta", F_OK, 0) == 0))
		return 0;
	for (size_t i = 0; u->several && i < u->names->n; i++) {
		snprintf(meta, sizeof(meta), "%s/meta", u->names->v[i]);
		if (faccessat(u->root, meta, F_OK, 0) < 0)
			return lz_fail("it holds no recording `%s`, but files of it",
			               u->names->v[i]);
	}
	return u->several ? 0 : lz_fail("it holds no recording");
}

static int take_all(struct unpacking *u)
{
	struct archive_entry *e;
	int rc;

	while ((rc = lz_archive->archive_read_next_header(u->a, &e)) == ARCHIVE_OK)
		if (take_entry(u, e) < 0)
			return -1;
	if (rc != ARCHIVE_EOF)
		return damaged(u, NULL);
	return check_all(u);
}

static int take_into(struct unpacking *u, const char *dir)
{
	int rc;

	u->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (u->root < 0)
		return lz_fail_errno("cannot open %s", dir);
	rc = take_all(u);
	close(u->root);
	return rc;
}

static int read_file(const char *path, const char *dir, uint64_t limit, struct lz_names *names)
{
	struct unpacking u = {.fd = -1, .limit = limit, .sources = !names, .names = names};
	bool made = false;
	int rc;

	lz_work_begin(&u.work, "unpacking", 0);
	rc = open_archive(&u, path);
	if (rc == 0)
		rc = lz_recdir_make(dir);
	made = rc == 0;
	if (rc == 0)
		rc = take_into(&u, dir);
	if (u.a)
		lz_archive->archive_read_free(u.a);
	if (u.fd >= 0)
		close(u.fd);
	if (rc < 0)
		lz_fail_in("%s", path);
	if (rc < 0 && made)
		lz_undo_tree(dir);
	lz_work_end(&u.work);
	return rc;
}

int lz_pack_read(const char *path, const char *dir, uint64_t limit, struct lz_names *names)
{
	return read_file(path, dir, limit, names);
}

int lz_sources_unpack(const char *path, const char *dir)
{
	return read_file(path, dir, LZ_SOURCES_LIMIT, NULL);
}

/* ---- are they here as well? ---- */

/* The data of the present entry is what the file FD holds. 1: yes; 0: no. */
static int compare_data(struct unpacking *u, int fd, const char *name)
{
	static char here[1 << 16];
	const char *bytes;
	const void *block;
	la_int64_t at;
	size_t n;
	int rc;

	while ((rc = lz_archive->archive_read_data_block(u->a, &block, &n, &at)) == ARCHIVE_OK) {
		if (check_stream(u, 0) < 0)
			return -1;
		bytes = block;
		for (size_t part; n; n -= part, at += (la_int64_t)part, bytes += part) {
			part = n < sizeof(here) ? n : sizeof(here);
			if (pread(fd, here, part, at) != (ssize_t)part ||
			    memcmp(here, bytes, part) != 0)
				return 0;
		}
	}
	return rc == ARCHIVE_EOF ? 1 : damaged(u, name);
}

static int compare(struct unpacking *u, struct archive_entry *e, const char *name)
{
	lz_auto_close int fd = lz_open_regular(name + strlen("sources"));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size != lz_archive->archive_entry_size(e))
		return 0;
	return compare_data(u, fd, name);
}

static int each_source(struct unpacking *u, int (*fn)(void *, const char *, bool), void *arg)
{
	struct archive_entry *e;
	int rc;

	while ((rc = lz_archive->archive_read_next_header(u->a, &e)) == ARCHIVE_OK) {
		const char *name = lz_archive->archive_entry_pathname(e);

		if (!is_source(e, name) || lz_archive->archive_entry_size(e) < 0)
			return lz_fail("it holds what is no source file");
		if (take_room(u, lz_pack_cost(name, (uint64_t)lz_archive->archive_entry_size(e))) <
		    0)
			return -1;
		if (strncmp(name, "sources/", 8) != 0)
			continue;
		rc = compare(u, e, name);
		if (rc < 0 || fn(arg, name + strlen("sources"), rc) < 0)
			return -1;
	}
	return rc == ARCHIVE_EOF ? 0 : damaged(u, NULL);
}

int lz_sources_each(const char *path, int (*fn)(void *, const char *, bool), void *arg)
{
	struct unpacking u = {.fd = -1, .limit = LZ_SOURCES_LIMIT, .sources = true};
	int rc;

	lz_work_begin(&u.work, "comparing the sources", 0);
	rc = open_archive(&u, path);
	if (rc == 0)
		rc = each_source(&u, fn, arg);
	if (u.a)
		lz_archive->archive_read_free(u.a);
	if (u.fd >= 0)
		close(u.fd);
	lz_work_end(&u.work);
	return rc < 0 ? lz_fail_in("%s", path) : 0;
}
