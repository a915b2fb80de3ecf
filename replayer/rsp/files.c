/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vFile: the debugger reads files of the recorded program's world. */
#include "replayer/rsp/inside.h"

#include <common/base/cleanup.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* errno values of the File-I/O protocol (manual, "Errno Values"), which are Linux's for these. */
enum { F_ENOENT = 2, F_EBADF = 9, F_EINVAL = 22, F_EMFILE = 24 };

static int fail(struct lz_rsp *p, int err)
{
	return lz_rsp_reply(p, "F-1,%x", (unsigned)err);
}

/* "F SIZE ; BYTES" */
static int give(struct lz_rsp *p, const void *bytes, size_t len)
{
	lz_auto_free char *reply = malloc(len + 32);

	if (!reply)
		return fail(p, F_EINVAL);
	int n = sprintf(reply, "F%zx;", len);

	memcpy(reply + n, bytes, len);
	return lz_wire_send(p->wire, reply, (size_t)n + len);
}

static int vopen(struct lz_rsp *p, const char *args, size_t len)
{
	const char *comma = strchr(args, ',');
	char path[4096];

	if (!comma)
		return fail(p, F_EINVAL);
	path[lz_unhex(args, (size_t)(comma - args), path, sizeof path - 1)] = 0;
	for (unsigned i = 0; i < LZ_RSP_FILES_MAX; i++) {
		if (p->files[i])
			continue;
		int fd = lz_front_open(p->front, path);

		if (fd < 0)
			return fail(p, F_ENOENT);
		p->files[i] = fd;
		return lz_rsp_reply(p, "F%x", i + 3);
	}
	return fail(p, F_EMFILE);
}

/* The debugger's numbers of files begin at 3. */
static int *file_of(struct lz_rsp *p, const char *args, char **end)
{
	unsigned long nr = strtoul(args, end, 16);

	if (nr < 3 || nr >= LZ_RSP_FILES_MAX + 3 || !p->files[nr - 3])
		return NULL;
	return &p->files[nr - 3];
}

static int vclose(struct lz_rsp *p, const char *args)
{
	char *end;
	int *fd = file_of(p, args, &end);

	if (!fd)
		return fail(p, F_EBADF);
	close(*fd);
	*fd = 0;
	return lz_rsp_reply(p, "F0");
}

static int vpread(struct lz_rsp *p, const char *args)
{
	char *end;
	const int *fd = file_of(p, args, &end);

	if (!fd || *end != ',')
		return fail(p, F_EBADF);
	size_t count = strtoull(end + 1, &end, 16);
	uint64_t offset = *end == ',' ? strtoull(end + 1, &end, 16) : 0;

	if (count > LZ_WIRE_PACKET_MAX / 2)
		count = LZ_WIRE_PACKET_MAX / 2;
	lz_auto_free char *buf = malloc(count + 1);
	ssize_t n = buf ? pread(*fd, buf, count, (off_t)offset) : -1;

	return n < 0 ? fail(p, F_EINVAL) : give(p, buf, (size_t)n);
}

static void put32(uint8_t *at, uint64_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void put64(uint8_t *at, uint64_t v)
{
	put32(at, v >> 32);
	put32(at + 4, v);
}

/* struct stat of the protocol: big-endian, 64 bytes. */
static int vfstat(struct lz_rsp *p, const char *args)
{
	char *end;
	const int *fd = file_of(p, args, &end);
	struct stat st;
	uint8_t out[64] = {0};

	if (!fd || fstat(*fd, &st) < 0)
		return fail(p, F_EBADF);
	put32(out, st.st_dev);
	put32(out + 4, st.st_ino);
	put32(out + 8, st.st_mode);
	put32(out + 12, st.st_nlink);
	put64(out + 28, (uint64_t)st.st_size);
	put64(out + 36, (uint64_t)st.st_blksize);
	put64(out + 44, (uint64_t)st.st_blocks);
	put32(out + 52, (uint64_t)st.st_atime);
	put32(out + 56, (uint64_t)st.st_mtime);
	put32(out + 60, (uint64_t)st.st_ctime);
	return give(p, out, sizeof out);
}

static int vreadlink(struct lz_rsp *p, const char *args, size_t len)
{
	char path[4096];

	path[lz_unhex(args, len, path, sizeof path - 1)] = 0;
	char *target = lz_front_readlink(p->front, path);
	int rc = target ? give(p, target, strlen(target)) : fail(p, F_ENOENT);

	free(target);
	return rc;
}

int lz_rsp_vfile(struct lz_rsp *p, const char *packet, size_t len)
{
	const char *colon = strchr(packet, ':');
	const char *args = colon ? colon + 1 : packet + len;
	size_t left = len - (size_t)(args - packet);

	if (strncmp(packet, "setfs:", 6) == 0)
		return lz_rsp_reply(p, "F0");
	if (strncmp(packet, "open:", 5) == 0)
		return vopen(p, args, left);
	if (strncmp(packet, "close:", 6) == 0)
		return vclose(p, args);
	if (strncmp(packet, "pread:", 6) == 0)
		return vpread(p, args);
	if (strncmp(packet, "fstat:", 6) == 0)
		return vfstat(p, args);
	if (strncmp(packet, "readlink:", 9) == 0)
		return vreadlink(p, args, left);
	return lz_rsp_reply(p, "%s", "");
}

void lz_rsp_files_close(struct lz_rsp *p)
{
	for (unsigned i = 0; i < LZ_RSP_FILES_MAX; i++)
		if (p->files[i])
			close(p->files[i]);
}
