/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <common/base/bytes.h>
#include <common/base/cleanup.h>
#include <common/recording/copyfacts.h>
#include <common/recording/copystore.h>
#include <lizard/error.h>

enum { MAGIC = 0x37465a4c /* LZF7 */, SUM_LEN = 8, MAX_LEN = 64 << 10, BOOT_LEN = 36 };

void lz_copy_free(struct lz_copy *c)
{
	for (int i = 0; i < LZ_INSNS_KINDS; i++)
		free(c->insns[i].at);
	free(c->build_id);
	free(c->debug.link);
	free(c->key);
	*c = (struct lz_copy){0};
}

/* Which boot of which machine this is; "" if that is not known. */
static const char *this_boot(void)
{
	static char id[BOOT_LEN + 1];
	lz_auto_close int fd =
	    *id ? -1 : open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, id, BOOT_LEN) != BOOT_LEN)
		*id = 0;
	return id;
}

/* ---- reading ---- */

static void get_insns(struct lz_cur *c, struct lz_insns *s)
{
	uint64_t n;

	s->state = lz_get_max(c, LZ_INSNS_UNSURE);
	n = lz_get_max(c, lz_cur_left(c));
	s->at = c->bad ? NULL : calloc(n + 1, sizeof(*s->at));
	for (; s->at && s->n < n; s->n++)
		s->at[s->n] = lz_get_var(c);
	c->bad |= !s->at;
}

/* Facts under the name of others are none. */
static int decode(struct lz_cur *c, const char *key, struct lz_copy *copy)
{
	lz_auto_free char *boot = NULL, *of = NULL;

	if (lz_get_u32(c) != MAGIC)
		return 0;
	boot = lz_get_text(c, BOOT_LEN);
	of = lz_get_text(c, NAME_MAX);
	copy->size = lz_get_u64(c);
	copy->crc = lz_get_u32(c);
	copy->inode = lz_get_u64(c);
	copy->time.tv_sec = (time_t)lz_get_u64(c);
	copy->time.tv_nsec = (long)lz_get_max(c, 999999999);
	copy->build_id = lz_get_text(c, 2 * 64);
	copy->debug.inside = lz_get_max(c, 1);
	copy->debug.link = lz_get_text(c, NAME_MAX);
	for (int i = 0; i < LZ_INSNS_KINDS; i++)
		get_insns(c, &copy->insns[i]);
	if (c->bad || lz_cur_left(c) || strcmp(of, key) != 0)
		return 0;
	return strcmp(boot, this_boot()) == 0 ? 1 : 2;
}

int lz_facts_read(int dirfd, const char *key, struct lz_copy *copy)
{
	/* a recorder's stack may be small */
	lz_auto_free uint8_t *bytes = malloc(MAX_LEN);
	lz_auto_close int fd = openat(dirfd, key, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 || !bytes ? -1 : read(fd, bytes, MAX_LEN);
	int ret = 0;

	*copy = (struct lz_copy){0};
	if (n < SUM_LEN)
		return 0;
	const uint8_t *end = bytes + n - SUM_LEN;
	XXH64_hash_t sum = XXH64(bytes, (size_t)n - SUM_LEN, 0);
	if (memcmp(&sum, end, SUM_LEN) == 0)
		ret = decode(&(struct lz_cur){.p = bytes, .end = end}, key, copy);
	if (ret == 0)
		lz_copy_free(copy);
	return ret;
}

/* ---- writing ---- */

static void put_insns(struct lz_buf *b, const struct lz_insns *s)
{
	lz_put_var(b, s->state);
	lz_put_var(b, s->n);
	for (size_t i = 0; i < s->n; i++)
		lz_put_var(b, s->at[i]);
}

static void encode(struct lz_buf *b, const struct lz_copy *c)
{
	lz_put_u32(b, MAGIC);
	lz_put_text(b, this_boot());
	lz_put_text(b, c->key);
	lz_put_u64(b, c->size);
	lz_put_u32(b, c->crc);
	lz_put_u64(b, c->inode);
	lz_put_u64(b, (uint64_t)c->time.tv_sec);
	lz_put_var(b, (uint64_t)c->time.tv_nsec);
	lz_put_text(b, c->build_id ? c->build_id : "");
	lz_put_var(b, c->debug.inside);
	lz_put_text(b, c->debug.link ? c->debug.link : "");
	for (int i = 0; i < LZ_INSNS_KINDS; i++)
		put_insns(b, &c->insns[i]);
	if (!b->failed)
		lz_put_u64(b, XXH64(b->p, b->len, 0));
}

static int write_new(int dirfd, const char *name, const struct lz_buf *b)
{
	lz_auto_close int fd =
	    openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -1;
	return write(fd, b->p, b->len) == (ssize_t)b->len ? 0 : -1;
}

void lz_facts_write(int dirfd, const struct lz_copy *c)
{
	static _Atomic unsigned number;
	struct lz_buf b = {0};
	char name[40];

	encode(&b, c);
	snprintf(name, sizeof(name), LZ_NEXT_PREFIX "%d-%u", (int)getpid(), number++);
	/* whoever had this process id may have been killed in between */
	unlinkat(dirfd, name, 0);
	if (b.failed || b.len > MAX_LEN || write_new(dirfd, name, &b) < 0 ||
	    renameat(dirfd, name, dirfd, c->key) < 0) {
		lz_debug("what is known about a mapped file is not kept");
		unlinkat(dirfd, name, 0);
	}
	lz_buf_free(&b);
}
