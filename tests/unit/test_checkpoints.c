/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints come back page by page; what was cut or damaged ends consistently. */
#include "tests/unit/sample_pages.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int count_pages(void *arg, uint64_t addr, const uint8_t *page)
{
	uint64_t *last = arg;

	ck_assert_uint_gt(addr, last[0]);
	last[0] = addr;
	last[1]++;
	return 0;
}

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

/* A recording of two checkpoints: what comes behind the second one, and whether that is kept. */
struct ending {
	unsigned at;              /* of the second one: an event; 0: there is only the first one */
	unsigned events, markers; /* that come behind it */
	bool finish;
	uint32_t kept;
};

static const struct ending endings[] = {
    {101, 0, 0, false, 1}, /* nothing is behind it */
    {101, 2, 0, false, 2}, /* events are */
    {101, 0, 9, false, 2}, /* markers are */
    {98, 0, 0, false, 2},  /* event 97 replaces the program: its memory is needed */
    {0, 0, 0, false, 1},   /* the only one */
    {100, 1, 0, true, 1},  /* the program's end alone */
    {100, 1, 0, false, 2}, /* an event that is not the end */
    {100, 3, 0, true, 2},
};

START_TEST(last_checkpoint)
{
	const struct ending *e = &endings[_i];
	struct lz_writer *w = lz_writer_create(NULL, &meta);
	char *path = strdup(lz_writer_dir(w));
	struct lz_reader *r;

	put_checkpoint(w, 0, true, 0);
	put_events(w, 0, e->at);
	put_markers(w, 0, e->at * 100);
	if (e->at)
		put_checkpoint(w, 1, false, e->at);
	put_events(w, e->at, e->at + e->events);
	put_markers(w, e->at * 100, e->at * 100 + e->markers);
	ck_assert_int_eq(lz_writer_flush(w), 0);
	if (e->finish)
		ck_assert_int_eq(lz_writer_finish(w, &meta), 0);
	else
		lz_writer_abandon(w);
	r = open_recording(path);
	ck_assert_uint_eq(lz_reader_n_events(r), e->at + e->events);
	ck_assert_uint_eq(lz_reader_markers_len(r, 77), e->at * 100 + e->markers);
	ck_assert_uint_eq(lz_reader_n_checkpoints(r), e->kept);
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

int main(void)
{
	Suite *s = suite_create("checkpoints");
	TCase *t = tcase_create("all");

	fill_bytes();
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, checkpoints);
	tcase_add_test(t, killed);
	tcase_add_loop_test(t, last_checkpoint, 0, sizeof(endings) / sizeof(*endings));
	tcase_add_loop_test(t, cut_anywhere, 0, 3);
	tcase_add_test(t, flipped_payload);
	tcase_add_test(t, unsorted_is_refused);
	suite_add_tcase(s, t);
	return run_suite(s);
}
