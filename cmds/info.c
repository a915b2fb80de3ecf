/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard info: what a recording is of, and what is in it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmds/base/catalog.h>
#include <cmds/base/cmds.h>
#include <cmds/base/options.h>
#include <cmds/instants.h>
#include <cmds/pack/pack.h>
#include <common/base/text.h>
#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <common/base/progress.h>
#include <common/base/shell.h>
#include <lizard/error.h>
#include "replayer/stream/threads.h"

static void usage(FILE *to)
{
	fprintf(to,
	        "usage: lizard info [--json] [--check] RECORDING\n\n"
	        "Describes a recording: a directory, a name from `lizard ls`, or a program (its\n"
	        "latest recording).\n"
	        "  --json   as a JSON object\n"
	        "  --check  also read all of it and compare every checksum; status 1 if it is "
	        "damaged\n");
}

static uint64_t folder_bytes(const struct lz_reader *r, const char *name)
{
	lz_auto_free char *path = NULL;

	return asprintf(&path, "%s/%s", lz_reader_dir(r), name) < 0 ? 0 : lz_recording_bytes(path);
}

/* The sources that it keeps, packed. */
static uint64_t sources_bytes(const struct lz_reader *r)
{
	lz_auto_free char *path = NULL;
	struct stat st;

	if (asprintf(&path, "%s/" LZ_SOURCES_FILE, lz_reader_dir(r)) < 0)
		return 0;
	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static uint64_t all_markers(const struct lz_reader *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < lz_reader_n_threads(r); i++)
		sum += lz_reader_markers_len(r, lz_reader_tid(r, i));
	return sum;
}

/* Bytes of markers of which only checksums are kept. */
static uint64_t all_hashed(const struct lz_reader *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < lz_reader_n_threads(r); i++)
		sum += lz_reader_markers_hashed(r, lz_reader_tid(r, i));
	return sum;
}

static uint64_t all_computed(const struct lz_reader *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < lz_reader_n_threads(r); i++)
		sum += lz_reader_markers_computed(r, lz_reader_tid(r, i));
	return sum;
}

/* ---- threads ---- */

struct threads {
	struct {
		uint32_t tid;
		uint64_t turns;
	} * v; /* in the order in which they first ran */
	uint32_t n;
	uint64_t switches;
	struct lz_instants instants;
};

/* Does the thread of the turn before go on, in the program that it has executed? */
static bool goes_on(const struct lz_turn *v, uint32_t i)
{
	return i && !v[i].switched && v[i].tid == v[i - 1].tid;
}

static int count_turns(struct threads *t, const struct lz_stream_threads *s)
{
	const struct lz_turn *v = s->turns->v;
	lz_auto_free uint32_t *place = calloc(s->n + 1u, sizeof(*place));

	t->v = calloc(s->n + 1u, sizeof(*t->v));
	if (!t->v || !place)
		return lz_fail("no memory for %u threads", s->n);
	for (uint32_t i = 0; i < s->turns->n; i++) {
		uint32_t number = s->number[i];

		if (goes_on(v, i)) {
			place[number] = place[s->number[i - 1]];
			continue;
		}
		if (s->first[number] == i) {
			place[number] = t->n++;
			t->v[place[number]].tid = v[i].tid;
		}
		t->v[place[number]].turns++;
		t->switches += v[i].switched;
	}
	return 0;
}

/* Reads all events. */
static int find_threads(struct lz_reader *r, struct threads *t)
{
	struct lz_turns turns;
	struct lz_stream_threads threads;

	*t = (struct threads){0};
	if (lz_turns_read(&turns, r) < 0)
		return -1;
	int rc = lz_stream_threads_init(&threads, &turns);
	if (!rc) {
		rc = count_turns(t, &threads);
		lz_stream_threads_free(&threads);
	}
	lz_turns_free(&turns);
	return rc < 0 ? -1 : lz_instants_count(r, &t->instants);
}

/* ---- text ---- */

static void print_line(const char *label, const char *text)
{
	lz_print(stdout, "%-13s %s\n", label, text);
}

static void print_args(const struct lz_meta *m)
{
	printf("command       ");
	for (char **a = m->argv; *a; a++) {
		lz_auto_free char *word = lz_shell_word(*a);

		lz_print(stdout, "%s%s", a == m->argv ? "" : " ", word ? word : *a);
	}
	putchar('\n');
}

/* Until there are markers nobody knows whether there will be some. */
static bool not_known_yet(const struct lz_reader *r)
{
	return !lz_reader_instrumented(r) && lz_reader_meta(r)->state != LZ_REC_COMPLETE &&
	       lz_recording_busy(lz_reader_dir(r));
}

static const char *instrumented(const struct lz_reader *r)
{
	if (not_known_yet(r))
		return "not known yet";
	if (lz_reader_instrumented(r))
		return "yes";
	return lz_reader_built(r) ? "yes, but none of its code runs in this recording"
	                          : "no: system calls and checkpoints only";
}

static void print_meta(const struct lz_reader *r, const struct lz_meta *m)
{
	bool whole = m->state == LZ_REC_COMPLETE;
	char t[LZ_TEXT];

	print_line("recording", lz_reader_dir(r));
	print_line("program", m->program);
	if (*m->build_id)
		print_line("build-id", m->build_id);
	print_args(m);
	print_line("directory", m->cwd);
	print_line("host", m->host);
	print_line("kernel", m->kernel);
	print_line("cpu", m->cpu);
	print_line("begun", lz_text_time(m->start_time, t));
	if (whole || *m->stopped)
		print_line("duration", lz_text_duration(m->duration_ns, t));
	if (whole || m->exit_status >= 0)
		print_line("ended", lz_text_status(m->exit_status, t));
	else
		print_line("ended", *m->stopped ? "not known, recording ended before the program"
		                                : "not known, the recording was not finished");
	if (m->chaos_seed)
		printf("chaos         seed %" PRIu64 "\n", m->chaos_seed);
	print_line("instrumented", instrumented(r));
	for (char **o = m->outside; o && *o; o++)
		print_line("outside", *o);
	printf("format        version %u\n", m->version);
}

/* What is not stored, if anything. */
static void print_flow(const struct lz_reader *r, uint64_t markers)
{
	const struct lz_meta *m = lz_reader_meta(r);
	uint64_t hashed = all_hashed(r);
	char a[LZ_TEXT], b[LZ_TEXT], c[LZ_TEXT];

	lz_print(stdout, "flow          %s", m->flow);
	if (hashed && hashed == markers)
		printf(": only checksums are kept, replay computes the markers again");
	else if (hashed)
		lz_print(stdout,
		         ": of the last %s only checksums are kept, replay computes them again",
		         lz_text_size(hashed, a));
	putchar('\n');
	if (hashed)
		lz_print(stdout, "index         %s of %s computed, %s on disk\n",
		         lz_text_size(all_computed(r), a), lz_text_size(hashed, b),
		         lz_text_size(folder_bytes(r, LZ_INDEX_FOLDER), c));
}

static void print_threads(const struct threads *t)
{
	if (t->n == 1)
		printf("threads       1\n");
	else if (t->n)
		printf("threads       %u, which took turns %llu times\n", t->n,
		       (unsigned long long)t->switches);
}

static void print_text(const struct lz_reader *r, const struct threads *threads)
{
	struct lz_stored stored = lz_reader_stored(r);
	char a[LZ_TEXT], b[LZ_TEXT];
	uint32_t whole = 0;

	print_meta(r, lz_reader_meta(r));
	for (uint32_t i = 0; i < lz_reader_n_checkpoints(r); i++)
		whole += lz_reader_checkpoint_whole(r, i);
	lz_print(stdout, "events        %llu, %s on disk\n",
	         (unsigned long long)lz_reader_n_events(r), lz_text_size(stored.events, a));
	lz_print(stdout, "markers       %s, %s on disk\n", lz_text_size(all_markers(r), a),
	         lz_text_size(stored.markers, b));
	print_flow(r, all_markers(r));
	print_threads(threads);
	lz_instants_print(&threads->instants);
	lz_print(stdout, "checkpoints   %u (%u whole), %s on disk\n", lz_reader_n_checkpoints(r),
	         whole, lz_text_size(stored.checkpoints, a));
	lz_print(stdout, "files         %u, %s on disk\n", lz_reader_n_files(r),
	         lz_text_size(folder_bytes(r, "files"), a));
	for (uint32_t i = 0; i < lz_reader_n_files(r); i++) {
		const struct lz_file *f = lz_reader_file(r, i);

		lz_print(stdout, "  %-3u %s  %s%s\n", i, f->path, f->build_id,
		         *f->copy ? "" : "  (not kept)");
	}
	if (sources_bytes(r))
		lz_print(stdout, "sources       %s, packed\n", lz_text_size(sources_bytes(r), a));
	if (lz_reader_begins_later(r))
		lz_print(stdout,
		         "kept          the last part, from event %llu and %s of markers on\n",
		         (unsigned long long)lz_reader_first_event(r),
		         lz_text_size(lz_reader_first_marker(r), a));
	lz_print(stdout, "size          %s\n",
	         lz_text_size(lz_recording_bytes(lz_reader_dir(r)), a));
	if (lz_reader_damage(r))
		lz_print_lines(stdout, "%-13s %s\n",
		               *lz_reader_meta(r)->stopped ? "cut short" : "damage",
		               lz_reader_damage(r));
}

/* ---- JSON ---- */

static json_t *list_json(char **v)
{
	json_t *list = json_array();

	for (; v && *v; v++)
		json_array_append_new(list, lz_json_text(*v));
	return list;
}

static void set_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *files_json(const struct lz_reader *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < lz_reader_n_files(r); i++) {
		const struct lz_file *f = lz_reader_file(r, i);
		json_t *o = json_object();

		json_object_set_new(o, "path", lz_json_text(f->path));
		json_object_set_new(o, "copy", lz_json_text(f->copy));
		json_object_set_new(o, "build_id", lz_json_text(f->build_id));
		set_int(o, "size", f->size);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *threads_json(const struct threads *t)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < t->n; i++) {
		json_t *o = json_object();

		set_int(o, "tid", t->v[i].tid);
		set_int(o, "turns", t->v[i].turns);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *streams_json(const struct lz_reader *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < lz_reader_n_threads(r); i++) {
		uint32_t tid = lz_reader_tid(r, i);
		json_t *o = json_object();

		set_int(o, "tid", tid);
		set_int(o, "marker_bytes", lz_reader_markers_len(r, tid));
		set_int(o, "blocks", lz_reader_n_blocks(r, tid));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *meta_json(const struct lz_reader *r, const struct lz_meta *m)
{
	json_t *o = json_object();

	json_object_set_new(o, "recording", lz_json_text(lz_reader_dir(r)));
	set_int(o, "version", m->version);
	json_object_set_new(o, "complete", json_boolean(m->state == LZ_REC_COMPLETE));
	json_object_set_new(o, "program", lz_json_text(m->program));
	json_object_set_new(o, "build_id", lz_json_text(m->build_id));
	json_object_set_new(o, "cwd", lz_json_text(m->cwd));
	json_object_set_new(o, "argv", list_json(m->argv));
	json_object_set_new(o, "envp", list_json(m->envp));
	json_object_set_new(o, "host", lz_json_text(m->host));
	json_object_set_new(o, "kernel", lz_json_text(m->kernel));
	json_object_set_new(o, "cpu", lz_json_text(m->cpu));
	set_int(o, "cpu_number", m->cpu_number);
	json_object_set_new(o, "features", lz_json_text(m->features));
	set_int(o, "start_time", m->start_time);
	set_int(o, "duration_ns", m->duration_ns);
	lz_json_status(o, m->exit_status);
	json_object_set_new(o, "stopped", lz_json_text(m->stopped));
	set_int(o, "chaos_seed", m->chaos_seed);
	json_object_set_new(o, "flow", lz_json_text(m->flow));
	json_object_set_new(o, "outside", list_json(m->outside));
	json_object_set_new(o, "instrumented",
	                    not_known_yet(r)
	                        ? json_null()
	                        : json_boolean(lz_reader_instrumented(r) || lz_reader_built(r)));
	return o;
}

static int print_json(const struct lz_reader *r, const struct threads *threads)
{
	json_t *o = meta_json(r, lz_reader_meta(r));
	const char *damage = lz_reader_damage(r);
	struct lz_stored stored = lz_reader_stored(r);

	set_int(o, "first_event", lz_reader_first_event(r));
	set_int(o, "first_time", lz_reader_first_marker(r));
	set_int(o, "events", lz_reader_n_events(r));
	set_int(o, "events_stored", stored.events);
	set_int(o, "marker_bytes", all_markers(r));
	set_int(o, "markers_stored", stored.markers);
	set_int(o, "marker_bytes_hashed", all_hashed(r));
	set_int(o, "marker_bytes_computed", all_computed(r));
	set_int(o, "index_stored", folder_bytes(r, LZ_INDEX_FOLDER));
	set_int(o, "checkpoints", lz_reader_n_checkpoints(r));
	set_int(o, "checkpoints_stored", stored.checkpoints);
	json_object_set_new(o, "streams", streams_json(r));
	json_object_set_new(o, "threads", threads_json(threads));
	set_int(o, "switches", threads->switches);
	json_object_set_new(o, "instants", lz_instants_json(&threads->instants));
	json_object_set_new(o, "files", files_json(r));
	set_int(o, "files_stored", folder_bytes(r, "files"));
	set_int(o, "sources_stored", sources_bytes(r));
	set_int(o, "bytes", lz_recording_bytes(lz_reader_dir(r)));
	json_object_set_new(o, "damage", damage ? lz_json_text(damage) : json_null());
	return lz_json_print(o);
}

/* ---- check ---- */

/* In bytes on disk. */
struct check {
	struct lz_reader *r;
	struct lz_progress progress;
	uint64_t before; /* of the parts that are checked */
};

/* I of the N pieces of a part of so many bytes are checked. */
static void checked(struct check *c, uint64_t bytes, uint64_t i, uint64_t n)
{
	lz_progress_show(&c->progress,
	                 c->before + (uint64_t)((double)bytes * (double)i / (double)n));
}

static int check_events(struct check *c, uint64_t bytes)
{
	uint64_t first = lz_reader_first_event(c->r), end = lz_reader_n_events(c->r);

	for (uint64_t i = first; i < end; i++) {
		if (!lz_reader_event(c->r, i))
			return -1;
		if (i % 1024 == 0)
			checked(c, bytes, i - first, end - first);
	}
	c->before += bytes;
	return 0;
}

/* Of what is only known by checksums: what was computed again. `lizard verify` compares the rest. */
static int check_computed(struct lz_reader *r, uint32_t tid, uint64_t start)
{
	uint8_t byte;

	return lz_reader_markers_kept(r, tid, start, &byte, 1) == 1
	           ? 0
	           : lz_fail(LZ_INDEX_FOLDER
	                     "/markers-%u: the markers from %" PRIu64
	                     " on are not those recorded; lizard index computes them again",
	                     tid, start);
}

static int check_block(struct lz_reader *r, uint32_t tid, uint32_t block)
{
	const bool hashed = lz_reader_block_hashed(r, tid, block, NULL);
	uint64_t start, len;
	uint8_t byte;

	if (hashed && !lz_reader_block_at_hand(r, tid, block))
		return 0;
	if (lz_reader_block(r, tid, block, &start, &len) < 0)
		return -1;
	if (hashed)
		return check_computed(r, tid, start);
	return lz_reader_markers(r, tid, start, &byte, 1) < 0 ? -1 : 0;
}

static int check_markers(struct check *c, uint64_t bytes)
{
	uint32_t threads = lz_reader_n_threads(c->r);

	for (uint32_t t = 0; t < threads; t++) {
		uint32_t tid = lz_reader_tid(c->r, t), n = lz_reader_n_blocks(c->r, tid);

		for (uint32_t i = 0; i < n; i++) {
			if (check_block(c->r, tid, i) < 0)
				return -1;
			checked(c, bytes, i, n);
		}
	}
	c->before += bytes;
	return 0;
}

static int check_checkpoints(struct check *c, uint64_t bytes)
{
	struct lz_image *im = lz_image_new(c->r);
	uint32_t n = lz_reader_n_checkpoints(c->r);
	int rc = im ? 0 : -1;

	for (uint32_t i = 0; !rc && i < n; i++) {
		rc = lz_image_seek(im, i);
		checked(c, bytes, i, n);
	}
	lz_image_free(im);
	return rc;
}

static int check(struct lz_reader *r)
{
	struct lz_stored n = lz_reader_stored(r);
	struct check c = {.r = r};
	int rc;

	lz_progress_begin(&c.progress, "checking the recording",
	                  n.events + n.markers + n.checkpoints);
	rc = check_events(&c, n.events);
	if (!rc)
		rc = check_markers(&c, n.markers);
	if (!rc)
		rc = check_checkpoints(&c, n.checkpoints);
	lz_progress_end(&c.progress);
	if (!rc && lz_reader_damage(r) && !*lz_reader_meta(r)->stopped)
		rc = lz_fail("%s", lz_reader_damage(r));
	return rc;
}

static int info(const char *what, bool json, bool full)
{
	char *dir = lz_find(what);
	struct lz_reader *r = dir ? lz_reader_open(dir) : NULL;
	int rc = r ? 0 : -1;

	struct threads threads = {0};

	if (r && find_threads(r, &threads) < 0)
		lz_warn("threads are not known: %s", lz_error());
	if (r && json)
		rc = print_json(r, &threads);
	else if (r)
		print_text(r, &threads);
	free(threads.v);
	if (r && full && !rc)
		rc = check(r);
	if (rc < 0)
		lz_warn("%s", lz_error());
	lz_reader_close(r);
	free(dir);
	return rc < 0 ? 1 : 0;
}

int lz_cmd_info(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
	                                        {"check", no_argument, NULL, 'c'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	bool json = false, full = false;
	int opt;

	while ((opt = lz_option(argc, argv, "jch", options)) != -1) {
		if (opt != 'j' && opt != 'c') {
			usage(opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : 2;
		}
		json |= opt == 'j';
		full |= opt == 'c';
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	return lz_finish_output(info(argv[optind], json, full));
}
