/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <unistd.h>
#include <common/base/sparse.h>

void lz_next_data(int fd, uint64_t at, uint64_t size, uint64_t *from, uint64_t *to)
{
	off_t data = lseek(fd, (off_t)at, SEEK_DATA);
	off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);

	*from = at;
	*to = size;
	if (data < 0 && errno == ENXIO)
		*from = size;
	if (hole <= data)
		return;
	*from = (uint64_t)data < size ? (uint64_t)data : size;
	*to = (uint64_t)hole < size ? (uint64_t)hole : size;
}

int lz_each_data_of(int fd, uint64_t from, uint64_t to,
                    int (*fn)(void *arg, uint64_t from, uint64_t to), void *arg)
{
	uint64_t data, end;
	int rc = 0;

	for (uint64_t at = from; rc == 0 && at < to; at = end) {
		lz_next_data(fd, at, to, &data, &end);
		if (data < end)
			rc = fn(arg, data, end);
	}
	return rc;
}

int lz_each_data(int fd, uint64_t size, int (*fn)(void *arg, uint64_t from, uint64_t to), void *arg)
{
	return lz_each_data_of(fd, 0, size, fn, arg);
}

static int add(void *arg, uint64_t from, uint64_t to)
{
	*(uint64_t *)arg += to - from;
	return 0;
}

uint64_t lz_data_bytes(int fd, uint64_t size)
{
	uint64_t sum = 0;

	lz_each_data(fd, size, add, &sum);
	return sum;
}

uint64_t lz_file_stored(const struct stat *st)
{
	uint64_t blocks = (uint64_t)st->st_blocks * 512, size = (uint64_t)st->st_size;

	return blocks < size ? blocks : size;
}
