/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/hunt.h"
#include "cmds/base/cmds.h"

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 16 };

/* The command line of lizard-trace. TEXT: room for words that are made. */
static char **trace_words(const struct lz_hunt *h, unsigned long n, int facts, char text[2][64])
{
	size_t n_args = 0, k = 0;

	while (h->argv[n_args])
		n_args++;
	const char **v = calloc(n_args + MOST_WORDS, sizeof(*v));

	if (!v)
		return NULL;
	snprintf(text[0], 64, "/proc/self/fd/%d", facts);
	snprintf(text[1], 64, h->seed ? "--chaos=%" PRIu64 : "--chaos", h->seed + n);
	v[k++] = "lizard-trace";
	v[k++] = "-q";
	v[k++] = "--summary";
	v[k++] = text[0];
	v[k++] = "--keep";
	v[k++] = h->keep;
	if (h->chaos)
		v[k++] = text[1];
	if (h->output)
		v[k++] = "--output", v[k++] = h->output;
	if (h->follow)
		v[k++] = "--follow", v[k++] = h->follow;
	if (h->pack)
		v[k++] = "--pack", v[k++] = h->pack;
	v[k++] = "--";
	memcpy(v + k, h->argv, n_args * sizeof(*v));
	return (char **)v;
}

static void redirect(bool echo)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		_exit(125);
	dup2(null, STDIN_FILENO);
	dup2(echo ? STDERR_FILENO : null, STDOUT_FILENO);
	if (!echo)
		dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

/* As lizard-trace would be, but for the file of the summary, which the program must not inherit. */
static int be_tracer(void *arg, unsigned long n, int facts)
{
	const struct lz_hunt *h = arg;
	char text[2][64], **argv = trace_words(h, n, facts, text);
	int argc = 0;

	while (argv && argv[argc])
		argc++;
	redirect(h->echo);
	optind = 0;
	return argv ? lz_cmd_trace(argc, argv) : 125;
}

int lz_hunt(struct lz_hunt *h)
{
	struct lz_repeat *r = &h->repeat;

	r->record = be_tracer;
	r->arg = h;
	r->progress = !h->echo;
	return lz_repeat(r);
}
