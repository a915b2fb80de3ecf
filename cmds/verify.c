/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard verify: replays a recording and compares everything with it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmds/base/cmds.h>
#include <cmds/base/options.h>
#include <cmds/pack/pack.h>
#include <cmds/base/processes.h>
#include <cmds/side_by_side.h>
#include <common/base/text.h>
#include <common/base/print.h>
#include <lizard/error.h>
#include <lizard/session.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard verify [-a] [-q] RECORDING\n\n"
	    "Replays RECORDING (a directory, a name as `lizard ls` shows it, or a program) from\n"
	    "start to end and compares every marker, every system call, the bytes that it writes\n"
	    "and every checkpoint with it. Prints one line. Exit status: 0 equal, 1 not,\n"
	    "or something of it is lost.\n\n"
	    "  -a, --all     every process of the recording, a line for each; as many at a time\n"
	    "                as there are CPUs\n"
	    "  -q, --quiet   print nothing if all is equal\n");
}

static void show(void *arg, double fraction)
{
	fprintf(stderr, "\rverifying: %3.0f %%", fraction * 100);
}

/* Of a recording that was finished, everything must be there; of another one, what was recorded. */
static int report(const char *dir, const struct lz_verify_result *res, const struct lz_reader *r,
                  bool quiet)
{
	const char *damage = lz_reader_damage(r);
	bool lost = damage && lz_reader_meta(r)->state == LZ_REC_COMPLETE;

	if (res->divergence) {
		lz_print_lines(stdout, "%s: diverged: %s\n", dir, res->divergence);
		return 1;
	}
	if (damage && !lost && !res->events && !res->markers) {
		lz_print_lines(
		    stdout, "%s: not verified: there is no recording of what the program did: %s\n",
		    dir, damage);
		return 1;
	}
	if (quiet && !lost)
		return 0;
	char spins[100] = "", hashed[60] = "";
	if (res->hashed)
		snprintf(hashed, sizeof(hashed), " (%" PRIu64 " of them by checksum)", res->hashed);
	if (res->spins)
		snprintf(spins, sizeof(spins),
		         ", %" PRIu64 " long spins without markers not run again", res->spins);
	lz_print_lines(
	    stdout,
	    "%s: %s%s%" PRIu64 " bytes of markers%s, %" PRIu64 " events, %" PRIu64
	    " checkpoint%s, %" PRIu64 " pages, %" PRIu64 " bytes written%s%s%s\n",
	    dir, lost ? damage : "clean: ", lost ? "; what is left replays as recorded: " : "",
	    res->markers, hashed, res->events, res->checkpoints, res->checkpoints == 1 ? "" : "s",
	    res->pages, res->taken, spins,
	    damage && !lost ? "; the recording is not complete: " : "",
	    damage && !lost ? damage : "");
	return lost;
}

static bool never_ran(const char *dir)
{
	struct lz_meta m;

	if (lz_meta_read(dir, &m) < 0)
		return false;
	bool never = lz_meta_never_ran(&m);
	lz_meta_free(&m);
	return never;
}

/* BESIDE: beside others, on any CPU. */
static int verify(const char *dir, bool quiet, bool beside)
{
	struct lz_session_options o = {.echo_fd = -1, .any_cpu = beside};
	struct lz_verify_result res = {0};
	bool terminal = isatty(STDERR_FILENO) && !quiet && !beside;
	int ret = -1;

	if (never_ran(dir)) {
		if (!quiet)
			lz_print(stdout, "%s: clean: killed before its first instruction\n", dir);
		return 0;
	}
	struct lz_session *s = lz_session_open(dir, &o);
	if (s)
		ret = lz_session_verify(s, &res, terminal ? show : NULL, NULL);
	if (terminal && s)
		lz_print(stderr, "\r%*s\r", 20, "");
	if (ret == 0)
		ret = report(dir, &res, lz_session_reader(s), quiet);
	else
		lz_print_lines(stdout, "%s: not verified: %s\n", dir, lz_error());
	free(res.divergence);
	lz_session_close(s);
	return ret ? 1 : 0;
}

struct all {
	struct lz_processes p;
	bool quiet;
	int ret;
};

static int verify_beside(void *arg, size_t i)
{
	const struct all *a = arg;

	return verify(a->p.v[i].path, a->quiet, true);
}

/* What has not been found equal beside others is looked at once more as it was recorded. */
static void verify_again(void *arg, size_t i)
{
	struct all *a = arg;

	a->ret |= verify(a->p.v[i].path, a->quiet, false);
}

static int verify_all(const char *dir, bool quiet)
{
	struct all a = {.quiet = quiet};

	if (lz_processes_read(&a.p, dir) < 0) {
		lz_print_lines(stdout, "%s: not verified: %s\n", dir, lz_error());
		return 1;
	}
	lz_side_by_side(&(struct lz_side_by_side){a.p.n, &a, verify_beside, verify_again});
	lz_processes_free(&a.p);
	return a.ret;
}

int lz_cmd_verify(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"quiet", no_argument, NULL, 'q'},
	                                        {"all", no_argument, NULL, 'a'},
	                                        {0}};
	bool quiet = false, all = false;
	int opt;

	while ((opt = lz_option(argc, argv, "hqa", options)) != -1) {
		if (opt == 'q') {
			quiet = true;
			continue;
		}
		if (opt == 'a') {
			all = true;
			continue;
		}
		usage(opt == 'h' ? stdout : stderr);
		return opt == 'h' ? 0 : 2;
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	char *dir = lz_find(argv[optind]);
	if (!dir) {
		lz_print_lines(stdout, "%s: not verified: %s\n", argv[optind], lz_error());
		return 1;
	}
	int ret = all ? verify_all(dir, quiet) : verify(dir, quiet, false);
	free(dir);
	return lz_finish_output(ret);
}
