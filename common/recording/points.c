/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/array.h>
#include <common/base/bytes.h>
#include <common/base/cleanup.h>
#include <common/recording/computed_inside.h>
#include <common/recording/points.h>
#include <common/recording/reader.h>
#include <lizard/error.h>

/* Of the file. */
enum { MOST = 1 << 20 };
#define NEW_FILE LZ_POINTS_FILE ".new"

/* ---- the file ---- */

/* 1: there is none. */
static int read_text(int fd, struct lz_buf *b)
{
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 1 : lz_fail_errno("cannot open " LZ_POINTS_FILE);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MOST)
		return lz_fail(LZ_POINTS_FILE " is no file, or too long");
	uint8_t *to = lz_buf_room(b, (size_t)st.st_size + 1);
	if (!to)
		return lz_fail("no memory");
	ssize_t n = pread(fd, to, (size_t)st.st_size, 0);
	if (n != st.st_size)
		return lz_fail(LZ_POINTS_FILE " cannot be read");
	to[n] = 0;
	b->len = (size_t)n;
	return 0;
}

static int open_file(const struct lz_reader *r, int flags)
{
	return openat(r->dirfd, LZ_POINTS_FILE, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

/* Locked, and the one that has the name. */
static int open_locked(const struct lz_reader *r, int flags)
{
	for (;;) {
		struct stat own, named;
		int fd = open_file(r, O_RDWR | flags);

		if (fd < 0)
			return lz_fail_errno("cannot open " LZ_POINTS_FILE);
		if (flock(fd, LOCK_EX) < 0) {
			lz_fail_errno("cannot lock " LZ_POINTS_FILE);
			close(fd);
			return -1;
		}
		/* only then: a file that was replaced meanwhile has no name */
		bool named_so =
		    fstat(fd, &own) == 0 &&
		    fstatat(r->dirfd, LZ_POINTS_FILE, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		    own.st_ino == named.st_ino;
		if (named_so && lz_is_ours(fd, S_IFREG))
			return fd;
		close(fd);
		if (named_so)
			return lz_fail(LZ_POINTS_FILE " belongs to somebody else");
	}
}

/* ---- its lines ---- */

static char *end_of_line(char *line)
{
	return line + strcspn(line, "\n");
}

static bool is_point(const char *line)
{
	return *line && *line != '\n' && *line != '#';
}

static int parse(char *line, struct lz_point *point)
{
	char *note = line + strcspn(line, " \t");
	const char end = *note;

	*note = 0;
	int rc = lz_pos_parse(line, &point->pos);
	*note = end;
	note += strspn(note, " \t");
	if (rc == 0 && !(point->note = strdup(note)))
		rc = lz_fail("no memory");
	return rc;
}

static int parse_all(char *text, struct lz_points *p)
{
	unsigned number = 1;
	size_t room = 0;

	for (char *line = text, *next; *line; line = next, number++) {
		char *end = end_of_line(line);
		next = *end ? end + 1 : end;
		*end = 0;
		if (!is_point(line))
			continue;
		if (lz_reserve(p->v, room, p->n + 1) < 0)
			return lz_fail("no memory");
		if (parse(line, &p->v[p->n]) < 0)
			return lz_fail_in("line %u of " LZ_POINTS_FILE, number);
		p->n++;
	}
	return 0;
}

static size_t count(char *text)
{
	size_t n = 0;

	for (char *line = text; *line; line = *end_of_line(line) ? end_of_line(line) + 1 : "")
		n += is_point(line);
	return n;
}

/* The line of point NUMBER, from 1. */
static char *find(char *text, size_t number)
{
	char *line = text;

	while (*line && (!is_point(line) || --number))
		line = *end_of_line(line) ? end_of_line(line) + 1 : end_of_line(line);
	return *line ? line : NULL;
}

/* ---- reading ---- */

int lz_points_read(const struct lz_reader *r, struct lz_points *p)
{
	lz_auto_close int fd = open_file(r, O_RDONLY);
	struct lz_buf text = {0};

	*p = (struct lz_points){0};
	int rc = read_text(fd, &text);
	if (rc == 0)
		rc = parse_all((char *)text.p, p);
	lz_buf_free(&text);
	return rc < 0 ? -1 : 0;
}

void lz_points_free(struct lz_points *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].note);
	free(p->v);
	*p = (struct lz_points){0};
}

/* ---- writing ---- */

static int write_text(int fd, const char *text, size_t len, off_t at)
{
	if (pwrite(fd, text, len, at) == (ssize_t)len)
		return 0;
	lz_fail_errno("cannot write " LZ_POINTS_FILE);
	if (ftruncate(fd, at) < 0)
		lz_debug("a part of a point remains");
	return -1;
}

/* A line of its own, whatever somebody's editor has left at the end. */
static char *line_of(const struct lz_buf *text, const struct lz_pos *pos, const char *note)
{
	char where[LZ_POS_TEXT], *line = NULL;
	const bool open = text->len && text->p[text->len - 1] != '\n';

	lz_pos_print(pos, where);
	if (asprintf(&line, "%s%s%s%.*s\n", open ? "\n" : "", where, *note ? " " : "", LZ_NOTE_MOST,
	             note) < 0)
		return NULL;
	for (char *c = line + open; c[1]; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	return line;
}

int lz_points_add(const struct lz_reader *r, const struct lz_pos *pos, const char *note,
                  size_t *number)
{
	struct lz_buf text = {0};
	char *line = NULL;
	int rc = lz_recording_ours(r);

	lz_auto_close int fd = rc < 0 ? -1 : open_locked(r, O_CREAT);
	if (fd < 0)
		return lz_fail_in("the point is not kept");
	rc = read_text(fd, &text);
	if (rc == 0 && !(line = line_of(&text, pos, note)))
		rc = lz_fail("no memory");
	if (rc == 0 && text.len + strlen(line) > MOST)
		rc = lz_fail(LZ_POINTS_FILE " would be too long");
	if (rc == 0)
		rc = write_text(fd, line, strlen(line), (off_t)text.len);
	if (rc == 0)
		*number = count((char *)text.p) + 1;
	free(line);
	lz_buf_free(&text);
	return rc < 0 ? lz_fail_in("the point is not kept") : 0;
}

/* Who reads meanwhile has the old one. */
static int replace(const struct lz_reader *r, const char *text, size_t len)
{
	unlinkat(r->dirfd, NEW_FILE, 0);
	lz_auto_close int fd =
	    openat(r->dirfd, NEW_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return lz_fail_errno("cannot make " NEW_FILE);
	if (write_text(fd, text, len, 0) == 0) {
		if (renameat(r->dirfd, NEW_FILE, r->dirfd, LZ_POINTS_FILE) == 0)
			return 0;
		lz_fail_errno("cannot write " LZ_POINTS_FILE);
	}
	unlinkat(r->dirfd, NEW_FILE, 0);
	return -1;
}

static int cut_out(const struct lz_reader *r, struct lz_buf *text, size_t number)
{
	char *line = number ? find((char *)text->p, number) : NULL;

	if (!line)
		return lz_fail("there is no point %zu", number);
	const char *end = end_of_line(line), *next = *end ? end + 1 : end;
	const char *all = (char *)text->p + text->len;
	memmove(line, next, (size_t)(all - next) + 1);
	return replace(r, (char *)text->p, text->len - (size_t)(next - line));
}

int lz_points_delete(const struct lz_reader *r, size_t number)
{
	struct lz_points now;
	struct lz_buf text = {0};

	/* a name without points is not made for this */
	int rc = lz_points_read(r, &now);
	if (rc == 0 && (!number || number > now.n))
		rc = lz_fail("there is no point %zu", number);
	lz_points_free(&now);
	if (rc < 0 || lz_recording_ours(r) < 0)
		return -1;
	lz_auto_close int fd = open_locked(r, 0);
	if (fd < 0)
		return -1;
	rc = read_text(fd, &text);
	if (rc == 0)
		rc = cut_out(r, &text, number);
	lz_buf_free(&text);
	return rc < 0 ? -1 : 0;
}
