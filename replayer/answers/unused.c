/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file `index/unused` of a recording:
 *
 *   struct header
 *   names          ; sorted, each with a zero byte behind it
 *
 * It is sealed, and so is as this user's lizard has written it. */
#include "replayer/answers/unused.h"

#include <common/base/array.h>
#include <common/base/bytes.h>
#include <common/base/cleanup.h>
#include <common/recording/index_file.h>
#include <common/recording/stamp.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

#define NAME "unused"
#define MAGIC 0x64657375756e4c5aull
enum { VERSION = 1, MOST_BYTES = 16 << 20 };

struct header {
	uint64_t magic, version, stamp;
};

/* ---- writing ---- */

struct function {
	const char *name;
	bool ran;
};

static int by_name(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Whatever else a user can type means no function. */
static bool is_plain(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                   "0123456789_")];
}

/* Those of a name come together. */
static int note_functions(const struct lz_asked *a, struct function *v, size_t n)
{
	lz_auto_free bool *used = calloc(n + 1, sizeof(*used));

	if (!used)
		return lz_fail("no memory");
	lz_stream_used(a->stream, used);
	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct function){lz_stream_fn(a->stream, i)->f->name, used[i]};
	qsort(v, n, sizeof(*v), by_name);
	return 0;
}

static void put_unused(struct lz_buf *b, const struct function *v, size_t n)
{
	for (size_t i = 0, next; i < n; i = next) {
		bool ran = false;

		for (next = i; next < n && !strcmp(v[next].name, v[i].name); next++)
			ran |= v[next].ran;
		if (!ran && is_plain(v[i].name))
			lz_put(b, v[i].name, strlen(v[i].name) + 1);
	}
}

static int keep(const struct lz_asked *a)
{
	const size_t n = lz_stream_n_fns(a->stream);
	const struct header h = {MAGIC, VERSION, a->stamp};
	lz_auto_free struct function *v = calloc(n + 1, sizeof(*v));
	struct lz_buf b = {0};

	if (!v)
		return lz_fail("no memory");
	if (note_functions(a, v, n) < 0)
		return -1;
	lz_put(&b, &h, sizeof(h));
	put_unused(&b, v, n);
	const int rc = b.failed || b.len > MOST_BYTES
	                   ? lz_fail("it is too long")
	                   : lz_reader_index_write(a->reader, NAME, b.p, b.len);
	lz_buf_free(&b);
	return rc;
}

static bool is_whole(const struct lz_asked *a)
{
	return a->stamp && !lz_reader_damage(a->reader) && !lz_reader_first_event(a->reader) &&
	       lz_stream_indexed(a->stream) > lz_stream_n_blocks(a->stream);
}

/* ---- reading ---- */

static bool is_in(const char *names, size_t len, const char *name)
{
	for (const char *p = names; p < names + len; p += strlen(p) + 1)
		if (!strcmp(p, name))
			return true;
	return false;
}

/* All of it, malloced; NULL: lz_error(). */
static uint8_t *fetch(int dirfd, size_t *len)
{
	struct header h;
	uint64_t stamp;
	uint8_t *bytes;

	if (lz_recording_stamp(dirfd, &stamp) < 0 ||
	    lz_index_read(dirfd, NAME, MOST_BYTES, &bytes, len) < 0)
		return NULL;
	if (*len >= sizeof(h))
		memcpy(&h, bytes, sizeof(h));
	/* the last name has its end, too */
	if (*len > sizeof(h) && bytes[*len - 1])
		h.magic = 0;
	if (*len >= sizeof(h) && h.magic == MAGIC && h.version == VERSION && h.stamp == stamp)
		return bytes;
	free(bytes);
	lz_fail("it is not of these files");
	return NULL;
}

void lz_unused_keep(const struct lz_asked *a)
{
	size_t len;
	uint8_t *had;

	if (!is_whole(a))
		return;
	lz_auto_close int dirfd =
	    open(lz_reader_dir(a->reader), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	had = dirfd < 0 ? NULL : fetch(dirfd, &len);
	if (!had && keep(a) < 0)
		lz_debug("functions that never ran are not kept in the recording: %s", lz_error());
	free(had);
}

bool lz_unused_are(const char *dir, char *const *names)
{
	lz_auto_close int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t len;
	lz_auto_free uint8_t *bytes = dirfd < 0 ? NULL : fetch(dirfd, &len);
	bool are = bytes;

	for (; are && *names; names++)
		are = is_in((const char *)bytes + sizeof(struct header),
		            len - sizeof(struct header), *names);
	return are;
}
