/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `lizard COMMAND ...`, or the same under its own name `lizard-COMMAND`. */
#include "cmds/base/cmds.h"
#include "common/base/nearest.h"
#include "common/base/print.h"
#include <lizard/error.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct lz_cmd commands[] = {
    {"trace", "run a program and record it", lz_cmd_trace},
    {"hunt", "record a program until a run fails", lz_cmd_hunt},
    {"gdb", "debug a recording", lz_cmd_gdb},
    {"dap", "debug a recording from an editor", lz_cmd_dap},
    {"serve", "serve a recording to a remote debugger", lz_cmd_serve},
    {"verify", "replay a recording and compare it with itself", lz_cmd_verify},
    {"index", "compute ahead what debugging would compute", lz_cmd_index},
    {"ls", "list recordings", lz_cmd_ls},
    {"ps", "list the processes of a recording", lz_cmd_ps},
    {"rm", "remove recordings", lz_cmd_rm},
    {"prune", "remove old or big recordings", lz_cmd_prune},
    {"pack", "write a recording into one file", lz_cmd_pack},
    {"unpack", "make a recording of such a file", lz_cmd_unpack},
    {"info", "describe a recording", lz_cmd_info},
    {"dump", "print what a recording holds", lz_cmd_dump},
    {"calls", "list or count the calls of a function", lz_cmd_calls},
    {"hits", "list or count the times that control was at a line", lz_cmd_hits},
    {"coverage", "say what of a program ran, and how often", lz_cmd_coverage},
    {"profile", "say who called whom how often", lz_cmd_profile},
    {"tree", "print who called whom, in order", lz_cmd_tree},
    {"grep", "list calls by where they are made", lz_cmd_grep},
    {"strace", "print the system calls, as strace does", lz_cmd_strace},
    {"output", "print what the program wrote, and where", lz_cmd_output},
    {"marks", "list the instants that the program has noted", lz_cmd_marks},
    {"points", "list or note instants of a recording", lz_cmd_points},
    {"timeline", "say what happened between checkpoints", lz_cmd_timeline},
    {"diff", "say where two runs part, and why", lz_cmd_diff},
    {"report", "write how a recorded run ended", lz_cmd_report},
};
enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct lz_cmd *find(const char *name)
{
	for (int i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static void say_unknown(const char *name)
{
	struct lz_nearest n = {.word = name};

	for (int i = 0; i < N_COMMANDS; i++)
		lz_nearest_see(&n, commands[i].name);
	if (*n.name)
		lz_warn("no command named '%s': did you mean '%s'?", name, n.name);
	else
		lz_warn("no command named '%s'; `lizard help` lists them", name);
}

static void usage(FILE *to)
{
	fprintf(to, "usage: lizard COMMAND [ARGS]\n\ncommands:\n");
	for (int i = 0; i < N_COMMANDS; i++)
		lz_print(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fprintf(to, "\n`lizard COMMAND --help` says more; man lizard-COMMAND says all.\n");
}

/* What reads a recording, and the program that it replays, may be made to take all memory. Then
 * they go, not others. */
static void be_first_to_go(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "800", 3) < 0)
		lz_debug("the kernel may end other processes first when memory runs out");
	if (fd >= 0)
		close(fd);
}

static int run(const struct lz_cmd *c, int argc, char **argv)
{
	if (c->main != lz_cmd_trace && c->main != lz_cmd_hunt)
		be_first_to_go();
	return c->main(argc, argv);
}

/* NAME: a command; NULL: all of them. */
static int help_on(char *name)
{
	char *argv[] = {name, "--help", NULL};
	const struct lz_cmd *c = name ? find(name) : NULL;

	if (name && !c) {
		say_unknown(name);
		return 2;
	}
	if (c)
		return run(c, 2, argv);
	usage(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const char *self = slash ? slash + 1 : argc ? argv[0] : "";

	if (strncmp(self, "lizard-", 7) == 0) {
		const struct lz_cmd *c = find(self + 7);
		if (c)
			return run(c, argc, argv);
	}
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return help_on(argv[2]);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0) {
		printf("lizard " LIZARD_VERSION "\n");
		return 0;
	}
	const struct lz_cmd *c = find(argv[1]);
	if (!c) {
		say_unknown(argv[1]);
		return 2;
	}
	return run(c, argc - 1, argv + 1);
}
