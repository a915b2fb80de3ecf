/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard trace [options] [--] PROG [ARGS] */
#include "cmds/base/catalog.h"
#include "cmds/base/cmds.h"
#include "cmds/base/options.h"
#include "cmds/pack/pack.h"
#include "cmds/base/processes.h"
#include "common/base/text.h"
#include "cmds/repeat.h"
#include "cmds/trace_summary.h"
#include "common/base/print.h"

#include <common/base/cleanup.h>
#include <errno.h>
#include <lizard/error.h>
#include <lizard/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: lizard-trace [options] [--] PROG [ARGS]\n"
    "Runs PROG and records it.\n\n"
    "  -o, --output DIR             write the recording to DIR, new or empty\n"
    "      --keep always|failure|signal\n"
    "                               remove the recording again unless the program ended with "
    "another\n"
    "                               status than 0 (failure), or by a signal (signal);\n"
    "                               with --follow also if a signal ended another process\n"
    "      --follow all|parent|PATTERN\n"
    "                               record children too: all, none (parent, the default), or those "
    "whose\n"
    "                               program's name, or path if there is a slash in it, matches "
    "PATTERN\n"
    "      --aslr                   leave address randomization on\n"
    "      --checkpoint-interval MS|auto\n"
    "                               time between checkpoints (auto: they cost a few percent)\n"
    "      --full-every N           make every N-th checkpoint whole\n"
    "      --dirty scan|compare|auto\n"
    "                               how changed pages are found (auto: what works here)\n"
    "      --env masked|all         keep the environment without the values of variables whose "
    "names look\n"
    "                               secret (masked, the default), or all of it\n"
    "      --sources yes|no         keep the programs' source files, so that the recording can be\n"
    "                               debugged when they have changed (yes, the default), or not\n"
    "      --calls stop|buffer      stop the program at each system call (stop), or let it make "
    "those\n"
    "                               that never wait by itself (buffer, the default)\n"
    "      --slice MS               how long a thread runs while others wait for their turn (20)\n"
    "      --chaos[=SEED]           let threads take turns by chance, so that races show up; the "
    "seed,\n"
    "                               which the summary names, brings the same turns again\n"
    "      --seed N                 the same as --chaos=N\n"
    "      --chaos-runs N           run PROG up to N times, each with the next seed, until a run "
    "fails;\n"
    "                               only that one is kept (--chaos and --keep failure are "
    "implied)\n"
    "      --flow full|hash|auto    keep all of the control flow, or a checksum for each piece, "
    "from which\n"
    "                               replay computes it again; auto, the default: what an idle "
    "CPU can\n"
    "                               pack, 8 MB a second and up to --flow-limit\n"
    "      --flow-limit SIZE        of the control flow on disk, of each process (2G)\n"
    "      --max-size SIZE          how large the recording may become (500M, 2G)\n"
    "      --keep-part first|last   what is kept then: the first part, the program goes on "
    "unrecorded\n"
    "                               (first, the default), or the last part\n"
    "      --pack DIR               pack what is kept into a file in DIR, which is made if it is "
    "missing\n"
    "      --summary FILE           write a summary into FILE, as a JSON object\n"
    "  -q, --quiet                  no summary on standard error\n"
    "  -h, --help                   this text\n"
    "  -v, --version                the version\n\n"
    "The exit status is the program's; 128+N if signal N ended it; 125 if recording failed,\n"
    "126 or 127 if PROG could not be run.\n";

#define FLOW_LIMIT ((uint64_t)2 << 30)

enum keep { KEEP_UNSAID, KEEP_ALWAYS, KEEP_FAILURE, KEEP_SIGNAL };

struct options {
	struct lz_trace_options trace;
	enum keep keep;
	bool quiet, no_sources;
	const char *pack, *summary;
	FILE *facts; /* the file of --summary */
	/* --chaos-runs */
	unsigned long most;
	unsigned long run; /* this one, from 1; 0: there is only one */
	off_t input;       /* where each finds its input, if that is a file */
};

enum {
	OPT_ASLR = 256,
	OPT_FOLLOW,
	OPT_KEEP,
	OPT_MAX_SIZE,
	OPT_KEEP_PART,
	OPT_INTERVAL,
	OPT_FULL,
	OPT_DIRTY,
	OPT_SLICE,
	OPT_CALLS,
	OPT_CHAOS,
	OPT_CHAOS_RUNS,
	OPT_ENV,
	OPT_SOURCES,
	OPT_FLOW,
	OPT_FLOW_LIMIT,
	OPT_PACK,
	OPT_SUMMARY
};

static int number(const char *text, const char *what, long min, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	if (errno || end == text || *end || *value < min) {
		lz_print(stderr, "lizard-trace: %s: '%s' is not a number from %ld up\n", what, text,
		         min);
		return -1;
	}
	return 0;
}

/* An option whose value is one of a few words. */
struct choice {
	const char *option, *said, *word[4];
};

static const struct choice dirty = {
    "--dirty", "scan, compare or auto", {"auto", "scan", "compare"}};
static const struct choice calls = {"--calls", "stop or buffer", {"stop", "buffer"}};
static const struct choice flow = {"--flow", "full, hash or auto", {"auto", "full", "hash"}};
static const struct choice keep = {
    "--keep", "always, failure or signal", {"always", "failure", "signal"}};
static const struct choice env = {"--env", "masked or all", {"masked", "all"}};
static const struct choice sources = {"--sources", "yes or no", {"yes", "no"}};
static const struct choice keep_part = {"--keep-part", "first or last", {"first", "last"}};

static int choose(const struct choice *c, const char *text, int *i)
{
	for (*i = 0; c->word[*i]; ++*i)
		if (strcmp(text, c->word[*i]) == 0)
			return 0;
	lz_print(stderr, "lizard-trace: %s is %s, not '%s'\n", c->option, c->said, text);
	return -1;
}

static int set_size(uint64_t *to, const char *what, const char *text)
{
	if (lz_parse_size(text, to) == 0)
		return 0;
	lz_print_lines(stderr, "lizard-trace: %s: %s\n", what, lz_error());
	return -1;
}

static int set_seed(struct lz_trace_options *o, const char *text)
{
	char *end;

	if (!text) {
		uint32_t any = 0;

		if (getrandom(&any, sizeof(any), 0) < 0)
			any = (uint32_t)getpid();
		o->chaos_seed = (uint64_t)any + 1;
		return 0;
	}
	errno = 0;
	o->chaos_seed = strtoull(text, &end, 10);
	if (!errno && end != text && !*end && text[0] != '-' && o->chaos_seed)
		return 0;
	lz_print(stderr, "lizard-trace: the seed is a number from 1 up, not '%s'\n", text);
	return -1;
}

static int set_option(struct options *all, int c, const char *arg)
{
	struct lz_trace_options *o = &all->trace;
	int i;
	long n;

	switch (c) {
	case 'o': o->dir = arg; return 0;
	case 'q': all->quiet = true; return 0;
	case OPT_PACK: all->pack = arg; return 0;
	case OPT_SUMMARY: all->summary = arg; return 0;
	case OPT_ASLR: o->aslr = true; return 0;
	case OPT_FOLLOW: o->follow = strcmp(arg, "parent") ? arg : NULL; return 0;
	case OPT_INTERVAL:
		if (strcmp(arg, "auto") == 0) {
			o->checkpoint_ms = -1;
			return 0;
		}
		if (number(arg, "--checkpoint-interval", 0, &n) < 0)
			return -1;
		o->checkpoint_ms = n;
		return 0;
	case OPT_FULL:
		if (number(arg, "--full-every", 1, &n) < 0)
			return -1;
		o->full_every = (unsigned)n;
		return 0;
	case OPT_MAX_SIZE: return set_size(&o->max_bytes, "--max-size", arg);
	case OPT_FLOW_LIMIT: return set_size(&o->flow_limit, "--flow-limit", arg);
	case OPT_KEEP: return choose(&keep, arg, &i) < 0 ? -1 : (all->keep = (enum keep)(i + 1), 0);
	case OPT_KEEP_PART: return choose(&keep_part, arg, &i) < 0 ? -1 : (o->keep_last = i, 0);
	case OPT_DIRTY:
		return choose(&dirty, arg, &i) < 0 ? -1 : (o->dirty = (enum lz_dirty_method)i, 0);
	case OPT_FLOW: return choose(&flow, arg, &i) < 0 ? -1 : (o->flow = (enum lz_flow)i, 0);
	case OPT_CALLS: return choose(&calls, arg, &i) < 0 ? -1 : (o->calls = (enum lz_calls)i, 0);
	case OPT_CHAOS: return set_seed(o, arg);
	case OPT_CHAOS_RUNS:
		return number(arg, "--chaos-runs", 1, &n) < 0 ? -1
		                                              : (all->most = (unsigned long)n, 0);
	case OPT_ENV: return choose(&env, arg, &i) < 0 ? -1 : (o->all_env = i, 0);
	case OPT_SOURCES: return choose(&sources, arg, &i) < 0 ? -1 : (all->no_sources = i, 0);
	case OPT_SLICE:
		if (number(arg, "--slice", 1, &n) < 0)
			return -1;
		o->slice_ms = (unsigned)n;
		return 0;
	}
	return -1;
}

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"keep", required_argument, NULL, OPT_KEEP},
    {"max-size", required_argument, NULL, OPT_MAX_SIZE},
    {"flow", required_argument, NULL, OPT_FLOW},
    {"flow-limit", required_argument, NULL, OPT_FLOW_LIMIT},
    {"keep-part", required_argument, NULL, OPT_KEEP_PART},
    {"follow", required_argument, NULL, OPT_FOLLOW},
    {"aslr", no_argument, NULL, OPT_ASLR},
    {"checkpoint-interval", required_argument, NULL, OPT_INTERVAL},
    {"full-every", required_argument, NULL, OPT_FULL},
    {"pack", required_argument, NULL, OPT_PACK},
    {"summary", required_argument, NULL, OPT_SUMMARY},
    {"env", required_argument, NULL, OPT_ENV},
    {"sources", required_argument, NULL, OPT_SOURCES},
    {"slice", required_argument, NULL, OPT_SLICE},
    {"calls", required_argument, NULL, OPT_CALLS},
    {"chaos", optional_argument, NULL, OPT_CHAOS},
    {"seed", required_argument, NULL, OPT_CHAOS},
    {"chaos-runs", required_argument, NULL, OPT_CHAOS_RUNS},
    {"dirty", required_argument, NULL, OPT_DIRTY},
    {"version", no_argument, NULL, 'v'},
    {0},
};

/* Has a signal ended one of the other processes, or does one go on? */
static bool others_matter(const struct lz_trace_result *r)
{
	struct lz_processes p;
	bool ret = false;

	if (lz_processes_read(&p, r->dir) < 0)
		return true;
	for (size_t i = 1; i < p.n; i++)
		ret |= p.v[i].busy || p.v[i].bad || WIFSIGNALED(p.v[i].meta.exit_status);
	lz_processes_free(&p);
	return ret;
}

static bool is_wanted(const struct options *o, const struct lz_trace_result *r)
{
	bool wanted = o->keep == KEEP_FAILURE ? r->status != 0 : WIFSIGNALED(r->status);

	if (o->keep <= KEEP_ALWAYS || wanted)
		return true;
	return o->trace.follow && others_matter(r);
}

/* What a run that is of no interest leaves behind. */
static void discard(const struct options *o, const struct lz_trace_result *r)
{
	char how[LZ_TEXT];

	if (lz_recording_remove(r->dir) < 0)
		lz_warn("the recording was to be removed: %s", lz_error());
	else if (!o->quiet && !o->run)
		lz_print(stderr, "lizard: not kept: %s\n", lz_text_status(r->status, how));
}

static int failed(int status, const char *why)
{
	lz_print_lines(stderr, "lizard-trace: %s\n", why ? why : "no memory");
	return WIFEXITED(status) && (WEXITSTATUS(status) & ~1) == 126 ? WEXITSTATUS(status) : 125;
}

/* Of what is kept: its sources, and a pack of it. The pack's path, malloced; NULL: there is none. */
static char *keep_more(const struct options *o, const struct lz_trace_result *r)
{
	const struct lz_pack_wishes w = {.no_sources = o->no_sources, .all_env = o->trace.all_env};
	/* others of the run have recordings of their own, which are to be asked */
	const bool may_have = !r->bare || o->trace.follow;
	char *path = NULL;

	if (!o->no_sources && may_have && lz_sources_keep(r->dir) < 0)
		lz_warn("the sources are not kept: %s", lz_error());
	if (o->pack && !(path = lz_pack_into(r->dir, o->pack, &w)))
		lz_warn("the recording is not packed: %s", lz_error());
	return path;
}

static void write_facts(const struct options *o, const struct lz_trace_result *r,
                        const struct lz_trace_outcome *out)
{
	if (!o->facts)
		return;
	int rc = lz_trace_summary_json(o->facts, &o->trace, r, out);

	if (fclose(o->facts) != 0 || rc < 0)
		lz_warn("cannot write the summary into %s", o->summary);
}

static int run(struct options *o)
{
	struct lz_trace_result r;
	int rc = lz_trace(&o->trace, &r);
	lz_auto_free char *why = rc < 0 ? strdup(lz_error()) : NULL, *pack = NULL;
	bool is_there = rc == 0 && r.dir, is_kept = is_there && is_wanted(o, &r);

	if (is_there && !is_kept)
		discard(o, &r);
	if (is_kept)
		pack = keep_more(o, &r);
	if (is_kept && !o->quiet && o->run)
		lz_print(stderr, "lizard: run %lu of %lu failed\n", o->run, o->most);
	if (is_kept && !o->quiet)
		lz_trace_summary(&o->trace, &r);
	if (pack && !o->quiet)
		lz_print(stderr, "lizard: packed %s\n", pack);
	int status = rc < 0 ? failed(r.status, why) : 0;
	if (rc < 0 && r.empty && r.dir && lz_recording_remove(r.dir) < 0)
		lz_warn("nothing was recorded, but a directory is left: %s", lz_error());
	write_facts(o, &r,
	            &(struct lz_trace_outcome){rc, is_kept || (rc < 0 && !r.empty), pack, why});
	free(r.dir);
	free(r.unfollowed);
	if (rc < 0)
		return status;
	return WIFSIGNALED(r.status) ? 128 + WTERMSIG(r.status) : WEXITSTATUS(r.status);
}

/* ---- --chaos-runs ---- */

/* In a process of its own. */
static int run_number(void *arg, unsigned long n, int facts)
{
	struct options *o = arg;

	o->run = n + 1;
	o->trace.chaos_seed += n;
	o->facts = fdopen(facts, "w");
	if (o->input >= 0)
		lseek(STDIN_FILENO, o->input, SEEK_SET);
	return run(o);
}

static int run_until_failure(struct options *o)
{
	struct lz_repeat r = {.record = run_number, .arg = o, .most = o->most};

	o->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	const int rc = lz_repeat(&r);
	/* what it has a summary of it has said itself */
	if (rc < 0 && !r.run)
		lz_print_lines(stderr, "lizard-trace: %s\n", lz_error());
	if (rc == 0 && !r.failed && !o->quiet)
		lz_repeat_say_none(&r);
	if (o->facts && r.run && (lz_json_write(o->facts, r.run) < 0 || fclose(o->facts) != 0))
		lz_warn("cannot write the summary into %s", o->summary);
	if (rc < 0 || r.failed)
		return WIFEXITED(r.status) && WEXITSTATUS(r.status) ? WEXITSTATUS(r.status) : 125;
	return r.signo ? 128 + r.signo : 0;
}

/* ---- the command ---- */

static int set_runs(struct options *o)
{
	if (!o->most)
		return 0;
	if (o->keep == KEEP_ALWAYS) {
		fprintf(stderr, "lizard-trace: --chaos-runs keeps a run that fails: "
		                "--keep is failure or signal with it\n");
		return -1;
	}
	if (o->keep == KEEP_UNSAID)
		o->keep = KEEP_FAILURE;
	if (!o->trace.chaos_seed)
		set_seed(&o->trace, NULL);
	if (o->trace.chaos_seed <= INT64_MAX)
		return 0;
	fprintf(stderr, "lizard-trace: --chaos-runs: the seed is too large to count on from it\n");
	return -1;
}

/* How calls are made where --calls does not say it: tests do all they do by either way. */
static int set_from_environment(struct options *o)
{
	const char *how = getenv("LIZARD_TRACE_CALLS");

	return how && *how ? set_option(o, OPT_CALLS, how) : 0;
}

int lz_cmd_trace(int argc, char **argv)
{
	struct options o = {
	    .trace = {.checkpoint_ms = -1, .flow_limit = FLOW_LIMIT, .calls = LZ_CALLS_BUFFER}};
	int c;

	if (set_from_environment(&o) < 0)
		return 125;
	while ((c = lz_option(argc, argv, "+o:qhv", long_options)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c == 'v') {
			printf("lizard " LIZARD_VERSION "\n");
			return 0;
		}
		if (set_option(&o, c, optarg) < 0) {
			fprintf(stderr, "Try 'lizard-trace --help'.\n");
			return 125;
		}
	}
	if (optind == argc) {
		fprintf(stderr, "lizard-trace: which program? Try 'lizard-trace --help'.\n");
		return 125;
	}
	if (o.trace.keep_last && !o.trace.max_bytes) {
		fprintf(stderr, "lizard-trace: --keep-part last: how much? --max-size says it\n");
		return 125;
	}
	if (set_runs(&o) < 0)
		return 125;
	o.trace.argv = argv + optind;
	if (o.summary && !(o.facts = fopen(o.summary, "we"))) {
		lz_print(stderr, "lizard-trace: cannot create %s: %s\n", o.summary,
		         strerror(errno));
		return 125;
	}
	return o.most ? run_until_failure(&o) : run(&o);
}
