/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow-bytes RECORDING: writes all markers that are at hand without replay to stdout, as they are in the stream. Says
 * on stderr where they end, if not at the end. */
#include <stdio.h>
#include <unistd.h>
#include <lizard/error.h>
#include <lizard/recording.h>

int main(int argc, char **argv)
{
	static uint8_t buf[1 << 20];
	struct lz_reader *r = argc == 2 ? lz_reader_open(argv[1]) : NULL;
	uint64_t at = 0;
	int64_t n;

	if (!r) {
		fprintf(stderr, "flow-bytes: %s\n",
		        argc == 2 ? lz_error() : "usage: flow-bytes RECORDING");
		return 2;
	}
	uint32_t tid = lz_reader_meta(r)->tid;
	while ((n = lz_reader_markers_kept(r, tid, at, buf, sizeof buf)) > 0) {
		if (write(STDOUT_FILENO, buf, (size_t)n) != n)
			return 1;
		at += (uint64_t)n;
	}
	if (at < lz_reader_markers_len(r, tid))
		fprintf(stderr, "flow-bytes: %s are not at hand from %llu on\n", argv[1],
		        (unsigned long long)at);
	lz_reader_close(r);
	return 0;
}
