/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard-cc, lizard-c++: GCC with the plugin, and the runtime when it links.
 * Every argument is passed on; what is added comes before and behind them. */
#include "cmdline.h"
#include "compiler.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_help(const char *self, const char *gcc, const char *lib)
{
	printf(
	    "Usage: %s [GCC OPTIONS] FILE...\n"
	    "Compiles with %s and instruments the program for Lizard, the replay debugger.\n"
	    "  --gcc=N          take GCC N, or the GCC at the path N (plugins are here for: %s)\n"
	    "                   (also: LIZARD_GCC=N in the environment, or the name lizard-gcc-N)\n"
	    "  -flizard-check   checking mode: each marker verifies the marker pointer\n"
	    "                   (also: LIZARD_CHECK=1 in the environment)\n"
	    "All other options are GCC's:\n\n",
	    self, gcc, lz_cc_supported(lib));
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

static bool is_ours(const char *arg)
{
	return strcmp(arg, "-flizard-check") == 0 || strncmp(arg, "--gcc=", 6) == 0;
}

static bool needs_plugin(const struct command *c)
{
	return c->inputs && !c->narrow;
}

/* Everything but our own options. */
static void build_command(struct args *out, const struct args *in, const struct command *c,
                          const char *lib, const char *plugin)
{
	if (c->narrow)
		fputs("lizard-cc: warning: only 64-bit x86 code can be recorded: "
		      "compiled without instrumentation\n",
		      stderr);
	/* <lizard.h>; behind the system's folders, of which it may be one */
	if (c->inputs)
		lz_cc_push(out, in_dir("-idirafter", lib, "../../include"));
	if (needs_plugin(c)) {
		lz_cc_push(out, in_dir("-fplugin=", plugin, "lizard_plugin.so"));
		if (c->check)
			lz_cc_push(out, "-fplugin-arg-lizard_plugin-check");
	}
	for (size_t i = 0; i < in->n; i++)
		if (!is_ours(in->v[i]))
			lz_cc_push(out, in->v[i]);
	if (needs_plugin(c) && !c->headers && !c->no_link && !c->relocatable)
		add_runtime(out, c, lib);
}

/* Reads the arguments, with response files opened, into FLAT. */
static struct command read_command(struct args *flat, int argc, char **argv)
{
	const char *check = getenv("LIZARD_CHECK");
	struct command c;

	for (int i = 1; i < argc; i++)
		lz_cc_expand(flat, argv[i], 0);
	c = lz_cc_understand(flat);
	c.check |= check && *check && strcmp(check, "0") != 0;
	return c;
}

/* GCC must not find our options in a response file. */
static struct args to_pass_on(const struct args *flat, int argc, char **argv)
{
	struct args in = {0};

	for (size_t i = 0; i < flat->n; i++)
		if (is_ours(flat->v[i]))
			return *flat;
	for (int i = 1; i < argc; i++)
		lz_cc_push(&in, argv[i]);
	return in;
}

int main(int argc, char **argv)
{
	struct args in, flat = {0}, out = {0};
	const char *self = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	struct command c = read_command(&flat, argc, argv);
	const char *name = lz_cc_choose(c.gcc, self, strstr(self, "++") != NULL);
	char *lib = library_dir(), *gcc = lz_cc_find(name), *plugin = NULL;

	if (!lib)
		return 1;
	if (gcc && access(gcc, X_OK) == 0) {
		if (needs_plugin(&c) && !(plugin = lz_cc_plugin_dir(lib, gcc)))
			return 1;
		if (c.help)
			say_help(self, name, lib);
		in = to_pass_on(&flat, argc, argv);
		lz_cc_push(&out, gcc);
		build_command(&out, &in, &c, lib, plugin);
		execv(gcc, (char **)out.v);
	}
	fprintf(stderr,
	        "lizard-cc: cannot run %s: %s; install it, or take another GCC by --gcc=N or "
	        "LIZARD_GCC=N: %s\n",
	        name, strerror(errno), lz_cc_supported(lib));
	return 1;
}
