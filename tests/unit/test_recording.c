/* What the writer wrote is what the reader gives back; what was cut ends consistently. */
#include "tests/unit/suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/frame.h>
#include <lizard/error.h>
#include <lizard/format.h>
#include <lizard/recording.h>

static char dir[64];

static void make_dir(void)
{
	strcpy(dir, "/tmp/lizard-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("LIZARD_TRACE_DIR", dir, 1);
}

static void remove_dir(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static struct lz_meta meta = {
    .program = "/usr/bin/prog",
    .build_id = "0123abcd",
    .cwd = "/home/with space",
    .argv = (char *[]){"prog", "", "a\nb\\c\x7f", "\xc3\xa4", NULL},
    .envp = (char *[]){"A=1", "PATH=/bin", NULL},
    .host = "host",
    .kernel = "Linux",
    .cpu = "CPU",
    .features = "avx2 xsave",
    .cpu_number = 3,
    .tid = 77,
    .stub_addr = 0x700000000000,
    .stub_len = 65536,
    .start_time = 1700000000,
    .duration_ns = 5000000000,
    .exit_status = 256,
    .instrumented = 1,
};

/* The stream: ENTER markers and edges with a pattern that any offset can be checked against. */
static uint8_t stream_byte(uint64_t i)
{
	return (uint8_t)(1 + (i * i / 7 + i) % 0xEF);
}

static void put_markers(struct lz_writer *w, uint64_t from, uint64_t to)
{
	uint8_t buf[60000];

	while (from < to) {
		size_t n = to - from < sizeof(buf) ? to - from : sizeof(buf);

		for (size_t i = 0; i < n; i++)
			buf[i] = stream_byte(from + i);
		ck_assert_int_eq(lz_writer_markers(w, 77, buf, n), 0);
		from += n;
	}
}

static uint8_t bytes[5000];

/* Event i: its kind and contents follow from i. */
static struct lz_event make_event(uint64_t i)
{
	static struct lz_write writes[2];
	static struct lz_map_op op = {.op = LZ_MAP,
	                              .addr = 0x10000,
	                              .len = 0x3000,
	                              .prot = 3,
	                              .flags = 2,
	                              .file = LZ_NO_FILE,
	                              .offset = 1ull << 40,
	                              .old_addr = 1ull << 46,
	                              .old_len = 0x5000};
	struct lz_event ev = {.tid = i % 4 == 3 ? 78 : 77,
	                      .marker = i * 100,
	                      .ip = 0x401000 + i,
	                      .time_ns = i * 1000,
	                      .map_id = i / 3,
	                      .flags = (uint32_t)(i & 1)};

	ev.kind = (uint8_t)(1 + i % 5);
	writes[0] = (struct lz_write){0x7fff0000 + i, i % 5000, bytes};
	writes[1] = (struct lz_write){UINT64_MAX - 10, 3, bytes + 7};
	switch (ev.kind) {
	case LZ_EV_SYSCALL:
		ev.nr = i % 400;
		for (unsigned k = 0; k < 6; k++)
			ev.args[k] = i << (k * 10);
		ev.result = i % 3 ? -(int64_t)(i % 100) : (int64_t)(0x7fff00000000 + i);
		ev.writes = writes;
		ev.n_writes = 2;
		ev.ops = &op;
		ev.n_ops = i % 3 == 0;
		break;
	case LZ_EV_SIGNAL:
		ev.signo = 11;
		memset(ev.siginfo, (int)i, sizeof(ev.siginfo));
		ev.has_regs = true;
		ev.regs.rip = i * 3;
		ev.xstate = bytes;
		ev.xstate_len = 2696;
		break;
	case LZ_EV_INSN: ev.insn = LZ_INSN_CPUID; break;
	case LZ_EV_EXIT: ev.status = 0x8b00 + (uint32_t)(i & 0x7f); break;
	case LZ_EV_SWITCH:
		ev.next = 78 + (uint32_t)(i % 9);
		ev.flags = i % 3 ? LZ_EVF_IN_CALL : LZ_EVF_SPIN;
		ev.nr = i % 3 ? i % 400 : 0;
		ev.args[5] = i % 3 ? ~i : 0;
		break;
	}
	return ev;
}

static void check_event(const struct lz_event *got, uint64_t i)
{
	struct lz_event want = make_event(i);

	ck_assert_msg(got, "event %llu: %s", (unsigned long long)i, lz_error());
	ck_assert_uint_eq(got->index, i);
	ck_assert_uint_eq(got->number, want.tid == 78 ? i / 4 : i - i / 4);
	ck_assert_uint_eq(got->kind, want.kind);
	ck_assert_uint_eq(got->flags, want.flags);
	ck_assert_uint_eq(got->tid, want.tid);
	ck_assert_uint_eq(got->marker, want.marker);
	ck_assert_uint_eq(got->ip, want.ip);
	ck_assert_uint_eq(got->time_ns, want.time_ns);
	ck_assert_uint_eq(got->map_id, want.map_id);
	ck_assert_uint_eq(got->nr, want.nr);
	ck_assert_mem_eq(got->args, want.args, sizeof(want.args));
	ck_assert_int_eq(got->result, want.result);
	ck_assert_uint_eq(got->signo, want.signo);
	ck_assert_mem_eq(got->siginfo, want.siginfo, sizeof(want.siginfo));
	ck_assert_uint_eq(got->insn, want.insn);
	ck_assert_uint_eq(got->status, want.status);
	ck_assert_uint_eq(got->next, want.next);
	ck_assert_int_eq(got->has_regs, want.has_regs);
	ck_assert_mem_eq(&got->regs, &want.regs, sizeof(want.regs));
	ck_assert_uint_eq(got->xstate_len, want.xstate_len);
	if (want.xstate_len)
		ck_assert_mem_eq(got->xstate, want.xstate, want.xstate_len);
	ck_assert_uint_eq(got->n_writes, want.n_writes);
	for (uint32_t k = 0; k < want.n_writes; k++) {
		ck_assert_uint_eq(got->writes[k].addr, want.writes[k].addr);
		ck_assert_uint_eq(got->writes[k].len, want.writes[k].len);
		if (want.writes[k].len)
			ck_assert_mem_eq(got->writes[k].bytes, want.writes[k].bytes,
			                 want.writes[k].len);
	}
	ck_assert_uint_eq(got->n_ops, want.n_ops);
	if (want.n_ops) {
		ck_assert_uint_eq(got->ops->op, want.ops->op);
		ck_assert_uint_eq(got->ops->addr, want.ops->addr);
		ck_assert_uint_eq(got->ops->len, want.ops->len);
		ck_assert_uint_eq(got->ops->prot, want.ops->prot);
		ck_assert_uint_eq(got->ops->flags, want.ops->flags);
		ck_assert_uint_eq(got->ops->file, want.ops->file);
		ck_assert_uint_eq(got->ops->offset, want.ops->offset);
		ck_assert_uint_eq(got->ops->old_addr, want.ops->old_addr);
		ck_assert_uint_eq(got->ops->old_len, want.ops->old_len);
	}
}

static void put_events(struct lz_writer *w, uint64_t from, uint64_t to)
{
	for (; from < to; from++) {
		struct lz_event ev = make_event(from);

		ck_assert_int_eq(lz_writer_event(w, &ev), 0);
		ck_assert_uint_eq(ev.index, from);
		ck_assert_uint_eq(ev.number, from % 4 == 3 ? from / 4 : from - from / 4);
	}
}

/* ---- a process of N_PAGES pages whose contents follow from (checkpoint, page) ---- */

enum { N_PAGES = 3000, BASE = 0x400000 };

static bool page_at(unsigned ck, unsigned page, uint8_t *out)
{
	unsigned version = 0;

	/* Page p changes at checkpoints that p + 1 divides into; every 11th page vanishes at odd ones. */
	for (unsigned c = 0; c <= ck; c++)
		if (c % (page % 5 + 1) == 0)
			version = c + 1;
	memset(out, 0, LZ_PAGE);
	if (page % 11 == 3 && ck % 2)
		return false;
	for (unsigned i = 0; i < LZ_PAGE; i += page % 7 + 1)
		out[i] = (uint8_t)(page * 7 + (i % 1024 ? 0 : version));
	out[LZ_PAGE - 1] = (uint8_t)version;
	return true;
}

static void put_checkpoint(struct lz_writer *w, unsigned n, bool whole, uint64_t event)
{
	static uint8_t now[N_PAGES][LZ_PAGE], old[N_PAGES][LZ_PAGE];
	static const uint8_t *pages[N_PAGES], *prev[N_PAGES];
	static uint64_t dirty[N_PAGES];
	uint8_t xstate[832];
	struct lz_vma vmas[] = {
	    {BASE, BASE + N_PAGES * LZ_PAGE / 2, 3, 2, 5, LZ_VMA_PLAIN, 4096},
	    {BASE + N_PAGES * LZ_PAGE / 2, BASE + N_PAGES * LZ_PAGE, 1, 2, LZ_NO_FILE, LZ_VMA_HEAP,
	     0},
	    {0xffffffffff600000, 0xffffffffff601000, 5, 2, LZ_NO_FILE, LZ_VMA_PLAIN, 0}};
	struct lz_thread_state t = {.tid = 77,
	                            .xstate = xstate,
	                            .xstate_len = sizeof(xstate),
	                            .marker = event * 100,
	                            .buffer = 0x10000,
	                            .buffer_start = 5};
	struct lz_checkpoint ck = {.whole = whole,
	                           .pos = {77, 1, event, event * 100, 0x401234},
	                           .time_ns = n,
	                           .map_id = 3,
	                           .brk = 0x1234000,
	                           .stack_limit = 8 << 20,
	                           .threads = &t,
	                           .n_threads = 1,
	                           .vmas = vmas,
	                           .n_vmas = 3,
	                           .dirty = dirty};

	memset(xstate, (int)n, sizeof(xstate));
	t.regs.rax = n;
	for (unsigned p = 0; p < N_PAGES; p++) {
		bool is = page_at(n, p, now[p]), was = n && page_at(n - 1, p, old[p]);

		if (whole ? !is : is == was && !memcmp(now[p], old[p], LZ_PAGE))
			continue;
		pages[ck.n_dirty] = is ? now[p] : NULL;
		prev[ck.n_dirty] = was ? old[p] : NULL;
		dirty[ck.n_dirty++] = BASE + (uint64_t)p * LZ_PAGE;
	}
	ck_assert_msg(!lz_writer_checkpoint(w, &ck, pages, whole ? NULL : prev), "%s", lz_error());
	ck_assert_uint_eq(ck.index, n);
}

static void check_image(const struct lz_image *im, unsigned n)
{
	uint8_t want[LZ_PAGE];

	for (unsigned p = 0; p < N_PAGES; p++) {
		const uint8_t *got = lz_image_page(im, BASE + (uint64_t)p * LZ_PAGE);

		if (page_at(n, p, want))
			ck_assert_mem_eq(got, want, LZ_PAGE);
		else
			ck_assert_ptr_null(got);
	}
	ck_assert_ptr_null(lz_image_page(im, BASE - LZ_PAGE));
}

static int count_pages(void *arg, uint64_t addr, const uint8_t *page)
{
	uint64_t *last = arg;

	ck_assert_uint_gt(addr, last[0]);
	last[0] = addr;
	last[1]++;
	return 0;
}

/* The recording of all the tests here: N_CK checkpoints, 1000 events and 2.5 MB of markers. */
enum { N_CK = 10, EVENTS_EACH = 100 };
#define MARKERS_EACH 250000ull

static char *record(const char *path, bool finish)
{
	struct lz_writer *w = lz_writer_create(path, &meta);
	char *where;

	ck_assert_msg(w, "%s", lz_error());
	where = strdup(lz_writer_dir(w));
	for (unsigned i = 0; i < N_CK; i++) {
		put_checkpoint(w, i, i % 4 == 0, i * EVENTS_EACH);
		ck_assert_int_eq(lz_writer_flush(w), 0);
		put_events(w, i * EVENTS_EACH, (i + 1) * EVENTS_EACH);
		put_markers(w, i * MARKERS_EACH, (i + 1) * MARKERS_EACH);
	}
	if (finish)
		ck_assert_msg(!lz_writer_finish(w, &meta), "%s", lz_error());
	else
		lz_writer_abandon(w);
	return where;
}

static struct lz_reader *open_recording(const char *path)
{
	struct lz_reader *r = lz_reader_open(path);

	ck_assert_msg(r, "%s", lz_error());
	return r;
}

static void check_markers(struct lz_reader *r, uint64_t from, size_t len)
{
	uint8_t *buf = malloc(len);
	int64_t n = lz_reader_markers(r, 77, from, buf, len);

	ck_assert_int_eq(n, (int64_t)len);
	for (size_t i = 0; i < len; i++)
		if (buf[i] != stream_byte(from + i))
			ck_abort_msg("marker byte %zu", i);
	free(buf);
}

START_TEST(round_trip)
{
	char *path = record(NULL, true);
	struct lz_reader *r = open_recording(path);
	uint64_t start, len, at = 0;

	ck_assert_ptr_null(lz_reader_damage(r));
	ck_assert_uint_eq(lz_reader_n_events(r), N_CK * EVENTS_EACH);
	for (uint64_t i = 0; i < N_CK * EVENTS_EACH; i++)
		check_event(lz_reader_event(r, i), i);
	for (uint64_t i = N_CK * EVENTS_EACH; i-- > 0;)
		check_event(lz_reader_event(r, i), i);
	ck_assert_ptr_null(lz_reader_event(r, N_CK * EVENTS_EACH));
	for (uint64_t m = 0; m < 1001; m += 7) {
		const struct lz_event *ev = lz_reader_event(r, 17);

		ck_assert_uint_eq(lz_reader_event_after_marker(r, m * 100), m < 1000 ? m : 1000);
		ck_assert_uint_eq(lz_reader_event_after_marker(r, m * 100 + 1),
		                  m < 999 ? m + 1 : 1000);
		check_event(ev, 17);
	}

	ck_assert_uint_eq(lz_reader_n_threads(r), 1);
	ck_assert_uint_eq(lz_reader_tid(r, 0), 77);
	ck_assert_uint_eq(lz_reader_markers_len(r, 77), N_CK * MARKERS_EACH);
	check_markers(r, 0, N_CK * MARKERS_EACH);
	for (uint64_t o = 1; o < N_CK * MARKERS_EACH - 5000; o += 99991)
		check_markers(r, o, 5000);
	ck_assert_int_eq(lz_reader_markers(r, 77, N_CK * MARKERS_EACH - 3, bytes, 10), 3);
	ck_assert_int_eq(lz_reader_markers(r, 77, N_CK * MARKERS_EACH, bytes, 10), 0);
	for (uint32_t i = 0; i < lz_reader_n_blocks(r, 77); i++) {
		ck_assert_int_eq(lz_reader_block(r, 77, i, &start, &len), 0);
		ck_assert_uint_eq(start, at);
		at += len;
	}
	ck_assert_uint_eq(at, N_CK * MARKERS_EACH);
	lz_reader_close(r);
	free(path);
}
END_TEST

START_TEST(checkpoints)
{
	char *path = record(NULL, true);
	struct lz_reader *r = open_recording(path);
	struct lz_image *im = lz_image_new(r);
	static const unsigned order[] = {0, 1, 2, 9, 8, 3, 7, 5, 5, 0, 6};
	uint64_t pages[2] = {0, 0};

	ck_assert_uint_eq(lz_reader_n_checkpoints(r), N_CK);
	for (uint32_t i = 0; i < N_CK; i++) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);

		ck_assert_msg(ck, "%s", lz_error());
		ck_assert_uint_eq(ck->index, i);
		ck_assert_int_eq(ck->whole, i % 4 == 0);
		ck_assert_int_eq(lz_reader_checkpoint_whole(r, i), i % 4 == 0);
		ck_assert_uint_gt(lz_reader_checkpoint_size(r, i), 1000);
		ck_assert_uint_eq(ck->pos.event, i * EVENTS_EACH);
		ck_assert_uint_eq(ck->pos.ip, 0x401234);
		ck_assert_uint_eq(ck->n_threads, 1);
		ck_assert_uint_eq(ck->threads->regs.rax, i);
		ck_assert_uint_eq(ck->threads->xstate[831], i);
		ck_assert_uint_eq(ck->threads->buffer_start, 5);
		ck_assert_uint_eq(ck->n_vmas, 3);
		ck_assert_uint_eq(ck->vmas[0].file, 5);
		ck_assert_uint_eq(ck->vmas[2].start, 0xffffffffff600000);
		ck_assert_uint_eq(ck->vmas[2].end, 0xffffffffff601000);
		ck_assert_uint_eq(lz_reader_checkpoint_before(r, i * EVENTS_EACH + 5, UINT64_MAX),
		                  i);
		ck_assert_uint_eq(lz_reader_checkpoint_before(r, UINT64_MAX, i * EVENTS_EACH * 100),
		                  i);
	}
	ck_assert_ptr_null(lz_reader_checkpoint(r, N_CK));
	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		ck_assert_msg(!lz_image_seek(im, order[i]), "%s", lz_error());
		check_image(im, order[i]);
	}
	ck_assert_int_eq(lz_image_seek(im, 0), 0);
	ck_assert_int_eq(lz_image_each(im, count_pages, pages), 0);
	ck_assert_uint_eq(pages[1], N_PAGES);
	ck_assert_int_eq(lz_image_seek(im, N_CK), -1);
	lz_image_free(im);
	lz_reader_close(r);
	free(path);
}
END_TEST

START_TEST(meta_comes_back)
{
	char *path = record(NULL, true), *found;
	struct lz_meta m;

	ck_assert_msg(!lz_meta_read(path, &m), "%s", lz_error());
	ck_assert_uint_eq(m.version, LZ_FORMAT_VERSION);
	ck_assert_int_eq(m.state, LZ_REC_COMPLETE);
	ck_assert_str_eq(m.program, meta.program);
	ck_assert_str_eq(m.cwd, meta.cwd);
	for (int i = 0; i < 4; i++)
		ck_assert_str_eq(m.argv[i], meta.argv[i]);
	ck_assert_ptr_null(m.argv[4]);
	ck_assert_str_eq(m.envp[1], "PATH=/bin");
	ck_assert_ptr_null(m.envp[2]);
	ck_assert_uint_eq(m.tid, 77);
	ck_assert_uint_eq(m.stub_addr, meta.stub_addr);
	ck_assert_int_eq(m.exit_status, 256);
	ck_assert_uint_eq(m.n_events, N_CK * EVENTS_EACH);
	ck_assert_uint_eq(m.n_markers_bytes, N_CK * MARKERS_EACH);
	ck_assert_uint_eq(m.n_checkpoints, N_CK);
	lz_meta_free(&m);

	/* Found as a directory, by name, and by program. */
	ck_assert_int_eq(chdir(dir), 0);
	static const char *names[] = {"prog-1", "./prog-1", "prog", "./prog", "/usr/bin/prog"};
	for (int i = 0; i < 5; i++) {
		found = lz_recording_find(names[i]);
		ck_assert_msg(found, "%s", lz_error());
		ck_assert_int_eq(lz_meta_read(found, &m), 0);
		lz_meta_free(&m);
		free(found);
	}
	ck_assert_ptr_null(lz_recording_find("prig"));
	free(path);
}
END_TEST

START_TEST(numbered)
{
	char *first = record(NULL, true), *second = record(NULL, false), *latest;
	char want[80], link[64] = "";

	snprintf(want, sizeof(want), "%s/prog-2", dir);
	ck_assert_str_eq(second, want);
	snprintf(want, sizeof(want), "%s/prog-latest", dir);
	ck_assert_int_gt(readlink(want, link, sizeof(link) - 1), 0);
	ck_assert_str_eq(link, "prog-2");
	/* what is found stays what it is when a newer one is made */
	latest = lz_recording_find("prog");
	ck_assert_str_eq(latest, second);
	/* A directory with something in it is left alone. */
	ck_assert_ptr_null(lz_writer_create(first, &meta));
	free(latest);
	free(first);
	free(second);
}
END_TEST

/* Markers that come faster than zstd packs them: LZ4 packs those that would have to wait. */
START_TEST(in_a_hurry)
{
	enum { LEN = 24 << 20, PIECE = 1 << 20 };
	uint8_t *stream = malloc(LEN);
	struct lz_writer *w = lz_writer_create(NULL, &meta);
	uint32_t frames[LZ_CODECS] = {0};
	struct lz_frames fs;
	struct lz_reader *r;
	char *path;
	int at;

	ck_assert_msg(w, "%s", lz_error());
	path = strdup(lz_writer_dir(w));
	for (uint64_t i = 0; i < LEN; i++)
		stream[i] = stream_byte(i);
	for (uint64_t i = 0; i < LEN; i += PIECE)
		ck_assert_int_eq(lz_writer_markers(w, 77, stream + i, PIECE), 0);
	ck_assert_msg(!lz_writer_finish(w, &meta), "%s", lz_error());
	at = open(path, O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(lz_frames_open(at, "markers-77", &fs), 0);
	for (uint32_t i = 0; i < fs.n; i++)
		frames[fs.v[i].codec]++;
	lz_frames_close(&fs);
	close(at);
	ck_assert_uint_gt(frames[LZ_CODEC_LZ4], 0);
	ck_assert_uint_gt(frames[LZ_CODEC_ZSTD], 0); /* the last ones do not wait long */
	r = open_recording(path);
	check_markers(r, 0, LEN);
	lz_reader_close(r);
	free(path);
	free(stream);
}
END_TEST

START_TEST(killed)
{
	char *path = record(NULL, false);
	struct lz_reader *r = open_recording(path);
	struct lz_image *im = lz_image_new(r);

	/* Ends at the last flush, which came with the last checkpoint. */
	ck_assert_ptr_nonnull(lz_reader_damage(r));
	ck_assert_uint_eq(lz_reader_n_checkpoints(r), N_CK);
	ck_assert_uint_eq(lz_reader_n_events(r), (N_CK - 1) * EVENTS_EACH);
	ck_assert_uint_eq(lz_reader_markers_len(r, 77), (N_CK - 1) * MARKERS_EACH);
	check_markers(r, 0, (N_CK - 1) * MARKERS_EACH);
	check_event(lz_reader_event(r, (N_CK - 1) * EVENTS_EACH - 1), (N_CK - 1) * EVENTS_EACH - 1);
	ck_assert_int_eq(lz_image_seek(im, N_CK - 1), 0);
	check_image(im, N_CK - 1);
	lz_image_free(im);
	lz_reader_close(r);
	free(path);
}
END_TEST

static const char *const parts[] = {"events", "markers-77", "checkpoints"};

/* Whatever file is cut wherever: what is shown is consistent and right. */
START_TEST(cut_anywhere)
{
	char *path = record(NULL, true), file[128];
	struct stat st;
	struct lz_reader *r;
	uint64_t n, last = UINT64_MAX;

	snprintf(file, sizeof(file), "%s/%s", path, parts[_i]);
	ck_assert_int_eq(stat(file, &st), 0);
	for (int i = 29; i >= 0; i--) {
		ck_assert_int_eq(truncate(file, st.st_size * i / 30 + (i & 1)), 0);
		r = open_recording(path);
		n = lz_reader_n_events(r);
		ck_assert_ptr_nonnull(lz_reader_damage(r));
		ck_assert_uint_le(n, last);
		ck_assert_uint_eq(n % EVENTS_EACH, 0);
		ck_assert_uint_eq(lz_reader_markers_len(r, 77), n / EVENTS_EACH * MARKERS_EACH);
		ck_assert_uint_eq(lz_reader_n_checkpoints(r),
		                  n || lz_reader_n_checkpoints(r) ? n / EVENTS_EACH + 1 : 0);
		if (n) {
			check_event(lz_reader_event(r, n - 1), n - 1);
			check_markers(r, n / EVENTS_EACH * MARKERS_EACH - 1000, 1000);
		}
		last = n;
		lz_reader_close(r);
	}
	ck_assert_uint_eq(last, 0);
	ck_assert_int_eq(unlink(file), 0);
	r = open_recording(path);
	ck_assert_ptr_nonnull(lz_reader_damage(r));
	ck_assert_uint_eq(lz_reader_n_events(r), 0);
	lz_reader_close(r);
	free(path);
}
END_TEST

START_TEST(flipped_payload)
{
	char *path = record(NULL, true), file[128];
	struct lz_reader *r;
	int fd;

	/* In the middle of the first checkpoint's pages: found when they are read, named then. */
	snprintf(file, sizeof(file), "%s/checkpoints", path);
	fd = open(file, O_RDWR);
	ck_assert_int_eq(pwrite(fd, "\xaa\x55\xaa", 3, 5000), 3);
	close(fd);
	r = open_recording(path);
	struct lz_image *im = lz_image_new(r);
	ck_assert_int_eq(lz_image_seek(im, 2), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "checksum"));
	ck_assert_int_eq(lz_image_seek(im, 5), 0);
	check_image(im, 5);
	lz_image_free(im);
	lz_reader_close(r);
	free(path);
}
END_TEST

START_TEST(other_version)
{
	char *path = record(NULL, true), file[128];
	int fd;

	snprintf(file, sizeof(file), "%s/meta", path);
	fd = open(file, O_RDWR);
	ck_assert_int_eq(pwrite(fd, "7", 1, 17), 1);
	close(fd);
	ck_assert_ptr_null(lz_reader_open(path));
	ck_assert_ptr_nonnull(strstr(lz_error(), "version 7"));
	snprintf(file, sizeof(file), "version %d", LZ_FORMAT_VERSION);
	ck_assert_ptr_nonnull(strstr(lz_error(), file));
	free(path);
}
END_TEST

static void flip_last_byte(int fd)
{
	off_t last = lseek(fd, -1, SEEK_END);
	uint8_t byte;

	ck_assert_int_eq(pread(fd, &byte, 1, last), 1);
	byte ^= 0x10;
	ck_assert_int_eq(pwrite(fd, &byte, 1, last), 1);
}

START_TEST(files)
{
	struct lz_writer *w = lz_writer_create(NULL, &meta);
	char *path = strdup(lz_writer_dir(w)), copy[256], cmd[600];
	uint32_t a, b, c, d;
	struct lz_reader *r;

	ck_assert_int_eq(lz_writer_file(w, "/bin/sh", -1, &a), 0);
	ck_assert_int_eq(lz_writer_file(w, "/etc/passwd", -1, &b), 0);
	ck_assert_int_eq(lz_writer_file(w, "/bin/sh", -1, &c), 0);
	ck_assert_int_eq(lz_writer_file(w, "/dev/null", -1, &d), 0);
	ck_assert_int_eq(lz_writer_file(w, "/nonexistent", -1, &d), -1);
	ck_assert_uint_eq(a, 0);
	ck_assert_uint_eq(b, 1);
	ck_assert_uint_eq(c, 0);
	ck_assert_int_eq(lz_writer_finish(w, &meta), 0);

	r = open_recording(path);
	ck_assert_uint_eq(lz_reader_n_files(r), 3);
	ck_assert_str_eq(lz_reader_file(r, 0)->path, "/bin/sh");
	ck_assert_uint_ge(strlen(lz_reader_file(r, 0)->build_id), 16);
	ck_assert_str_eq(lz_reader_file(r, 1)->build_id, "");
	ck_assert_str_eq(lz_reader_file(r, 2)->copy, "");
	ck_assert_ptr_null(lz_reader_file(r, 3));
	ck_assert_ptr_null(lz_reader_copy(r, 2));
	ck_assert_ptr_nonnull(strstr(lz_error(), "did not keep"));
	ck_assert_ptr_null(lz_reader_copy(r, 3));
	ck_assert_ptr_null(lz_reader_copy_of(r, "/bin/bash"));
	snprintf(copy, sizeof(copy), "%s/files/%s", path, lz_reader_file(r, 0)->copy);
	snprintf(cmd, sizeof(cmd), "cmp /bin/sh '%s'", copy);
	ck_assert_int_eq(system(cmd), 0);
	char *id = lz_build_id(copy);
	ck_assert_str_eq(id, lz_reader_file(r, 0)->build_id);
	free(id);
	lz_reader_close(r);

	/* A copy that is not what was written does not count as one. */
	int fd = open(copy, O_RDWR);
	ck_assert_int_eq(pwrite(fd, "X", 1, 1), 1);
	r = open_recording(path);
	ck_assert_ptr_nonnull(strstr(lz_reader_damage(r), "checksum"));
	ck_assert_str_eq(lz_reader_file(r, 0)->copy, "");
	ck_assert_ptr_null(lz_reader_copy(r, 0));
	ck_assert_ptr_nonnull(strstr(lz_error(), lz_reader_file(r, 0)->damage));
	ck_assert_ptr_null(lz_reader_copy_of(r, "/bin/sh"));
	ck_assert_ptr_nonnull(strstr(lz_error(), "damaged"));
	lz_reader_close(r);
	ck_assert_int_eq(pwrite(fd, "E", 1, 1), 1);
	flip_last_byte(fd);
	r = open_recording(path);
	ck_assert_ptr_nonnull(strstr(lz_reader_damage(r), "checksum"));
	lz_reader_close(r);
	flip_last_byte(fd);
	close(fd);
	r = open_recording(path);
	ck_assert_ptr_null(lz_reader_damage(r));
	id = lz_reader_copy_of(r, "/bin/sh");
	ck_assert_str_eq(id, copy);
	free(id);
	lz_reader_close(r);
	ck_assert_int_eq(truncate(copy, 1000), 0);
	r = open_recording(path);
	ck_assert_ptr_nonnull(strstr(lz_reader_damage(r), "of "));
	ck_assert_str_eq(lz_reader_file(r, 0)->copy, "");
	lz_reader_close(r);
	unlink(copy);
	ck_assert_int_eq(mkfifo(copy, 0600), 0);
	r = open_recording(path);
	ck_assert_ptr_nonnull(strstr(lz_reader_damage(r), "not a file"));
	ck_assert_str_eq(lz_reader_file(r, 0)->copy, "");
	lz_reader_close(r);
	free(path);
}
END_TEST

/* A frame of one event may be as long as the longest read that is made in practice. */
START_TEST(long_event)
{
	struct lz_writer *w = lz_writer_create(NULL, &meta);
	char *path = strdup(lz_writer_dir(w));
	size_t len = 100 << 20;
	uint8_t *big = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct lz_write wr = {0x1000, len, big};
	struct lz_event ev = {.kind = LZ_EV_SYSCALL, .tid = 77, .writes = &wr, .n_writes = 1};
	struct lz_reader *r;

	big[len - 1] = 42;
	ck_assert_int_eq(lz_writer_event(w, &ev), 0);
	ck_assert_int_eq(lz_writer_finish(w, &meta), 0);
	r = open_recording(path);
	ck_assert_uint_eq(lz_reader_event(r, 0)->writes[0].len, len);
	ck_assert_uint_eq(lz_reader_event(r, 0)->writes[0].bytes[len - 1], 42);
	lz_reader_close(r);
	munmap(big, len);
	free(path);
}
END_TEST

/* No room: an error in every call from then on, and what was flushed before can be read. */
START_TEST(full_disk)
{
	static uint8_t noise[LZ_BLOCK_MAX];
	struct lz_writer *w = lz_writer_create(NULL, &meta);
	char *path = strdup(lz_writer_dir(w));
	struct rlimit limit = {10 << 20, 10 << 20};
	struct lz_event ev = make_event(0);
	struct lz_reader *r;
	int rnd = open("/dev/urandom", O_RDONLY), failed = 0;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(read(rnd, noise, sizeof(noise)), sizeof(noise));
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)(1 + (uint8_t)noise[i] % 0xEF);
	for (int i = 0; i < 200; i++) {
		if (!failed)
			lz_writer_flush(w);
		failed += lz_writer_markers(w, 77, noise, sizeof(noise)) < 0;
	}
	ck_assert_int_gt(failed, 50);
	ck_assert_int_eq(lz_writer_event(w, &ev), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "markers-77"));
	ck_assert_int_eq(lz_writer_finish(w, &meta), -1);
	r = open_recording(path);
	ck_assert_ptr_nonnull(lz_reader_damage(r));
	ck_assert_uint_gt(lz_reader_markers_len(r, 77), 8 << 20);
	ck_assert_uint_eq(lz_reader_markers_len(r, 77) % LZ_BLOCK_MAX, 0);
	lz_reader_close(r);
	close(rnd);
	free(path);
}
END_TEST

START_TEST(unsorted_is_refused)
{
	struct lz_writer *w = lz_writer_create(NULL, &meta);
	uint64_t dirty[] = {0x2000, 0x1000};
	const uint8_t *pages[] = {bytes, bytes};
	struct lz_checkpoint ck = {.whole = true, .dirty = dirty, .n_dirty = 2};

	ck_assert_int_eq(lz_writer_checkpoint(w, &ck, pages, NULL), -1);
	lz_writer_abandon(w);
}
END_TEST

START_TEST(positions)
{
	struct lz_pos p = {77, 3, 1234567, 98765432101234, 0x401136}, q;
	char text[LZ_POS_TEXT];
	static const char *const bad[] = {"",
	                                  "77",
	                                  "77:1",
	                                  "77:1.2",
	                                  "77:1.2@",
	                                  "77:1.2@0x4#",
	                                  "77:1.2@0x4#0",
	                                  "x:1.2@4",
	                                  "-1:1.2@4",
	                                  "77:1.2@0x4#1x",
	                                  "77: 1.2@4",
	                                  "99999999999:1.2@4"};

	lz_pos_print(&p, text);
	ck_assert_str_eq(text, "77:98,765,432,101,234.1,234,567@0x401136#3");
	ck_assert_int_eq(lz_pos_parse(text, &q), 0);
	ck_assert_mem_eq(&p, &q, sizeof(p));
	ck_assert_int_eq(lz_pos_parse("77:98765432101234.1234567@0x401136", &q), 0);
	ck_assert_uint_eq(q.n, 1);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(lz_pos_parse(bad[i], &q) == -1, "%s", bad[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("recording");
	TCase *t = tcase_create("all");

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 31 >> 3);
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, round_trip);
	tcase_add_test(t, checkpoints);
	tcase_add_test(t, meta_comes_back);
	tcase_add_test(t, numbered);
	tcase_add_test(t, in_a_hurry);
	tcase_add_test(t, killed);
	tcase_add_loop_test(t, cut_anywhere, 0, 3);
	tcase_add_test(t, flipped_payload);
	tcase_add_test(t, other_version);
	tcase_add_test(t, files);
	tcase_add_test(t, long_event);
	tcase_add_test(t, full_disk);
	tcase_add_test(t, unsorted_is_refused);
	tcase_add_test(t, positions);
	suite_add_tcase(s, t);
	return run_suite(s);
}
