/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard profile: who called whom how often, read from the recorded control flow. */
#include <cmds/ask/asking.h>
#include <cmds/base/cmds.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <replayer/answers/profile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard profile [options] RECORDING\n\n"
	    "Prints, for each function, how often it was called, and how many bytes of markers\n"
	    "it wrote itself and with all that it called: exact counts, nothing is sampled.\n"
	    "Nothing is run. Markers measure work, not time.\n\n"
	    "      --top N             the N functions that wrote most (default: 30; 0: all)\n"
	    "      --callgrind FILE    write a profile for callgrind_annotate and KCachegrind\n"
	    "      --folded FILE       write chains of callers for flame graphs (-: "
	    "stdout)\n" LZ_ASKING_HELP);
}

struct wishes {
	struct lz_asking asking;
	uint64_t top;
	const char *callgrind, *folded;
};

static int print_json(const struct lz_asked *a, const struct lz_profile_fn *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "function", lz_json_text(lz_asked_name(a, f->fn)));
	json_object_set_new(o, "calls", json_integer((json_int_t)f->calls));
	json_object_set_new(o, "self", json_integer((json_int_t)f->self));
	json_object_set_new(o, "all", json_integer((json_int_t)f->all));
	return lz_json_print(o);
}

static int print_fns(const struct wishes *w, const struct lz_profile *p)
{
	const struct lz_asked *a = &w->asking.asked;
	size_t n;
	struct lz_profile_fn *fns = lz_profile_fns(a, p, &n);
	int rc = fns ? 0 : -1;

	if (fns && !w->asking.json)
		lz_print(stdout, "%14s %16s %16s  %s\n", "calls", "self", "all", "function");
	for (size_t i = 0; fns && rc == 0 && i < n && (!w->top || i < w->top); i++) {
		if (w->asking.json)
			rc = print_json(a, &fns[i]);
		else
			lz_print(stdout, "%14" PRIu64 " %16" PRIu64 " %16" PRIu64 "  %s\n",
			         fns[i].calls, fns[i].self, fns[i].all,
			         lz_asked_short_name(a, fns[i].fn));
	}
	free(fns);
	return rc;
}

struct written {
	const struct lz_asked *a;
	const struct lz_profile *p;
};

static int write_callgrind(void *arg, FILE *to)
{
	const struct written *w = arg;

	return lz_profile_write_callgrind(w->a, w->p, to);
}

static int write_folded(void *arg, FILE *to)
{
	const struct written *w = arg;

	return lz_profile_write_folded(w->a, w->p, to);
}

static int tell(const struct wishes *w, const struct lz_profile *p)
{
	struct written what = {&w->asking.asked, p};

	if (w->callgrind && lz_asking_write(w->callgrind, write_callgrind, &what) < 0)
		return -1;
	if (w->folded && lz_asking_write(w->folded, write_folded, &what) < 0)
		return -1;
	return w->callgrind || w->folded ? 0 : print_fns(w, p);
}

static int ask(void *arg, char **words)
{
	struct wishes *w = arg;
	struct lz_profile p = {0};
	int rc = lz_profile_make(&w->asking.asked, &p);

	(void)words;
	if (rc == 0)
		rc = tell(w, &p);
	lz_profile_free(&p);
	return rc;
}

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'N': return lz_asking_number("--top", optarg, &w->top);
	case 'C': w->callgrind = optarg; return 0;
	case 'O': w->folded = optarg; return 0;
	default: return 1;
	}
}

int lz_cmd_profile(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS,
	                                        {"top", required_argument, NULL, 'N'},
	                                        {"callgrind", required_argument, NULL, 'C'},
	                                        {"folded", required_argument, NULL, 'O'},
	                                        {0}};
	struct wishes w = {.top = 30};
	const struct lz_asking_command c = {usage, LZ_ASKING_LETTERS, options, parse_option,
	                                    &w,    lz_asking_alone,   ask,     NULL};

	return lz_asking_main(&w.asking, argc, argv, &c);
}
