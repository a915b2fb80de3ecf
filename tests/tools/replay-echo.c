/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verifies a recording, then replays it once more and gives out what the program writes. replay-echo RECORDING >OUTPUT */
#include <stdio.h>
#include <stdlib.h>
#include <lizard/error.h>
#include <lizard/session.h>

static int verify(const char *dir)
{
	struct lz_session_options o = {.echo_fd = -1};
	struct lz_verify_result res = {0};
	struct lz_session *s = lz_session_open(dir, &o);
	int ret = s ? lz_session_verify(s, &res, NULL, NULL) : -1;

	if (res.divergence)
		ret = lz_fail("%s", res.divergence);
	free(res.divergence);
	lz_session_close(s);
	return ret;
}

static int echo(const char *dir)
{
	struct lz_session_options o = {.echo_fd = 1};
	struct lz_session *s = lz_session_open(dir, &o);
	struct lz_stop stop = {0};
	int ret = s ? 0 : -1;

	if (s)
		lz_session_pass_signals(s, ~0ULL);
	while (ret == 0 && stop.reason != LZ_STOP_END) {
		ret = lz_session_run(s, LZ_FORWARD, &stop);
		if (ret == 0 && stop.reason == LZ_STOP_DIVERGED)
			ret = lz_fail("replay has diverged");
	}
	lz_session_close(s);
	return ret;
}

int main(int argc, char **argv)
{
	if (argc == 2 && verify(argv[1]) == 0 && echo(argv[1]) == 0)
		return 0;
	fprintf(stderr, "%s\n", lz_error());
	return 1;
}
