/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard-cc, lizard-c++: GCC with the plugin, and the runtime when it links.
 * Every argument is passed on; what is added comes before and behind them. */
#include "cmdline.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GCC_MAJOR "12"

static void say_help(const char *gcc, bool cxx)
{
	printf("Usage: %s [GCC OPTIONS] FILE...\n"
	       "Compiles with %s and instruments the program for Lizard, the replay debugger.\n"
	       "  -flizard-check   checking mode: each marker verifies the marker pointer\n"
	       "                   (also: LIZARD_CHECK=1 in the environment)\n"
	       "  LIZARD_GCC=PATH  the GCC " GCC_MAJOR " to use\n"
	       "All other options are GCC's:\n\n",
	       cxx ? "lizard-c++" : "lizard-cc", gcc);
	fflush(stdout);
}

/* DIR/../lib/lizard, DIR being where this program lies. */
static char *library_dir(void)
{
	char path[PATH_MAX], *slash, *real;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 20);

	if (n < 0)
		return NULL;
	path[n] = 0;
	slash = strrchr(path, '/');
	strcpy(slash ? slash : path, "/../lib/lizard");
	real = realpath(path, NULL);
	if (!real)
		fprintf(stderr, "lizard-cc: no directory %s: Lizard is not installed completely\n",
		        path);
	return real;
}

static char *in_dir(const char *before, const char *dir, const char *file)
{
	char *s;

	if (asprintf(&s, "%s%s/%s", before, dir, file) < 0)
		lz_cc_checked(NULL);
	return s;
}

/* gold takes the code away but not what describes it, and then complains. */
static void spare_gold(struct args *out)
{
	fputs("lizard-cc: warning: gold's --gc-sections would leave descriptions of code that is "
	      "gone: linked without it (ld and lld can)\n",
	      stderr);
	lz_cc_push(out, "-Wl,--no-gc-sections");
}

static void add_runtime(struct args *out, const struct command *c, const char *dir)
{
	if (c->gold && c->gc)
		spare_gold(out);
	lz_cc_push(out, "-x");
	lz_cc_push(out, "none");
	if (c->shared) {
		/* by its path: the library has no soname */
		lz_cc_push(out, "-Wl,--push-state,--as-needed");
		lz_cc_push(out, in_dir("", dir, "liblizard-rt.so"));
		lz_cc_push(out, "-Wl,--pop-state");
		return;
	}
	lz_cc_push(out, in_dir("", dir, "lizard-rt.o"));
	if (c->nostdlib && !c->entry) {
		lz_cc_push(out, in_dir("", dir, "lizard-start.o"));
		lz_cc_push(out, "-Wl,-e,__lizard_start");
	}
	/* libraries that are loaded later find it here */
	if (!c->is_static)
		lz_cc_push(out, "-Wl,--export-dynamic-symbol=__lizard_*");
}

/* What GCC, asked by LIZARD_GCC, says of its version: 0 if it says nothing. */
static int version_of(const char *gcc)
{
	int fds[2], version = 0;
	FILE *answer;
	pid_t child;

	if (pipe(fds) < 0)
		return 0;
	child = fork();
	if (child == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		execlp(gcc, gcc, "-dumpversion", (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	answer = fdopen(fds[0], "r");
	if (!answer || fscanf(answer, "%d", &version) != 1)
		version = 0;
	if (answer)
		fclose(answer);
	else
		close(fds[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return version;
}

static bool right_version(const char *gcc)
{
	int version = version_of(gcc);

	if (version == 0 || version == atoi(GCC_MAJOR))
		return true;
	fprintf(stderr,
	        "lizard-cc: error: %s is of version %d, and Lizard's plugin is for GCC " GCC_MAJOR
	        ": set LIZARD_GCC to a GCC " GCC_MAJOR ", or to nothing\n",
	        gcc, version);
	return false;
}

/* Everything but our own options. */
static void build_command(struct args *out, const struct args *in, const struct command *c,
                          const char *gcc, const char *dir)
{
	lz_cc_push(out, gcc);
	if (c->narrow)
		fputs("lizard-cc: warning: only 64-bit x86 code can be recorded: "
		      "compiled without instrumentation\n",
		      stderr);
	if (c->inputs && !c->narrow) {
		lz_cc_push(out, in_dir("-fplugin=", dir, "lizard_plugin.so"));
		if (c->check)
			lz_cc_push(out, "-fplugin-arg-lizard_plugin-check");
	}
	for (size_t i = 0; i < in->n; i++)
		if (strcmp(in->v[i], "-flizard-check") != 0)
			lz_cc_push(out, in->v[i]);
	if (c->inputs && !c->headers && !c->no_link && !c->relocatable && !c->narrow)
		add_runtime(out, c, dir);
}

/* Reads the arguments, with response files opened, into FLAT. */
static struct command read_command(struct args *flat, int argc, char **argv)
{
	const char *check = getenv("LIZARD_CHECK");
	struct command c;

	for (int i = 1; i < argc; i++)
		lz_cc_expand(flat, argv[i], 0);
	c = lz_cc_understand(flat);
	c.check = check && *check && strcmp(check, "0") != 0;
	for (size_t i = 0; i < flat->n; i++)
		c.check |= strcmp(flat->v[i], "-flizard-check") == 0;
	return c;
}

int main(int argc, char **argv)
{
	struct args in = {0}, flat = {0}, out = {0};
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	bool cxx = strstr(name, "++") != NULL;
	const char *gcc = getenv("LIZARD_GCC");
	struct command c = read_command(&flat, argc, argv);
	char *dir;

	if (!gcc || !*gcc)
		gcc = cxx ? "g++-" GCC_MAJOR : "gcc-" GCC_MAJOR;
	else if (!right_version(gcc))
		return 1;
	for (int i = 1; i < argc; i++)
		lz_cc_push(&in, argv[i]);
	if (c.lto && c.inputs) {
		fprintf(stderr,
		        "lizard-cc: error: -flto is not supported: the markers belong to one "
		        "translation unit; compile and link without it\n");
		return 1;
	}
	if (c.help)
		say_help(gcc, cxx);
	dir = library_dir();
	if (!dir)
		return 1;
	/* GCC must not find our option in a response file */
	build_command(&out, c.check ? &flat : &in, &c, gcc, dir);
	execvp(gcc, (char **)out.v);
	fprintf(stderr,
	        "lizard-cc: cannot run %s: %s; install gcc-" GCC_MAJOR " or set LIZARD_GCC to it\n",
	        gcc, strerror(errno));
	return 1;
}
