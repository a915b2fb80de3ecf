/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that readers make beside a recording, and what they are compared with. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <common/recording/computed_inside.h>
#include <common/recording/flowsum.h>
#include <common/recording/index_file.h>
#include <common/recording/reader.h>
#include <common/recording/seal.h>
#include <lizard/error.h>

static void add_number(struct lz_flow_sum *sum, uint64_t n)
{
	lz_flow_sum_add(sum, (const uint8_t *)&n, sizeof(n));
}

/* A header has the checksum of its payload. */
static void add_frames(struct lz_flow_sum *sum, const struct lz_frames *fs)
{
	uint8_t header[LZ_FRAME_HEADER];

	add_number(sum, fs->n);
	for (uint32_t i = 0; i < fs->n; i++) {
		lz_frame_pack(&fs->v[i], header);
		lz_flow_sum_add(sum, header, sizeof(header));
	}
}

uint64_t lz_reader_fingerprint(const struct lz_reader *r)
{
	struct lz_flow_sum sum;

	lz_flow_sum_begin(&sum, LZ_SUM_XXH3);
	add_number(&sum, r->n_events);
	add_number(&sum, r->first_event);
	add_number(&sum, r->first_marker);
	add_frames(&sum, &r->events);
	add_frames(&sum, &r->checkpoints);
	for (uint32_t i = 0; i < r->n_streams; i++) {
		add_number(&sum, r->streams[i].tid);
		add_number(&sum, r->streams[i].start);
		add_number(&sum, r->streams[i].len);
		add_frames(&sum, &r->streams[i].frames);
	}
	return lz_flow_sum_value(&sum);
}

static int read_all(int fd, size_t most, uint8_t **bytes, size_t *len)
{
	struct stat st;
	size_t done = 0;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > most)
		return lz_fail("no file, or too long");
	*len = (size_t)st.st_size;
	if (!(*bytes = malloc(*len + 1)))
		return lz_fail("no memory");
	while (done < *len) {
		const ssize_t n = pread(fd, *bytes + done, *len - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (done == *len)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return lz_fail("it cannot be read");
}

/* The seal is behind the rest. */
static int check_seal(const char *name, const uint8_t *bytes, size_t *len)
{
	uint8_t seal[LZ_SEAL_LEN];

	if (*len < LZ_SEAL_LEN)
		return lz_fail("it has no seal");
	*len -= LZ_SEAL_LEN;
	if (lz_seal(name, bytes, *len, seal) < 0)
		return -1;
	return !memcmp(bytes + *len, seal, LZ_SEAL_LEN)
	           ? 0
	           : lz_fail("it is damaged, or somebody else's");
}

int lz_index_read(int dirfd, const char *name, size_t most, uint8_t **bytes, size_t *len)
{
	lz_auto_close int folder =
	    openat(dirfd, LZ_INDEX_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	lz_auto_close int fd =
	    folder < 0 ? -1 : openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	*bytes = NULL;
	if (fd < 0)
		return lz_fail("there is none");
	if (read_all(fd, most + LZ_SEAL_LEN, bytes, len) < 0)
		return -1;
	if (check_seal(name, *bytes, len) == 0)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return -1;
}

int lz_reader_index_read(const struct lz_reader *r, const char *name, size_t most, uint8_t **bytes,
                         size_t *len)
{
	return lz_index_read(r->dirfd, name, most, bytes, len);
}

static int write_all(int fd, const uint8_t *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		const ssize_t n = write(fd, bytes + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return lz_fail_errno("cannot write");
		done += (size_t)n;
	}
	return 0;
}

/* Under a name of one's own first: whoever reads NAME meanwhile has the old one. */
int lz_reader_index_write(const struct lz_reader *r, const char *name, const uint8_t *bytes,
                          size_t len)
{
	lz_auto_close int folder = lz_computed_folder(r);
	uint8_t seal[LZ_SEAL_LEN];
	char own[64];
	int rc = -1;

	if (folder < 0 || lz_seal(name, bytes, len, seal) < 0)
		return -1;
	snprintf(own, sizeof(own), "%.32s.%d", name, getpid());
	lz_auto_close int fd =
	    openat(folder, own, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return lz_fail_errno("cannot make " LZ_INDEX_FOLDER "/%s", own);
	if (write_all(fd, bytes, len) == 0 && write_all(fd, seal, sizeof(seal)) == 0 &&
	    renameat(folder, own, folder, name) == 0)
		rc = 0;
	else
		lz_fail_errno("cannot write " LZ_INDEX_FOLDER "/%s", name);
	if (rc < 0)
		unlinkat(folder, own, 0);
	return rc;
}
