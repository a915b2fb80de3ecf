/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file table, and the copies of mapped files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <common/base/filecopy.h>
#include <common/recording/writer.h>
#include <lizard/error.h>
#include <lizard/format.h>

/* Of larger ones only what is mapped is copied, and at least so much. */
enum { SMALL = 4 << 20, LEAST = 1 << 20, SHARE = 4 };

static bool is_copy_of(const struct lz_known_file *k, const struct stat *st)
{
	return !k->gone && k->dev == st->st_dev && k->ino == st->st_ino && k->size == st->st_size &&
	       k->mtime.tv_sec == st->st_mtim.tv_sec && k->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

bool lz_writer_file_known(const struct lz_writer *w, const struct stat *st, struct lz_extent *part,
                          uint32_t *index)
{
	for (uint32_t i = 0; i < w->n_files; i++) {
		const struct lz_known_file *k = &w->files[i];

		if (is_copy_of(k, st) && k->extent.from <= part->from && part->to <= k->extent.to) {
			*index = i;
			*part = k->extent;
			return true;
		}
	}
	return false;
}

/* Whoever maps many small parts makes few copies: each has a share of what those before have. All
 * together are at most one and a half times the file. */
static struct lz_extent to_be_copied(const struct lz_writer *w, const struct stat *st, int fd,
                                     struct lz_extent part)
{
	const struct lz_extent all = {0, UINT64_MAX};
	uint64_t size = (uint64_t)st->st_size, len = part.to - part.from, had = 0;

	if (!S_ISREG(st->st_mode) || size <= SMALL || lz_is_elf(fd))
		return all;
	for (uint32_t i = 0; i < w->n_files; i++)
		if (is_copy_of(&w->files[i], st))
			had += w->files[i].extent.to - w->files[i].extent.from;
	len = len > had / SHARE ? len : had / SHARE;
	len = (len > LEAST ? len : LEAST) & ~(uint64_t)(LZ_PAGE - 1);
	return had + len < size / 2 ? (struct lz_extent){part.from, part.from + len} : all;
}

/* An entry that no part names any more, or one more. */
static int find_entry(struct lz_writer *w, uint32_t *index)
{
	for (*index = 0; w->parts && *index < w->n_files; ++*index)
		if (w->files[*index].gone && w->files[*index].part <= lz_parts_oldest(w->parts))
			return 0;
	*index = w->n_files;
	return *index < LZ_MAX_FILES ? 0
	                             : lz_fail("more than %u mapped files%s", LZ_MAX_FILES,
	                                       w->parts ? " in what is kept" : "");
}

void lz_known_file_free(struct lz_known_file *k)
{
	lz_file_free(&k->file);
	lz_copy_free(&k->copy);
}

/* Takes COPY over. */
static int remember_file(struct lz_writer *w, uint32_t index, const struct stat *st,
                         const struct lz_file *file, struct lz_extent part, struct lz_copy *copy)
{
	if (index < w->n_files)
		lz_known_file_free(&w->files[index]);
	else if (lz_extend(w->files, w->n_files) == 0)
		w->n_files++;
	else
		return lz_fail("no memory for the file table");
	struct lz_known_file *k = &w->files[index];
	*k = (struct lz_known_file){.dev = st->st_dev,
	                            .ino = st->st_ino,
	                            .size = st->st_size,
	                            .mtime = st->st_mtim,
	                            .extent = part,
	                            .file = {.size = file->size, .crc = file->crc},
	                            .copy = *copy};
	*copy = (struct lz_copy){0};
	snprintf(k->name, sizeof(k->name), "%s", file->copy);
	if (!w->parts)
		return 0;
	k->file.path = strdup(file->path);
	k->file.build_id = strdup(file->build_id ? file->build_id : "");
	return k->file.path && k->file.build_id ? 0 : lz_fail("no memory for the file table");
}

/* files/N-BASENAME, short and without surprises. */
static void copy_name(uint32_t index, const char *path, char out[64])
{
	const char *base = strrchr(path, '/');
	int n = snprintf(out, 64, "%u-%.40s", index, base ? base + 1 : path);

	for (int i = 0; i < n && i < 63; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-",
		            out[i]))
			out[i] = '_';
}

int lz_writer_push_file(struct lz_writer *w, const struct lz_file *file, uint32_t index)
{
	struct lz_frame f = {.type = LZ_FRAME_FILE, .key0 = index, .count = 1};
	struct lz_buf b = {0};

	lz_file_put(&b, file);
	return lz_worker_push(w->worker, &w->events, &f, &b);
}

static int add_file(struct lz_writer *w, const char *path, int fd, const struct stat *st,
                    struct lz_extent part, uint32_t index)
{
	char name[64] = "";
	struct lz_file file = {.path = (char *)path, .copy = name, .size = (uint64_t)st->st_size};
	struct lz_copy copy = {0};
	int rc = 0;

	if (S_ISREG(st->st_mode)) {
		copy_name(index, path, name);
		rc = lz_copystore_get(w->store, fd, part, w->filesfd, name, &copy);
		file.size = copy.size;
		file.crc = copy.crc;
		file.build_id = copy.build_id;
		w->debug |=
		    rc == 0 && (copy.debug.inside || lz_debug_is_beside(path, copy.debug.link));
	}
	/* Events that name the file come behind it, those that name what had its number before it. */
	if (rc == 0 && index < w->n_files)
		rc = lz_writer_push_events(w);
	if (rc == 0)
		rc = lz_writer_push_file(w, &file, index);
	if (rc == 0)
		rc = remember_file(w, index, st, &file, part, &copy);
	lz_copy_free(&copy);
	return rc;
}

int lz_writer_file_part(struct lz_writer *w, const char *path, int fd, struct lz_extent *part,
                        uint32_t *index)
{
	lz_auto_close int own = fd < 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	int use = fd < 0 ? own : fd;
	struct stat st;

	if (lz_worker_check(w->worker) < 0)
		return -1;
	if (use < 0 || fstat(use, &st) < 0)
		return lz_fail_errno("cannot open the mapped file %s", path);
	if (lz_writer_file_known(w, &st, part, index))
		return 1;
	*part = to_be_copied(w, &st, use, *part);
	return find_entry(w, index) < 0 ? -1 : add_file(w, path, use, &st, *part, *index);
}

int lz_writer_file(struct lz_writer *w, const char *path, int fd, uint32_t *index)
{
	struct lz_extent all = {0, UINT64_MAX};

	return lz_writer_file_part(w, path, fd, &all, index) < 0 ? -1 : 0;
}

void lz_writer_file_needed(struct lz_writer *w, uint32_t index)
{
	if (index < w->n_files)
		w->files[index].needed = true;
}

int lz_writer_file_open(struct lz_writer *w, uint32_t index)
{
	int fd = index < w->n_files && *w->files[index].name
	             ? openat(w->filesfd, w->files[index].name, O_RDONLY | O_CLOEXEC)
	             : -1;

	return fd >= 0 ? fd : lz_fail_errno("cannot open the copy of mapped file %u", index);
}

int lz_writer_file_insns(struct lz_writer *w, uint32_t index, enum lz_insns_kind kind,
                         const uint64_t **at, size_t *n)
{
	struct lz_copy *c = index < w->n_files ? &w->files[index].copy : NULL;
	struct lz_insns *s = c ? &c->insns[kind] : NULL;
	char link[40];

	*at = NULL;
	*n = 0;
	if (s && s->state == LZ_INSNS_NOT_SOUGHT) {
		lz_auto_close int fd = lz_writer_file_open(w, index);

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		int ret = fd < 0 ? -1 : lz_insn_find(kind, link, &s->at, &s->n);
		if (ret < 0)
			return -1;
		s->state = ret ? LZ_INSNS_UNSURE : LZ_INSNS_SURE;
		lz_copystore_learnt(w->store, c);
	}
	if (!s || s->state == LZ_INSNS_UNSURE)
		return 1;
	*at = s->at;
	*n = s->n;
	return 0;
}
