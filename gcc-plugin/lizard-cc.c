/* lizard-cc, lizard-c++: GCC with the plugin, and the runtime when it links.
 * Every argument is passed on; what is added comes before and behind them. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GCC_MAJOR "12"

struct args {
	const char **v;
	size_t n, room;
};

/* What the command line asks for. */
struct command {
	bool inputs;  /* something to compile or link */
	bool no_link; /* -c, -S, -E and the like */
	bool shared;  /* -shared */
	bool relocatable;
	bool narrow; /* -m32, -mx32, -m16 */
	bool lto;
	bool check;
	bool help, version;
	bool nostdlib, is_static;
	bool gold, gc; /* -fuse-ld=gold, --gc-sections */
	bool entry;    /* the program names its entry point or has a linker script */
};

static void *checked(void *p)
{
	if (!p) {
		fputs("lizard-cc: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

static void push(struct args *a, const char *arg)
{
	if (a->n + 2 > a->room) {
		a->room = a->room ? 2 * a->room : 64;
		a->v = checked(realloc(a->v, a->room * sizeof(*a->v)));
	}
	a->v[a->n++] = arg;
	a->v[a->n] = NULL;
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* OPTION is one of those that -Wl,... passes to the linker. */
static bool for_linker(const char *arg, const char *option)
{
	size_t n = strlen(option);

	if (!starts(arg, "-Wl,"))
		return false;
	for (const char *p = arg + 3; p; p = strchr(p + 1, ','))
		if (starts(p + 1, option) && (p[1 + n] == 0 || p[1 + n] == ','))
			return true;
	return false;
}

/* Options whose value is the next argument. */
static bool takes_value(const char *arg)
{
	static const char *const names[] = {
	    "-o",
	    "-x",
	    "-I",
	    "-L",
	    "-D",
	    "-U",
	    "-include",
	    "-imacros",
	    "-isystem",
	    "-iquote",
	    "-idirafter",
	    "-isysroot",
	    "-iprefix",
	    "-imultilib",
	    "-iwithprefix",
	    "-iwithprefixbefore",
	    "-MF",
	    "-MT",
	    "-MQ",
	    "-T",
	    "-u",
	    "-z",
	    "-e",
	    "-Xlinker",
	    "-Xassembler",
	    "-Xpreprocessor",
	    "--param",
	    "-B",
	    "-A",
	    "-aux-info",
	    "-dumpbase",
	    "-dumpdir",
	    "-dumpbase-ext",
	    "-wrapper",
	    "-specs",
	    "--sysroot",
	    "--entry",
	    "-G",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(arg, names[i]) == 0)
			return true;
	return false;
}

static void note_option(struct command *c, const char *arg)
{
	static const char *const no_link[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"};

	for (size_t i = 0; i < sizeof(no_link) / sizeof(*no_link); i++)
		c->no_link |= strcmp(arg, no_link[i]) == 0;
	c->shared |= strcmp(arg, "-shared") == 0 || strcmp(arg, "--shared") == 0;
	c->relocatable |= strcmp(arg, "-r") == 0;
	if (strcmp(arg, "-m32") == 0 || strcmp(arg, "-mx32") == 0 || strcmp(arg, "-m16") == 0)
		c->narrow = true;
	if (strcmp(arg, "-m64") == 0)
		c->narrow = false;
	if (strcmp(arg, "-flto") == 0 || starts(arg, "-flto="))
		c->lto = true;
	if (strcmp(arg, "-fno-lto") == 0)
		c->lto = false;
	c->version |= strcmp(arg, "--version") == 0;
	c->help |= strcmp(arg, "--help") == 0;
	c->nostdlib |= strcmp(arg, "-nostdlib") == 0 || strcmp(arg, "-nostartfiles") == 0;
	c->entry |= starts(arg, "-Wl,-e") || starts(arg, "-Wl,--entry") || starts(arg, "--entry") ||
	            starts(arg, "-Wl,-T") || starts(arg, "-Wl,--script") || starts(arg, "-T") ||
	            strcmp(arg, "-e") == 0;
	if (starts(arg, "-fuse-ld="))
		c->gold = strcmp(arg, "-fuse-ld=gold") == 0;
	if (for_linker(arg, "--gc-sections"))
		c->gc = true;
	if (for_linker(arg, "--no-gc-sections"))
		c->gc = false;
	c->is_static |= strcmp(arg, "-static") == 0 || strcmp(arg, "-static-pie") == 0;
}

/* The next word of a response file: blanks separate, quotes and backslashes
 * protect. NULL at the end. */
static char *next_word(const char **text)
{
	const char *p = *text;
	char *word, *out, quote = 0;

	p += strspn(p, " \t\n\r\f\v");
	if (!*p)
		return NULL;
	out = word = checked(malloc(strlen(p) + 1));
	for (; *p && (quote || !strchr(" \t\n\r\f\v", *p)); p++) {
		if (*p == '\\' && p[1])
			*out++ = *++p;
		else if (quote ? *p == quote : (*p == '"' || *p == '\''))
			quote = quote ? 0 : *p;
		else
			*out++ = *p;
	}
	*out = 0;
	*text = p;
	return word;
}

static char *read_whole(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t room = 1 << 16, n = 0, got;
	char *text;

	if (!f)
		return NULL;
	text = checked(malloc(room + 1));
	while ((got = fread(text + n, 1, room - n, f)) > 0) {
		n += got;
		if (n == room)
			text = checked(realloc(text, (room *= 2) + 1));
	}
	text[n] = 0;
	fclose(f);
	return text;
}

static void expand(struct args *flat, const char *arg, int depth)
{
	char *text = arg[0] == '@' && depth < 16 ? read_whole(arg + 1) : NULL;
	const char *p = text;
	char *word;

	if (!text) {
		push(flat, arg);
		return;
	}
	while ((word = next_word(&p)))
		expand(flat, word, depth + 1);
	free(text);
}

static struct command understand(const struct args *flat)
{
	struct command c = {0};

	for (size_t i = 0; i < flat->n; i++) {
		const char *arg = flat->v[i];

		if (arg[0] != '-' || strcmp(arg, "-") == 0 || starts(arg, "-l")) {
			c.inputs = true;
			continue;
		}
		note_option(&c, arg);
		if (takes_value(arg))
			i++;
	}
	return c;
}

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
		checked(NULL);
	return s;
}

/* gold takes the code away but not what describes it, and then complains. */
static void spare_gold(struct args *out)
{
	fputs("lizard-cc: warning: gold's --gc-sections would leave descriptions of code that is "
	      "gone: linked without it (ld and lld can)\n",
	      stderr);
	push(out, "-Wl,--no-gc-sections");
}

static void add_runtime(struct args *out, const struct command *c, const char *dir)
{
	if (c->gold && c->gc)
		spare_gold(out);
	push(out, "-x");
	push(out, "none");
	if (c->shared) {
		/* by its path: the library has no soname */
		push(out, "-Wl,--push-state,--as-needed");
		push(out, in_dir("", dir, "liblizard-rt.so"));
		push(out, "-Wl,--pop-state");
		return;
	}
	push(out, in_dir("", dir, "lizard-rt.o"));
	if (c->nostdlib && !c->entry) {
		push(out, in_dir("", dir, "lizard-start.o"));
		push(out, "-Wl,-e,__lizard_start");
	}
	/* libraries that are loaded later find it here */
	if (!c->is_static)
		push(out, "-Wl,--export-dynamic-symbol=__lizard_*");
}

/* Everything but our own options. Returns 0, or 1 after a message. */
static int build_command(struct args *out, const struct args *in, const struct command *c,
                         const char *gcc, const char *dir)
{
	push(out, gcc);
	if (c->narrow)
		fputs("lizard-cc: warning: only 64-bit x86 code can be recorded: "
		      "compiled without instrumentation\n",
		      stderr);
	if (c->inputs && !c->narrow) {
		push(out, in_dir("-fplugin=", dir, "lizard_plugin.so"));
		if (c->check)
			push(out, "-fplugin-arg-lizard_plugin-check");
	}
	for (size_t i = 1; i < in->n; i++)
		if (strcmp(in->v[i], "-flizard-check") != 0)
			push(out, in->v[i]);
	if (c->inputs && !c->no_link && !c->relocatable && !c->narrow)
		add_runtime(out, c, dir);
	return 0;
}

int main(int argc, char **argv)
{
	struct args in = {0}, flat = {0}, out = {0};
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	bool cxx = strstr(name, "++") != NULL;
	const char *gcc = getenv("LIZARD_GCC"), *check = getenv("LIZARD_CHECK");
	struct command c;
	char *dir;

	if (!gcc || !*gcc)
		gcc = cxx ? "g++-" GCC_MAJOR : "gcc-" GCC_MAJOR;
	for (int i = 0; i < argc; i++)
		push(&in, argv[i]);
	for (int i = 1; i < argc; i++)
		expand(&flat, argv[i], 0);
	c = understand(&flat);
	c.check = check && *check && strcmp(check, "0") != 0;
	for (size_t i = 0; i < flat.n; i++)
		c.check |= strcmp(flat.v[i], "-flizard-check") == 0;
	if (c.lto && c.inputs) {
		fprintf(stderr,
		        "lizard-cc: error: -flto is not supported: the markers belong to one "
		        "translation unit; compile and link without it\n");
		return 1;
	}
	if (c.help)
		say_help(gcc, cxx);
	dir = library_dir();
	if (!dir || build_command(&out, &in, &c, gcc, dir))
		return 1;
	execvp(gcc, (char **)out.v);
	fprintf(stderr,
	        "lizard-cc: cannot run %s: %s; install gcc-" GCC_MAJOR " or set LIZARD_GCC to it\n",
	        gcc, strerror(errno));
	return 1;
}
