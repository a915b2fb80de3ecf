/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cmds/ask/asking.h>

#include <cmds/pack/pack.h>
#include <cmds/base/processes.h>
#include <common/base/cleanup.h>
#include <common/base/text.h>
#include <errno.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static bool is_common(struct lz_asking *a, int opt)
{
	switch (opt) {
	case 'p': a->process = optarg; return true;
	case 't': a->thread = optarg; return true;
	case 'F': a->from = optarg; return true;
	case 'T': a->to = optarg; return true;
	case 'J': a->json = true; return true;
	default: return false;
	}
}

int lz_asking_options(struct lz_asking *a, int argc, char **argv, const struct lz_asking_command *c)
{
	int opt;

	while ((opt = lz_option(argc, argv, c->letters, c->longs)) != -1) {
		if (opt == 'h') {
			c->usage(stdout);
			return 0;
		}
		if (is_common(a, opt))
			continue;
		int rc = c->option ? c->option(c->arg, opt) : 1;
		if (rc < 0)
			lz_warn("%s", lz_error());
		if (rc > 0)
			c->usage(stderr);
		if (rc)
			return 2;
	}
	return -1;
}

int lz_asking_write(const char *path, int (*fn)(void *arg, FILE *to), void *arg)
{
	if (!strcmp(path, "-"))
		return fn(arg, stdout);
	FILE *to = fopen(path, "we");
	if (!to)
		return lz_fail_errno("cannot write %s", path);
	int rc = fn(arg, to);
	return fclose(to) && rc == 0 ? lz_fail_errno("cannot write %s", path) : rc;
}

int lz_asking_number(const char *option, const char *text, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return 0;
	return lz_fail("%s takes a number, not `%s`", option, text);
}

static int choose_thread(struct lz_asking *a)
{
	uint64_t tid;

	if (!a->thread)
		return 0;
	if (lz_asking_number("--thread", a->thread, &tid) < 0)
		return -1;
	for (uint32_t i = 0; i < a->asked.threads.n; i++)
		if (tid && lz_asked_tid(&a->asked, i) == tid) {
			a->asked.tid = (uint32_t)tid;
			return 0;
		}
	return lz_fail("the recording has no thread %s", a->thread);
}

static int choose_piece(struct lz_asking *a)
{
	struct lz_asked *q = &a->asked;

	if (a->from && lz_asked_offset(q, a->from, &q->from) < 0)
		return -1;
	if (a->to && lz_asked_offset(q, a->to, &q->to) < 0)
		return -1;
	if (q->to > lz_stream_len(q->stream))
		q->to = lz_stream_len(q->stream);
	if (q->from > q->to)
		return lz_fail("--to %s is before --from %s", a->to ? a->to : "end", a->from);
	return 0;
}

/* The directory of the process that is asked about, malloced. NULL: lz_error(). */
static char *find_dir(const struct lz_asking *a, const char *recording)
{
	char *dir = lz_find(recording), *one = dir;

	if (dir && a->process) {
		one = lz_process_find(dir, a->process);
		free(dir);
	}
	return one;
}

int lz_asking_open(struct lz_asking *a, const char *recording)
{
	lz_auto_free char *dir = find_dir(a, recording);

	if (!dir || lz_asked_open(&a->asked, dir) < 0)
		return -1;
	if (choose_thread(a) == 0 && choose_piece(a) == 0)
		return 0;
	lz_asked_close(&a->asked);
	return -1;
}

const char *lz_asking_name(const struct lz_asking *a, uint32_t fn)
{
	return a->json ? lz_asked_name(&a->asked, fn) : lz_asked_short_name(&a->asked, fn);
}

void lz_asking_tell_missing(const struct lz_asking *a)
{
	const struct lz_asked *q = &a->asked;

	if (q->partial)
		lz_warn("interrupted: this is only a part of the answer");
	else if (q->reader && lz_reader_damage(q->reader))
		lz_warn("%s: this is about a part of the run: %s", lz_reader_dir(q->reader),
		        lz_reader_damage(q->reader));
	else if (q->reader && lz_reader_first_event(q->reader))
		lz_warn("%s: this is about the last part of the run, from event %" PRIu64
		        " on: what came before was not kept",
		        lz_reader_dir(q->reader), lz_reader_first_event(q->reader));
}

int lz_asking_finish(struct lz_asking *a, int status)
{
	struct lz_asked *q = &a->asked;

	if (status && !q->partial)
		lz_warn("%s", lz_error());
	lz_asking_tell_missing(a);
	const bool missing = q->partial;
	status = lz_finish_output(status || missing ? 1 : 0);
	lz_asked_close(q);
	return status;
}

/* Answers from what is kept in the recording alone: 1, it cannot. */
static int answer_none(const struct lz_asking *a, const struct lz_asking_command *c, char **words)
{
	if (!c->none || a->thread || a->from || a->to)
		return 1;
	lz_auto_free char *dir = find_dir(a, words[0]);

	return dir && lz_asked_unused(dir, words + 1) ? c->none(c->arg) : 1;
}

int lz_asking_main(struct lz_asking *a, int argc, char **argv, const struct lz_asking_command *c)
{
	const int rc = lz_asking_options(a, argc, argv, c);

	if (rc >= 0)
		return rc;
	if (!c->usable(c->arg, argc - optind)) {
		c->usage(stderr);
		return 2;
	}
	if (answer_none(a, c, argv + optind) == 0)
		return lz_finish_output(0);
	if (lz_asking_open(a, argv[optind]) < 0) {
		lz_warn("%s", lz_error());
		return 1;
	}
	return lz_asking_finish(a, c->ask(c->arg, argv + optind + 1));
}

bool lz_asking_alone(const void *arg, int n)
{
	(void)arg;
	return n == 1;
}

int lz_asking_pattern(regex_t *to, bool *given)
{
	char why[200];

	if (*given)
		regfree(to);
	const int rc = regcomp(to, optarg, REG_EXTENDED | REG_NEWLINE);

	*given = !rc;
	if (!rc)
		return 0;
	regerror(rc, to, why, sizeof(why));
	return lz_fail("`%s` is no regular expression: %s", optarg, why);
}
