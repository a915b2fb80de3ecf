/* lizard pack, lizard unpack: a recording in one file, for another machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cmds/cmds.h"
#include "cmds/options.h"
#include "cmds/pack.h"
#include "cmds/text.h"
#include "common/print.h"
#include <lizard/error.h>
#include <lizard/recording.h>

static void pack_usage(FILE *to)
{
	fprintf(to, "usage: lizard pack [-o FILE] [--no-sources] PROG|RECORDING\n\n"
	            "Writes a recording with all its processes into one file, with the programs' "
	            "source files,\nfor another machine.\n"
	            "lizard-gdb and the other commands take the file in place of a recording.\n\n"
	            "  -o, --output FILE   default: the recording's name with .lizard, here\n"
	            "      --no-sources    leave the source files out\n");
}

static void say_packed(const char *path, uint64_t bytes, size_t processes, size_t sources)
{
	char size[LZ_TEXT], others[40] = "";

	if (processes > 1)
		snprintf(others, sizeof(others), "%zu processes, ", processes);
	lz_print(stderr, "lizard: packed %s: %s, %swith %zu source files\n", path,
	         lz_text_size(bytes, size), others, sources);
}

static int pack(const char *what, const char *output, bool with_sources)
{
	char *dir = lz_recording_find(what), *path = NULL;
	struct lz_processes all = {0};
	struct lz_names sources = {0};
	struct stat st;
	int rc = dir ? 0 : -1;

	if (rc == 0 && asprintf(&path, "%s%s", output ? output : strrchr(dir, '/') + 1,
	                        output ? "" : ".lizard") < 0)
		rc = lz_fail("no memory");
	if (rc == 0)
		rc = lz_processes_read(&all, dir);
	if (rc == 0 && with_sources)
		rc = lz_pack_sources(&all, &sources);
	if (rc == 0)
		rc = lz_pack_write(&all, path, &sources);
	if (rc == 0 && stat(path, &st) == 0)
		say_packed(path, (uint64_t)st.st_size, all.n, sources.n);
	lz_names_free(&sources);
	lz_processes_free(&all);
	free(path);
	free(dir);
	return rc;
}

int lz_cmd_pack(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"output", required_argument, NULL, 'o'},
	                                        {"no-sources", no_argument, NULL, 'n'},
	                                        {0}};
	const char *output = NULL;
	bool sources = true;
	int opt;

	while ((opt = lz_option(argc, argv, "ho:", options)) != -1) {
		switch (opt) {
		case 'o': output = optarg; break;
		case 'n': sources = false; break;
		default: pack_usage(opt == 'h' ? stdout : stderr); return opt == 'h' ? 0 : 2;
		}
	}
	if (argc - optind != 1) {
		pack_usage(stderr);
		return 2;
	}
	if (pack(argv[optind], output, sources) == 0)
		return 0;
	lz_warn("%s", lz_error());
	return 1;
}

static void unpack_usage(FILE *to)
{
	char limit[LZ_TEXT];

	lz_print(to,
	         "usage: lizard unpack [--max-size SIZE] FILE [DIR]\n\n"
	         "Makes a recording of what `lizard pack` wrote: in DIR, which must not exist "
	         "yet, or among\n"
	         "the recordings. Prints its directory. To look at it lizard-gdb FILE does.\n\n"
	         "      --max-size SIZE  refuse what is larger than that: 500M, 100G (%s)\n",
	         lz_text_size(LZ_PACK_LIMIT, limit));
}

static char *unpack(const char *path, const char *dir, uint64_t limit)
{
	if (!dir)
		return lz_pack_open(path, limit);
	return lz_pack_read(path, dir, limit) == 0 ? strdup(dir) : NULL;
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
	char *dir = unpack(argv[optind], argv[optind + 1], limit);
	if (!dir) {
		lz_warn("%s", lz_error());
		return 1;
	}
	lz_print(stdout, "%s\n", dir);
	free(dir);
	return lz_finish_output(0);
}
