/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard coverage: what of a program ran, read from the recorded control flow. */
#include <cmds/ask/asking.h>
#include <cmds/base/cmds.h>
#include <cmds/ask/suspects.h>
#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <errno.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <replayer/coverage/coverage.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard coverage [options] RECORDING...\n"
	    "       lizard coverage --diff FAILING [--diff FAILING]... PASSING...\n\n"
	    "Prints, for each source file, how many of its lines, branches and functions ran.\n"
	    "Several recordings are added up. Nothing is run, and the program need not have\n"
	    "been built for coverage.\n\n"
	    "      --lines             print each line that has code with its exact count\n"
	    "      --lcov FILE         write a tracefile of lcov instead (-: to stdout)\n"
	    "      --html DIR          have genhtml, of Debian's lcov, make pages in DIR\n"
	    "      --sources DIR       the folder where the program was compiled: pages show\n"
	    "                          files below it only (default: the present folder)\n"
	    "      --diff RECORDING    of a run that failed, while the others passed: print the\n"
	    "                          lines that it came to, the most suspect first; may be\n"
	    "                          given for several failing runs\n"
	    "      --branches          with --diff: print ways out of branches, not lines\n"
	    "      --rank ochiai|tarantula  the formula for --diff (default: ochiai)\n"
	    "      --top N             with --diff: print N lines (default: 20; 0: "
	    "all)\n" LZ_ASKING_HELP);
}

struct wishes {
	struct lz_asking asking;
	bool lines, ranks; /* ranks: how to rank is given */
	const char *lcov, *html, *sources;
	struct lz_suspects suspects;
};

struct sums {
	size_t lines, lines_run, branches, branches_taken, fns, fns_called;
};

static struct sums sum_up(const struct lz_coverage *c, uint32_t file)
{
	struct sums s = {0};

	for (size_t i = 0; i < c->n_lines; i++)
		if (c->line[i].file == file) {
			s.lines++;
			s.lines_run += c->line[i].n > 0;
		}
	for (size_t i = 0; i < c->n_branches; i++)
		if (c->branch[i].at.file == file) {
			s.branches++;
			s.branches_taken += c->branch[i].taken > 0;
		}
	for (size_t i = 0; i < c->n_fns; i++)
		if (c->fn[i].file == file) {
			s.fns++;
			s.fns_called += c->fn[i].calls > 0;
		}
	return s;
}

static json_t *share(size_t of, size_t all)
{
	json_t *o = json_object();

	json_object_set_new(o, "all", json_integer((json_int_t)all));
	json_object_set_new(o, "ran", json_integer((json_int_t)of));
	return o;
}

static int print_file_json(const struct lz_coverage *c, uint32_t file, bool lines)
{
	const struct sums s = sum_up(c, file);
	json_t *o = json_object(), *counts = lines ? json_object() : NULL;
	char number[16];

	json_object_set_new(o, "file", lz_json_text(c->file[file]));
	json_object_set_new(o, "lines", share(s.lines_run, s.lines));
	json_object_set_new(o, "branches", share(s.branches_taken, s.branches));
	json_object_set_new(o, "functions", share(s.fns_called, s.fns));
	for (size_t i = 0; lines && i < c->n_lines; i++) {
		if (c->line[i].file != file)
			continue;
		snprintf(number, sizeof(number), "%u", c->line[i].line);
		json_object_set_new(counts, number, json_integer((json_int_t)c->line[i].n));
	}
	if (lines)
		json_object_set_new(o, "counts", counts);
	return lz_json_print(o);
}

static void print_file(const struct lz_coverage *c, uint32_t file, bool lines)
{
	const struct sums s = sum_up(c, file);

	if (!lines) {
		lz_print(stdout,
		         "%5zu of %5zu lines  %5zu of %5zu branches  %4zu of %4zu functions  %s\n",
		         s.lines_run, s.lines, s.branches_taken, s.branches, s.fns_called, s.fns,
		         c->file[file]);
		return;
	}
	for (size_t i = 0; i < c->n_lines; i++)
		if (c->line[i].file == file)
			lz_print(stdout, "%12" PRIu64 "  %s:%u\n", c->line[i].n, c->file[file],
			         c->line[i].line);
}

static int print_all(const struct lz_coverage *c, const struct wishes *w)
{
	for (uint32_t i = 0; i < c->n_files; i++) {
		if (!w->asking.json)
			print_file(c, i, w->lines);
		else if (print_file_json(c, i, w->lines) < 0)
			return -1;
	}
	return 0;
}

/* ---- files of others ---- */

static int write_lcov(void *arg, FILE *to)
{
	return lz_coverage_write_lcov(arg, to);
}

static int run_genhtml(const char *tracefile, const char *dir)
{
	const char *const argv[] = {"genhtml", "--quiet", "--branch-coverage", "-o", dir,
	                            tracefile, NULL};
	pid_t pid;
	int status;

	errno = posix_spawnp(&pid, "genhtml", NULL, NULL, (char *const *)argv, environ);
	if (errno)
		return lz_fail_errno("cannot run genhtml (Debian: apt install lcov)");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return lz_fail_errno("genhtml");
	return status ? lz_fail("genhtml has failed") : 0;
}

/* The file below FOLDER, whose real name that is; NULL: there is none. malloced. */
static char *source_below(const char *folder, const char *name)
{
	const size_t n = strlen(folder);
	lz_auto_free char *path = NULL, *real = NULL;

	if (asprintf(&path, "%s/%s", *name == '/' ? "" : folder, name) < 0)
		return NULL;
	real = realpath(path, NULL);
	return real && !strncmp(real, folder, n) && real[n] == '/' ? lz_keep(real) : NULL;
}

/* A recording may name any file: what genhtml shows of this machine is chosen by the user. */
static int leave_out_others(struct lz_coverage *c, const char *sources)
{
	lz_auto_free char *folder = realpath(sources, NULL);
	uint32_t left = 0;

	if (!folder)
		return lz_fail_errno("%s", sources);
	for (uint32_t i = 0; i < c->n_files; i++) {
		char *found = source_below(folder, c->file[i]);

		free(c->file[i]);
		c->file[i] = found;
		left += found != NULL;
	}
	if (!left)
		return lz_fail("no source file of the program is below %s: name the folder where "
		               "it was compiled (--sources DIR)",
		               folder);
	if (left < c->n_files)
		lz_warn("%u of %u source files are left out: they are not below %s",
		        c->n_files - left, c->n_files, folder);
	return 0;
}

static int write_html(struct lz_coverage *c, const char *dir)
{
	const char *tmp = getenv("TMPDIR");
	lz_auto_free char *path = NULL;

	if (asprintf(&path, "%s/lizard-coverage-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		return lz_fail("out of memory");
	int fd = mkstemp(path);
	if (fd < 0)
		return lz_fail_errno("cannot make %s", path);
	close(fd);
	int rc = lz_asking_write(path, write_lcov, c);
	if (rc == 0)
		rc = run_genhtml(path, dir);
	unlink(path);
	return rc;
}

/* ---- the question ---- */

static int tell(struct lz_coverage *c, const struct wishes *w)
{
	if (w->lcov && lz_asking_write(w->lcov, write_lcov, c) < 0)
		return -1;
	if (w->html &&
	    (leave_out_others(c, w->sources ? w->sources : ".") < 0 || write_html(c, w->html) < 0))
		return -1;
	return w->html || w->lcov ? 0 : print_all(c, w);
}

/* All but the last are closed. */
static int add_all(struct lz_coverage *c, struct wishes *w, char **names)
{
	for (; *names; names++) {
		if (lz_asking_open(&w->asking, *names) < 0 ||
		    lz_coverage_add(c, &w->asking.asked) < 0)
			return -1;
		if (w->asking.asked.partial || !names[1])
			return 0;
		lz_asking_tell_missing(&w->asking);
		lz_asked_close(&w->asking.asked);
	}
	return 0;
}

static int answer(struct wishes *w, char **names)
{
	struct lz_coverage c = {0};

	if (w->suspects.n)
		return lz_suspects_tell(&w->suspects, &w->asking, names);
	int rc = add_all(&c, w, names);
	if (rc == 0)
		rc = tell(&c, w);
	lz_coverage_free(&c);
	return rc;
}

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'L': w->lines = true; return 0;
	case 'C': w->lcov = optarg; return 0;
	case 'H': w->html = optarg; return 0;
	case 'S': w->sources = optarg; return 0;
	case 'D': return lz_suspects_failing(&w->suspects, optarg);
	case 'B': w->ranks = w->suspects.branches = true; return 0;
	case 'R': w->ranks = true; return lz_suspects_formula(&w->suspects, optarg);
	case 'N': w->ranks = true; return lz_asking_number("--top", optarg, &w->suspects.top);
	default: return 1;
	}
}

/* Options that would have no effect are a mistake. NULL: there are none. */
static const char *misuse(const struct wishes *w)
{
	const bool writes = w->lcov || w->html;

	if (w->suspects.n && (w->lines || writes))
		return "--diff prints lines: not with --lines, --lcov or --html";
	if (w->lines && writes)
		return "--lines prints: not with --lcov or --html";
	if (w->ranks && !w->suspects.n)
		return "--branches, --rank and --top are for --diff";
	return w->sources && !w->html ? "--sources is for --html" : NULL;
}

int lz_cmd_coverage(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS,
	                                        {"lines", no_argument, NULL, 'L'},
	                                        {"lcov", required_argument, NULL, 'C'},
	                                        {"html", required_argument, NULL, 'H'},
	                                        {"sources", required_argument, NULL, 'S'},
	                                        {"diff", required_argument, NULL, 'D'},
	                                        {"branches", no_argument, NULL, 'B'},
	                                        {"rank", required_argument, NULL, 'R'},
	                                        {"top", required_argument, NULL, 'N'},
	                                        {0}};
	struct wishes w = {.suspects.top = 20};
	const struct lz_asking_command command = {.usage = usage,
	                                          .letters = LZ_ASKING_LETTERS,
	                                          .longs = options,
	                                          .option = parse_option,
	                                          .arg = &w};
	int rc = lz_asking_options(&w.asking, argc, argv, &command);

	if (rc >= 0)
		return rc;
	if (misuse(&w)) {
		lz_warn("%s", misuse(&w));
		return 2;
	}
	if (optind == argc) {
		usage(stderr);
		return 2;
	}
	rc = answer(&w, argv + optind);
	free(w.suspects.failing);
	return lz_asking_finish(&w.asking, rc);
}
