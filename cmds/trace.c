/* lizard trace [options] [--] PROG [ARGS] */
#include "cmds/cmds.h"

#include <errno.h>
#include <getopt.h>
#include <lizard/error.h>
#include <lizard/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char help[] =
    "usage: lizard-trace [options] [--] PROG [ARGS]\n"
    "Runs PROG and records it.\n\n"
    "  -o, --output DIR             write the recording to DIR, which must not exist yet\n"
    "      --aslr                   leave address randomization on\n"
    "      --checkpoint-interval MS|auto\n"
    "                               time between checkpoints (auto: they cost a few percent)\n"
    "      --full-every N           make every N-th checkpoint whole\n"
    "      --dirty scan|compare|auto\n"
    "                               how changed pages are found (auto: what works here)\n"
    "  -q, --quiet                  no summary\n"
    "  -h, --help                   this text\n"
    "      --version                the version\n\n"
    "The exit status is the program's; 128+N if signal N ended it; 125 if recording failed,\n"
    "126 or 127 if PROG could not be run.\n";

enum { OPT_ASLR = 256, OPT_INTERVAL, OPT_FULL, OPT_DIRTY, OPT_VERSION };

static int number(const char *text, const char *what, long min, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	if (errno || end == text || *end || *value < min) {
		fprintf(stderr, "lizard-trace: %s: '%s' is not a number from %ld up\n", what, text,
		        min);
		return -1;
	}
	return 0;
}

static int set_dirty(struct lz_trace_options *o, const char *text)
{
	static const char *const names[] = {"auto", "scan", "compare"};

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) == 0) {
			o->dirty = (enum lz_dirty_method)i;
			return 0;
		}
	}
	fprintf(stderr, "lizard-trace: --dirty is scan, compare or auto, not '%s'\n", text);
	return -1;
}

static int set_option(struct lz_trace_options *o, int c, const char *arg)
{
	long n;

	switch (c) {
	case 'o': o->dir = arg; return 0;
	case 'q': o->quiet = true; return 0;
	case OPT_ASLR: o->aslr = true; return 0;
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
	case OPT_DIRTY: return set_dirty(o, arg);
	}
	return -1;
}

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"aslr", no_argument, NULL, OPT_ASLR},
    {"checkpoint-interval", required_argument, NULL, OPT_INTERVAL},
    {"full-every", required_argument, NULL, OPT_FULL},
    {"dirty", required_argument, NULL, OPT_DIRTY},
    {"version", no_argument, NULL, OPT_VERSION},
    {0},
};

static int run(const struct lz_trace_options *o)
{
	int status;

	if (lz_trace(o, &status) < 0) {
		fprintf(stderr, "lizard-trace: %s\n", lz_error());
		if (WIFEXITED(status) && (WEXITSTATUS(status) & ~1) == 126)
			return WEXITSTATUS(status);
		return 125;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int lz_cmd_trace(int argc, char **argv)
{
	struct lz_trace_options o = {.checkpoint_ms = -1};
	int c;

	while ((c = getopt_long(argc, argv, "+o:qh", long_options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c == OPT_VERSION) {
			printf("lizard %s\n", LIZARD_VERSION);
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
	o.argv = argv + optind;
	return run(&o);
}
