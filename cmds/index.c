/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard index: computes ahead what debugging a recording would compute. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmds/base/catalog.h>
#include <cmds/base/cmds.h>
#include <cmds/base/options.h>
#include <cmds/pack/pack.h>
#include <cmds/base/processes.h>
#include <common/base/cleanup.h>
#include <common/base/clock.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <common/base/tree.h>
#include <lizard/error.h>
#include <replayer/answers/asked.h>
#include <lizard/session.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard index [-a] [--max-size S] [--json] [-q] RECORDING\n"
	    "       lizard index --remove [-a] RECORDING\n\n"
	    "Computes the control flow of which RECORDING has only checksums, on all CPUs, and\n"
	    "keeps it in the recording. Moves, `lizard dump` and others then find it there. Call\n"
	    "stacks are kept as well, by which `lizard calls` and others read only what they\n"
	    "need. Exit status: 0 all of the control flow is there, 1 not.\n\n"
	    "  -a, --all         of every process of the recording\n"
	    "      --max-size S  what is kept takes at most S: 500M, 20G (default: 2G)\n"
	    "      --json        one JSON object for each process instead of a line\n"
	    "  -q, --quiet       print nothing if all went well\n"
	    "      --remove      remove what is kept: it can be computed again\n");
}

struct wishes {
	bool all, json, quiet, removes;
	uint64_t limit; /* 0: the usual one */
};

struct outcome {
	uint64_t hashed, computed, stored; /* bytes: of markers, of markers, on disk */
	uint64_t ns;
};

/* Bytes of markers. */
static uint64_t sum_of(const struct lz_reader *r,
                       uint64_t (*of)(const struct lz_reader *r, uint32_t tid))
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < lz_reader_n_threads(r); i++)
		sum += of(r, lz_reader_tid(r, i));
	return sum;
}

static uint64_t stored_bytes(const struct lz_reader *r)
{
	lz_auto_free char *path = NULL;

	if (asprintf(&path, "%s/" LZ_INDEX_FOLDER, lz_reader_dir(r)) < 0)
		return 0;
	return lz_recording_bytes(path);
}

static int look_at(struct lz_reader *r, uint32_t tid, uint32_t block, const struct lz_rebuild *rb)
{
	uint64_t start, len;
	uint8_t byte;

	if (lz_reader_block(r, tid, block, &start, &len) < 0 ||
	    lz_reader_markers(r, tid, start, &byte, 1) < 0)
		return -1;
	return lz_rebuild_not_kept(rb) ? lz_fail("%s", lz_rebuild_not_kept(rb)) : 0;
}

/* What is there is looked at, since it may be damaged: WAS_THERE. Of the rest the first one that is
 * missing has the others computed, too. */
static int compute_blocks(struct lz_reader *r, uint32_t tid, bool was_there,
                          const struct lz_rebuild *rb)
{
	for (uint32_t i = 0; i < lz_reader_n_blocks(r, tid); i++)
		if (lz_reader_block_hashed(r, tid, i, NULL) &&
		    lz_reader_block_at_hand(r, tid, i) == was_there && look_at(r, tid, i, rb) < 0)
			return -1;
	return 0;
}

static int compute_stream(struct lz_reader *r, uint32_t tid, const struct lz_rebuild *rb)
{
	if (lz_reader_markers_computed(r, tid) < lz_reader_markers_hashed(r, tid) &&
	    lz_reader_begin_keeping(r, tid) < 0)
		return -1;
	lz_reader_expect(r, tid, 0, lz_reader_n_blocks(r, tid));
	return compute_blocks(r, tid, true, rb) < 0 ? -1 : compute_blocks(r, tid, false, rb);
}

static int compute(struct lz_reader *r, const struct wishes *w)
{
	struct lz_rebuild *rb = lz_rebuild_new(r);
	int rc = rb ? 0 : -1;

	if (rb)
		lz_rebuild_ahead(rb, w->limit);
	for (uint32_t i = 0; rc == 0 && i < lz_reader_n_threads(r); i++)
		rc = compute_stream(r, lz_reader_tid(r, i), rb);
	lz_rebuild_free(rb);
	return rc;
}

static void print_line(const char *dir, const struct outcome *o)
{
	char hashed[LZ_TEXT], computed[LZ_TEXT], stored[LZ_TEXT], took[LZ_TEXT];

	if (!o->hashed) {
		lz_print(stdout, "%s: all of its control flow is recorded\n", dir);
		return;
	}
	lz_print(stdout, "%s: %s of %s computed and kept, %s on disk, in %s\n", dir,
	         lz_text_size(o->computed, computed), lz_text_size(o->hashed, hashed),
	         lz_text_size(o->stored, stored), lz_text_duration(o->ns, took));
}

static int print_json(const char *dir, const struct outcome *o, const char *error)
{
	json_t *j = json_object();

	json_object_set_new(j, "recording", lz_json_text(dir));
	json_object_set_new(j, "marker_bytes_hashed", json_integer((json_int_t)o->hashed));
	json_object_set_new(j, "marker_bytes_computed", json_integer((json_int_t)o->computed));
	json_object_set_new(j, "index_stored", json_integer((json_int_t)o->stored));
	json_object_set_new(j, "complete", json_boolean(!error && o->computed == o->hashed));
	json_object_set_new(j, "seconds", json_real((double)o->ns / 1e9));
	json_object_set_new(j, "error", error ? lz_json_text(error) : json_null());
	return lz_json_print(j);
}

static int report(const char *dir, const struct outcome *o, const struct wishes *w,
                  const char *error)
{
	if (w->json)
		return print_json(dir, o, error);
	if (error)
		lz_warn("%s: %s", dir, error);
	if (o->hashed ? !w->quiet : !w->quiet && !error)
		print_line(dir, o);
	return 0;
}

/* For questions about the control flow. Without them these take longer, that is all. */
static void keep_stacks(const char *dir)
{
	struct lz_asked a;

	if (lz_asked_open(&a, dir) < 0 || lz_asked_index(&a) < 0)
		lz_debug("%s: call stacks are not kept: %s", dir, lz_error());
	lz_asked_close(&a);
}

static int index_one(const char *dir, const struct wishes *w)
{
	const uint64_t begun = lz_now();
	struct outcome o = {0};
	struct lz_reader *r = lz_reader_open(dir);
	int rc = r ? compute(r, w) : -1;
	lz_auto_free char *error = rc < 0 ? strdup(lz_error()) : NULL;

	o.ns = lz_now() - begun;
	if (r) {
		o.hashed = sum_of(r, lz_reader_markers_hashed);
		o.computed = sum_of(r, lz_reader_markers_computed);
		o.stored = stored_bytes(r);
	}
	lz_reader_close(r);
	if (rc == 0)
		keep_stacks(dir);
	if (report(dir, &o, w, error) < 0)
		return -1;
	return rc < 0 || o.computed < o.hashed ? -1 : 0;
}

static int remove_one(const char *dir)
{
	lz_auto_free char *path = NULL;
	struct stat st;

	if (asprintf(&path, "%s/" LZ_INDEX_FOLDER, dir) < 0)
		return lz_fail("no memory");
	if (lstat(path, &st) < 0 || lz_remove_tree(path) == 0)
		return 0;
	lz_warn("%s", lz_error());
	return -1;
}

static int do_one(const char *dir, const struct wishes *w)
{
	return w->removes ? remove_one(dir) : index_one(dir, w);
}

static int do_all(const char *dir, const struct wishes *w)
{
	struct lz_processes p;
	int rc = 0;

	if (lz_processes_read(&p, dir) < 0) {
		lz_warn("%s", lz_error());
		return -1;
	}
	for (size_t i = 0; i < p.n; i++)
		if (do_one(p.v[i].path, w) < 0)
			rc = -1;
	lz_processes_free(&p);
	return rc;
}

static int parse_option(struct wishes *w, int opt)
{
	switch (opt) {
	case 'a': w->all = true; return 0;
	case 'j': w->json = true; return 0;
	case 'q': w->quiet = true; return 0;
	case 'r': w->removes = true; return 0;
	case 's':
		if (lz_parse_size(optarg, &w->limit) == 0 && w->limit)
			return 0;
		lz_warn("%s", w->limit ? lz_error() : "--max-size 0 would keep nothing");
		return -1;
	}
	return -1;
}

int lz_cmd_index(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"all", no_argument, NULL, 'a'},
	                                        {"max-size", required_argument, NULL, 's'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"quiet", no_argument, NULL, 'q'},
	                                        {"remove", no_argument, NULL, 'r'},
	                                        {0}};
	struct wishes w = {0};
	int opt;

	while ((opt = lz_option(argc, argv, "haq", options)) != -1) {
		if (opt == 'h' || parse_option(&w, opt) < 0) {
			usage(opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc || (w.removes && (w.json || w.limit))) {
		usage(stderr);
		return 2;
	}
	char *dir = lz_find(argv[optind]);
	if (!dir) {
		lz_warn("%s", lz_error());
		return 1;
	}
	int rc = w.all ? do_all(dir, &w) : do_one(dir, &w);
	free(dir);
	return lz_finish_output(rc < 0 ? 1 : 0);
}
