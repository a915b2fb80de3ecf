/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow-hash RECORDING [FROM [LIE]]: makes a recording in which all markers are stored into what --flow=hash would have made of
 * the same run, from block FROM on: both then have the same positions. The formats' kinds of
 * checksum take turns. Block LIE gets another checksum. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <common/recording/flowsum.h>
#include <common/recording/frame.h>
#include <lizard/error.h>
#include <lizard/recording.h>

static void die(const char *what)
{
	fprintf(stderr, "flow-hash: %s: %s\n", what, lz_error());
	exit(1);
}

static void put(int fd, const void *bytes, size_t len)
{
	if (write(fd, bytes, len) != (ssize_t)len)
		die("cannot write");
}

static void put_hashed(int fd, const struct lz_frame *of, const struct lz_buf *raw, uint32_t i,
                       bool lie)
{
	static const uint16_t flag[] = {LZ_HASHED_XXH3, LZ_HASHED_XXH64, 0};
	static const enum lz_sum_kind kind[] = {LZ_SUM_XXH3, LZ_SUM_XXH64, LZ_SUM_CRC_ADLER};
	uint8_t header[LZ_FRAME_HEADER];
	struct lz_flow_sum sum;

	lz_flow_sum_begin(&sum, kind[i % 3]);
	lz_flow_sum_add(&sum, raw->p, raw->len);
	struct lz_frame f = {.type = LZ_FRAME_HASHED,
	                     .flags = flag[i % 3],
	                     .count = (uint32_t)raw->len,
	                     .key0 = of->key0,
	                     .key1 = lz_flow_sum_value(&sum) ^ lie};
	lz_frame_pack(&f, header);
	put(fd, header, sizeof(header));
}

static void put_stored(int fd, int from, const struct lz_frame *f)
{
	size_t len = LZ_FRAME_HEADER + f->stored_len;
	uint8_t *bytes = malloc(len);

	if (!bytes ||
	    pread(from, bytes, len, (off_t)(f->payload - LZ_FRAME_HEADER)) != (ssize_t)len)
		die("cannot read");
	put(fd, bytes, len);
	free(bytes);
}

static void convert(int dir, const char *name, uint32_t first, uint32_t lie)
{
	struct lz_frames fs;
	struct lz_buf raw = {0};
	int fd = openat(dir, "markers.tmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || lz_frames_open(dir, name, &fs) < 0)
		die(name);
	for (uint32_t i = 0; i < fs.n; i++) {
		if (i < first || fs.v[i].type != LZ_FRAME_MARKERS) {
			put_stored(fd, fs.fd, &fs.v[i]);
			continue;
		}
		if (lz_frames_read(&fs, i, &raw) < 0)
			die(name);
		put_hashed(fd, &fs.v[i], &raw, i, i == lie);
	}
	lz_buf_free(&raw);
	lz_frames_close(&fs);
	if (close(fd) < 0 || renameat(dir, "markers.tmp", dir, name) < 0)
		die(name);
}

int main(int argc, char **argv)
{
	struct lz_meta m;
	char name[32];
	int dir;

	if (argc < 2) {
		fprintf(stderr, "usage: flow-hash RECORDING [FROM [LIE]]\n");
		return 2;
	}
	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || lz_meta_read(argv[1], &m) < 0)
		die(argv[1]);
	snprintf(name, sizeof(name), "markers-%u", m.tid);
	convert(dir, name, argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0,
	        argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : UINT32_MAX);
	lz_meta_free(&m);
	close(dir);
	return 0;
}
