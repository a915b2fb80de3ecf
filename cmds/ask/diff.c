/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard diff: where two runs part, and where they meet again, read from the recorded control
 * flow. */
#include <cmds/base/cmds.h>
#include <cmds/ask/diff.h>
#include <common/base/print.h>
#include <lizard/error.h>
#include <stdlib.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard diff [options] RECORDING1 RECORDING2\n\n"
	    "Prints where the second run takes another way than the first one: the place in the\n"
	    "source, both ways, the call stack, what had come from outside and was not the same,\n"
	    "and where the runs meet again. Nothing is run. Each thread is compared by itself.\n"
	    "The exit status is 0 if the runs are the same, 1 if they differ, 2 for trouble.\n\n"
	    "      --limit N           at most N differences (default: 10; 0: all)\n"
	    "      --inputs N          the last N inputs that differed before each (default: 5)\n"
	    "  -p, --process PID|NAME  of this process of both (`lizard ps` shows them)\n"
	    "  -t, --thread TID        of this thread of the first one only\n"
	    "      --json              one JSON object a line\n");
}

struct wishes {
	struct lz_asking asking[2];
	uint64_t limit, inputs;
};

/* Those that only one of the runs has. */
static uint64_t lone_threads(const struct lz_differ *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->threads.n; i++) {
		const struct lz_paired_thread *t = &d->threads.v[i];

		n += lz_differ_wants(d, t) &&
		     (t->thread[0] == LZ_NO_THREAD || t->thread[1] == LZ_NO_THREAD);
	}
	return n;
}

static int answer(struct wishes *w)
{
	struct lz_differ d = {.a = {&w->asking[0].asked, &w->asking[1].asked},
	                      .tid = w->asking[0].asked.tid,
	                      .limit = w->limit};
	const struct lz_diff_wishes how = {w->asking[0].json, w->limit, w->inputs};
	int rc = lz_differ_run(&d);

	if (rc == 0)
		rc = lz_diff_print(&d, &how);
	if (rc == 0 && d.partial)
		rc = lz_fail("interrupted: this is only a part of the answer");
	if (rc == 0)
		rc = d.n || lone_threads(&d) || !lz_diff_same_end(&d);
	if (rc < 0)
		lz_warn("%s", lz_error());
	lz_differ_free(&d);
	return rc < 0 ? 2 : rc;
}

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'N': return lz_asking_number("--limit", optarg, &w->limit);
	case 'I': return lz_asking_number("--inputs", optarg, &w->inputs);
	default: return 1;
	}
}

static int open_both(struct wishes *w, char **names)
{
	w->asking[1].process = w->asking[0].process;
	for (int i = 0; i < 2; i++) {
		if (lz_asking_open(&w->asking[i], names[i]) < 0) {
			lz_warn("%s", lz_error());
			return -1;
		}
		lz_asking_tell_missing(&w->asking[i]);
	}
	return 0;
}

int lz_cmd_diff(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"process", required_argument, NULL, 'p'},
	                                        {"thread", required_argument, NULL, 't'},
	                                        {"json", no_argument, NULL, 'J'},
	                                        {"limit", required_argument, NULL, 'N'},
	                                        {"inputs", required_argument, NULL, 'I'},
	                                        {0}};
	struct wishes w = {.limit = 10, .inputs = 5};
	const struct lz_asking_command c = {.usage = usage,
	                                    .letters = LZ_ASKING_LETTERS,
	                                    .longs = options,
	                                    .option = parse_option,
	                                    .arg = &w};
	int rc = lz_asking_options(&w.asking[0], argc, argv, &c);

	if (rc >= 0)
		return rc;
	if (optind + 2 != argc) {
		usage(stderr);
		return 2;
	}
	rc = open_both(&w, argv + optind) < 0 ? 2 : answer(&w);
	for (int i = 0; i < 2; i++)
		if (w.asking[i].asked.reader)
			lz_asked_close(&w.asking[i].asked);
	return lz_finish_output(0) ? 2 : rc;
}
