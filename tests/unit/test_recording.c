/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the writer wrote is what the reader gives back: events, markers, files, the description. */
#include "tests/unit/sample_pages.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/recording/frame.h>
#include <common/recording/worker.h>
#include <common/recording/writer.h>

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

static int wait_for(void *arg, bool go)
{
	return go ? sem_wait(arg) : -1;
}

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
	sem_t come; /* all of them have */
	int at;

	ck_assert_msg(w, "%s", lz_error());
	path = strdup(lz_writer_dir(w));
	ck_assert_int_eq(sem_init(&come, 0, 0), 0);
	ck_assert_int_eq(lz_worker_call(w->worker, wait_for, &come), 0);
	for (uint64_t i = 0; i < LEN; i++)
		stream[i] = stream_byte(i);
	for (uint64_t i = 0; i < LEN; i += PIECE)
		ck_assert_int_eq(lz_writer_markers(w, 77, stream + i, PIECE), 0);
	sem_post(&come);
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

static void claim_version(const char *path, int version)
{
	char file[128], digits[12];

	snprintf(file, sizeof(file), "%s/meta", path);
	snprintf(digits, sizeof(digits), "%02d", version);
	int fd = open(file, O_RDWR);
	ck_assert_int_eq(pwrite(fd, digits, 2, 17), 2);
	close(fd);
}

START_TEST(other_version)
{
	static const int unknown[] = {LZ_FORMAT_OLDEST - 1, LZ_FORMAT_VERSION + 1};
	char *path = record(NULL, true), text[64];

	for (int i = 0; i < 2; i++) {
		claim_version(path, unknown[i]);
		ck_assert_ptr_null(lz_reader_open(path));
		snprintf(text, sizeof(text), "format version %d", unknown[i]);
		ck_assert_ptr_nonnull(strstr(lz_error(), text));
		snprintf(text, sizeof(text), "versions %d to %d", LZ_FORMAT_OLDEST,
		         LZ_FORMAT_VERSION);
		ck_assert_ptr_nonnull(strstr(lz_error(), text));
	}
	claim_version(path, LZ_FORMAT_OLDEST);
	struct lz_reader *r = lz_reader_open(path);
	ck_assert_msg(r != NULL, "%s", lz_error());
	lz_reader_close(r);
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
	ck_assert_ptr_null(lz_reader_object_of(r, "/bin/bash"));
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
	ck_assert_ptr_null(lz_reader_object_of(r, "/bin/sh"));
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
	id = lz_reader_object_of(r, "/bin/sh");
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
	struct lz_write wr = {.addr = 0x1000, .len = len, .bytes = big};
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

static ino_t inode_of(const char *dir, const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_msg(stat(path, &st) == 0, "%s", path);
	return st.st_ino;
}

START_TEST(made_ahead)
{
	char next[80], rec[80];

	snprintf(next, sizeof(next), "%s/next", dir);
	snprintf(rec, sizeof(rec), "%s/rec", dir);
	struct lz_writer *w = lz_writer_ahead(next);
	struct lz_event ev = {.kind = LZ_EV_SYSCALL, .tid = 77};

	ck_assert_msg(w, "%s", lz_error());
	ck_assert_ptr_null(lz_writer_ahead(next));
	ino_t files = inode_of(next, "files"), events = inode_of(next, "events"),
	      markers = inode_of(next, "markers-next"), meta_1 = inode_of(next, "meta"),
	      meta_2 = inode_of(next, "meta.tmp");
	ck_assert_msg(lz_writer_begin(w, rec, &meta) == 0, "%s", lz_error());
	ck_assert_str_eq(lz_writer_dir(w), rec);
	ck_assert_int_lt(access(next, F_OK), 0);
	/* to begin makes no file */
	ck_assert_uint_eq(inode_of(rec, "files"), files);
	ck_assert_uint_eq(inode_of(rec, "events"), events);
	ck_assert_uint_eq(inode_of(rec, "markers-77"), markers);
	ck_assert_uint_eq(inode_of(rec, "meta"), meta_2);
	ck_assert_uint_eq(inode_of(rec, "meta.tmp"), meta_1);
	ck_assert(lz_recording_busy(rec));
	ck_assert_int_eq(lz_writer_event(w, &ev), 0);
	ck_assert_int_eq(lz_writer_finish(w, &meta), 0);
	ck_assert_uint_eq(inode_of(rec, "meta"), meta_1);
	struct lz_reader *r = open_recording(rec);
	ck_assert_ptr_null(lz_reader_damage(r));
	ck_assert_uint_eq(lz_reader_n_events(r), 1);
	ck_assert_uint_eq(lz_reader_n_threads(r), 1);
	ck_assert_uint_eq(lz_reader_tid(r, 0), 77);
	lz_reader_close(r);

	/* a recording is in its place */
	w = lz_writer_ahead(next);
	ck_assert_int_lt(lz_writer_begin(w, rec, &meta), 0);
	lz_writer_discard(w);
	ck_assert_int_lt(access(next, F_OK), 0);
	ck_assert_uint_eq(inode_of(rec, "events"), events);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("recording");
	TCase *t = tcase_create("all");

	fill_bytes();
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, round_trip);
	tcase_add_test(t, meta_comes_back);
	tcase_add_test(t, numbered);
	tcase_add_test(t, in_a_hurry);
	tcase_add_test(t, other_version);
	tcase_add_test(t, files);
	tcase_add_test(t, long_event);
	tcase_add_test(t, full_disk);
	tcase_add_test(t, positions);
	tcase_add_test(t, made_ahead);
	suite_add_tcase(s, t);
	return run_suite(s);
}
