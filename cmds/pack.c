/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard pack, lizard unpack: a recording in one file, for another machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cmds/base/cmds.h"
#include "cmds/base/options.h"
#include "cmds/pack/pack.h"
#include "common/base/text.h"
#include "common/base/print.h"
#include <common/base/cleanup.h>
#include <lizard/error.h>
#include <lizard/recording.h>

struct pack_options {
	const char *output;
	bool list;
	struct lz_pack_wishes wishes;
};

static void pack_usage(FILE *to)
{
	fprintf(to,
	        "usage: lizard pack [options] PROG|RECORDING...\n\n"
	        "Writes a recording with all its processes into one file, with the programs' "
	        "source files,\nfor another machine. Several recordings share what they have in "
	        "common; -o names the file.\n"
	        "lizard-gdb and the other commands take the file in place of a recording.\n\n"
	        "  -o, --output FILE     default: the recording's name with .lizard, here\n"
	        "      --source-dir DIR  take source files below DIR, too; can be given "
	        "several times.\n"
	        "                        Without it: those below the directory of the "
	        "compilation, if the\n"
	        "                        program is still here as it was recorded\n"
	        "      --no-sources      leave the source files out\n"
	        "      --no-debug-files  leave out separate files with debug information\n"
	        "      --index           with the control flow that `lizard index` has computed\n"
	        "      --list            print each source file, + if it is packed and - if it "
	        "is left out\n"
	        "      --env all|masked  with the values of variables that look secret, or "
	        "without them\n"
	        "                        (masked, the default)\n");
}

static void say_packed(const char *path, uint64_t bytes, size_t recordings, size_t processes,
                       size_t sources, size_t debug)
{
	char size[LZ_TEXT], several[40] = "", others[40] = "", separate[60] = "";

	if (recordings > 1)
		snprintf(several, sizeof(several), "%zu recordings, ", recordings);
	if (processes > recordings)
		snprintf(others, sizeof(others), "%zu processes, ", processes);
	if (debug)
		snprintf(separate, sizeof(separate), " and %zu files with debug information",
		         debug);
	lz_print(stderr, "lizard: packed %s: %s, %s%swith %zu source files%s\n", path,
	         lz_text_size(bytes, size), several, others, sources, separate);
}

/* ---- which source files went in ---- */

enum { NAMES_SHOWN = 10 };

static const char *const why[LZ_SOURCE_FATES] = {
    [LZ_SOURCE_OUTSIDE] = "outside the compilation directory",
    [LZ_SOURCE_WIDE] = "the compilation directory is none for sources alone",
    [LZ_SOURCE_FOREIGN] = "the program is not here as it was recorded",
    [LZ_SOURCE_PRIVATE] = "others may not read it",
    [LZ_SOURCE_HIDDEN] = "hidden",
    [LZ_SOURCE_NO_FILE] = "no regular file",
    [LZ_SOURCE_UNREADABLE] = "not readable",
};

static size_t count(const struct lz_sources *s, enum lz_source_fate fate)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->v[i].fate == fate;
	return n;
}

static void say_names(const struct lz_sources *s, enum lz_source_fate fate)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].fate != fate || n++ >= NAMES_SHOWN)
			continue;
		lz_print(stderr, "  %s\n", s->v[i].path);
	}
	if (n > NAMES_SHOWN)
		lz_print(stderr, "  and %zu more, which --list names\n", n - NAMES_SHOWN);
}

static void say_sources(const struct lz_sources *s)
{
	say_names(s, LZ_SOURCE_KEPT);
	say_names(s, LZ_SOURCE_PACKED);
	for (int fate = LZ_SOURCE_ABSENT + 1; fate < LZ_SOURCE_FATES; fate++) {
		size_t n = count(s, (enum lz_source_fate)fate);

		if (!n)
			continue;
		lz_print(stderr, "lizard: left out %zu source files: %s%s\n", n, why[fate],
		         fate <= LZ_SOURCE_FOREIGN ? "; --source-dir DIR takes those below DIR"
		                                   : "");
		say_names(s, (enum lz_source_fate)fate);
	}
}

static void list_sources(const struct lz_sources *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].fate <= LZ_SOURCE_KEPT)
			lz_print(stdout, "+ %s\n", s->v[i].path);
		else
			lz_print(stdout, "- %s  (%s)\n", s->v[i].path, why[s->v[i].fate]);
	}
}

/* ---- the command ---- */

static void say_left_out(const struct lz_names *variables)
{
	if (!variables->n)
		return;
	fputs("lizard: left out the values of these variables, which look secret (--env=all keeps "
	      "them):",
	      stderr);
	for (size_t i = 0; i < variables->n; i++)
		lz_print(stderr, " %s", variables->v[i]);
	lz_print(stderr, "\n");
}

/* Several recordings count their common files again and again. */
static void say_size(const char *path, const struct lz_pack_item *items, size_t n)
{
	size_t processes = 0, sources = 0, debug = 0;
	struct stat st;

	for (size_t i = 0; i < n; i++) {
		processes += items[i].all.n;
		sources += items[i].sources.n_packed;
		debug += items[i].debug.n;
	}
	if (stat(path, &st) == 0)
		say_packed(path, (uint64_t)st.st_size, n, processes, sources, debug);
}

static void say_damage(const struct lz_processes *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct lz_reader *r = lz_reader_open(all->v[i].path);

		if (r && lz_reader_damage(r))
			lz_warn("%s is packed as it is: %s", all->v[i].path, lz_reader_damage(r));
		lz_reader_close(r);
	}
}

static void say_all(const char *path, const struct lz_pack_item *items, size_t n,
                    const struct lz_packed *packed, bool list)
{
	char limit[LZ_TEXT];

	say_size(path, items, n);
	for (size_t i = 0; i < n; i++) {
		if (n > 1)
			lz_print(list ? stdout : stderr, "%s:\n", items[i].name);
		if (list)
			list_sources(&items[i].sources);
		else
			say_sources(&items[i].sources);
		say_damage(&items[i].all);
	}
	say_left_out(&packed->left_out);
	if (packed->cost > LZ_PACK_LIMIT)
		lz_warn("unpacked it is larger than %s: it must be unpacked with `lizard unpack "
		        "--max-size SIZE`",
		        lz_text_size(LZ_PACK_LIMIT, limit));
}

/* The recordings that are packed. */
struct packing {
	char **what;
	size_t n;
	char **dirs, **names;
	struct lz_pack_item *items;
};

static bool is_taken(const struct packing *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->names[i] && strcmp(p->names[i], name) == 0)
			return true;
	return false;
}

/* Of the recording DIR, none that another one has. malloced. */
static char *name_of(const struct packing *p, const char *dir)
{
	const char *base = strrchr(dir, '/') + 1;
	char *name = strdup(base);

	for (unsigned k = 2; name && is_taken(p, name); k++) {
		free(name);
		if (asprintf(&name, "%s.%u", base, k) < 0)
			return NULL;
	}
	return name;
}

static int find(struct packing *p, const struct pack_options *o)
{
	p->dirs = calloc(p->n, sizeof(*p->dirs));
	p->names = calloc(p->n, sizeof(*p->names));
	p->items = calloc(p->n, sizeof(*p->items));
	if (!p->dirs || !p->names || !p->items)
		return lz_fail("no memory");
	for (size_t i = 0; i < p->n; i++) {
		if (!(p->dirs[i] = lz_recording_find(p->what[i])))
			return -1;
		if (!(p->names[i] = name_of(p, p->dirs[i])))
			return lz_fail("no memory");
		if (lz_pack_item_find(&p->items[i], p->dirs[i], &o->wishes) < 0)
			return -1;
		p->items[i].name = p->names[i];
	}
	return 0;
}

static void packing_free(struct packing *p)
{
	for (size_t i = 0; p->dirs && p->names && p->items && i < p->n; i++) {
		lz_pack_item_free(&p->items[i]);
		free(p->dirs[i]);
		free(p->names[i]);
	}
	free(p->dirs);
	free(p->names);
	free(p->items);
}

static int pack(char **what, size_t n, const struct pack_options *o)
{
	struct packing p = {.what = what, .n = n};
	struct lz_packed packed = {0};
	lz_auto_free char *path = NULL;
	int rc = find(&p, o);

	if (rc == 0 && asprintf(&path, "%s%s", o->output ? o->output : p.names[0],
	                        o->output ? "" : ".lizard") < 0)
		rc = lz_fail("no memory");
	if (rc == 0)
		rc = lz_pack_write(p.items, n, path, o->wishes.all_env, &packed);
	if (rc == 0)
		say_all(path, p.items, n, &packed, o->list);
	lz_names_free(&packed.left_out);
	packing_free(&p);
	return rc;
}

static int set_env(bool *all, const char *text)
{
	*all = strcmp(text, "all") == 0;
	if (*all || strcmp(text, "masked") == 0)
		return 0;
	lz_warn("--env is all or masked, not '%s'", text);
	return -1;
}

static int too_many(void)
{
	lz_warn("a pack has at most %d recordings", LZ_PACK_MOST);
	return 2;
}

/* 0: go on; else the exit status, or 1 for help. */
static int parse_pack(int argc, char **argv, struct pack_options *o)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"output", required_argument, NULL, 'o'},
	                                        {"no-sources", no_argument, NULL, 'n'},
	                                        {"no-debug-files", no_argument, NULL, 'd'},
	                                        {"source-dir", required_argument, NULL, 's'},
	                                        {"index", no_argument, NULL, 'i'},
	                                        {"list", no_argument, NULL, 'l'},
	                                        {"env", required_argument, NULL, 'e'},
	                                        {0}};
	int opt;

	while ((opt = lz_option(argc, argv, "ho:", options)) != -1) {
		switch (opt) {
		case 'o': o->output = optarg; break;
		case 'n': o->wishes.no_sources = true; break;
		case 'd': o->wishes.no_debug = true; break;
		case 's': o->wishes.dirs[o->wishes.n_dirs++] = optarg; break;
		case 'i': o->wishes.index = true; break;
		case 'l': o->list = true; break;
		case 'e':
			if (set_env(&o->wishes.all_env, optarg) < 0)
				return 2;
			break;
		default: pack_usage(opt == 'h' ? stdout : stderr); return opt == 'h' ? 1 : 2;
		}
	}
	if (argc - optind == 1 || (argc - optind > 1 && o->output))
		return argc - optind <= LZ_PACK_MOST ? 0 : too_many();
	if (argc - optind > 1)
		lz_warn("several recordings go into a file that -o names");
	else
		pack_usage(stderr);
	return 2;
}

int lz_cmd_pack(int argc, char **argv)
{
	struct pack_options o = {.wishes.dirs = calloc((size_t)argc + 1, sizeof(char *))};
	int rc = o.wishes.dirs ? parse_pack(argc, argv, &o) : 2;

	if (rc == 0) {
		rc = pack(argv + optind, (size_t)(argc - optind), &o) < 0;
		if (rc)
			lz_warn("%s", lz_error());
		rc = lz_finish_output(rc);
	} else if (rc == 1) {
		rc = 0;
	}
	free(o.wishes.dirs);
	return rc;
}

static void unpack_usage(FILE *to)
{
	char limit[LZ_TEXT];

	lz_print(to,
	         "usage: lizard unpack [--max-size SIZE] FILE [DIR]\n\n"
	         "Makes a recording of what `lizard pack` wrote: in DIR, which must not exist "
	         "yet, or among\n"
	         "the recordings. Prints its directory. To look at it lizard-gdb FILE does.\n"
	         "Of several recordings each has a directory, which is printed, below DIR or among "
	         "the\n"
	         "recordings. lizard-gdb FILE/NAME opens one of them.\n\n"
	         "      --max-size SIZE  refuse what is larger than that: 500M, 100G (%s)\n",
	         lz_text_size(LZ_PACK_LIMIT, limit));
}

/* Below DIR. */
static void print_dirs(const char *dir, const struct lz_names *names)
{
	if (!names->n)
		lz_print(stdout, "%s\n", dir);
	for (size_t i = 0; i < names->n; i++)
		lz_print(stdout, "%s%s%s\n", dir, *dir ? "/" : "", names->v[i]);
}

static int unpack(const char *path, const char *dir, uint64_t limit)
{
	struct lz_names names = {0};
	int rc = dir ? lz_pack_read(path, dir, limit, &names) : lz_pack_open(path, limit, &names);

	if (rc == 0)
		print_dirs(dir ? dir : "", &names);
	else
		lz_warn("%s", lz_error());
	lz_names_free(&names);
	return rc < 0;
}

int lz_cmd_unpack(int argc, char **argv)
{
	static const struct option options[] = {
	    {"help", no_argument, NULL, 'h'}, {"max-size", required_argument, NULL, 'm'}, {0}};
	uint64_t limit = LZ_PACK_LIMIT;
	int opt;

	while ((opt = lz_option(argc, argv, "h", options)) != -1) {
		if (opt == 'm' && lz_parse_size(optarg, &limit) == 0)
			continue;
		if (opt == 'm')
			lz_warn("--max-size: %s", lz_error());
		else
			unpack_usage(opt == 'h' ? stdout : stderr);
		return opt == 'h' ? 0 : 2;
	}
	if (argc - optind < 1 || argc - optind > 2) {
		unpack_usage(stderr);
		return 2;
	}
	return lz_finish_output(unpack(argv[optind], argv[optind + 1], limit));
}
