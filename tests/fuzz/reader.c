/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads damaged copies of a recording in one process: reader DAMAGE WHOLE COPY FROM TO
 *
 * For each seed from FROM to TO the program DAMAGE damages a copy of the recording WHOLE; then the reader is asked for all that it
 * has, forwards and at random. That it ends, and what it touches, is the test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <lizard/error.h>
#include <lizard/recording.h>
#include <tests/fuzz/random.h>

enum { MOST_EVENTS = 20000, PIECE = 70000 };

static volatile uint64_t sink;

static void use_bytes(const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i += 61)
		sink += b[i];
	if (n)
		sink += b[n - 1];
}

static void use_event(struct lz_reader *r, uint64_t i)
{
	const struct lz_event *ev = lz_reader_event(r, i);

	if (!ev) {
		sink += strlen(lz_error());
		return;
	}
	for (uint32_t k = 0; k < ev->n_writes; k++)
		use_bytes(ev->writes[k].bytes, ev->writes[k].len);
	for (uint32_t k = 0; k < ev->n_ops; k++)
		sink += ev->ops[k].addr + ev->ops[k].file;
	use_bytes(ev->xstate, ev->xstate_len);
	sink += lz_reader_event_after_marker(r, ev->marker);
}

static void use_events(struct lz_reader *r)
{
	uint64_t n = lz_reader_n_events(r);

	for (uint64_t i = 0; i < n && i < MOST_EVENTS; i++)
		use_event(r, i);
	for (int i = 0; n && i < 100; i++)
		use_event(r, rnd() % n);
	use_event(r, n);
	use_event(r, UINT64_MAX);
}

static void use_stream(struct lz_reader *r, uint32_t tid)
{
	static uint8_t buf[PIECE];
	uint64_t len = lz_reader_markers_len(r, tid), start, n;

	for (uint64_t at = 0; at < len && at < 64 * (uint64_t)PIECE; at += PIECE)
		sink += (uint64_t)lz_reader_markers(r, tid, at, buf, PIECE);
	for (int i = 0; len && i < 20; i++)
		sink += (uint64_t)lz_reader_markers(r, tid, rnd() % len, buf, rnd() % PIECE);
	sink += (uint64_t)lz_reader_markers(r, tid, UINT64_MAX - 5, buf, PIECE);
	for (uint32_t i = 0; i <= lz_reader_n_blocks(r, tid); i++)
		if (lz_reader_block(r, tid, i, &start, &n) == 0)
			sink += start + n + lz_reader_block_of(r, tid, start);
}

static int use_page(void *arg, uint64_t addr, const uint8_t *page)
{
	(void)arg;
	sink += addr;
	use_bytes(page, 4096);
	return 0;
}

static void use_checkpoints(struct lz_reader *r)
{
	uint32_t n = lz_reader_n_checkpoints(r);
	struct lz_image *im = lz_image_new(r);

	for (uint32_t i = 0; i <= n && i < 200; i++) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);

		for (uint32_t k = 0; ck && k < ck->n_threads; k++)
			use_bytes(ck->threads[k].xstate, ck->threads[k].xstate_len);
		for (uint32_t k = 0; ck && k < ck->n_vmas; k++)
			sink += ck->vmas[k].start + ck->vmas[k].file;
		for (uint32_t k = 0; ck && k < ck->n_dirty; k++)
			sink += ck->dirty[k];
		sink += lz_reader_checkpoint_before(r, rnd(), rnd());
	}
	for (int i = 0; im && n && i < 10; i++)
		if (lz_image_seek(im, rnd() % n) == 0)
			lz_image_each(im, use_page, NULL);
	lz_image_free(im);
}

static void use(const char *dir)
{
	struct lz_reader *r = lz_reader_open(dir);

	if (!r) {
		sink += strlen(lz_error());
		return;
	}
	sink += lz_reader_damage(r) ? strlen(lz_reader_damage(r)) : 0;
	for (uint32_t i = 0; i <= lz_reader_n_files(r); i++) {
		const struct lz_file *f = lz_reader_file(r, i);
		char *copy = lz_reader_copy(r, i);

		sink += f ? strlen(f->path) + strlen(f->copy) : 0;
		free(copy);
	}
	use_events(r);
	for (uint32_t i = 0; i < lz_reader_n_threads(r); i++)
		use_stream(r, lz_reader_tid(r, i));
	use_checkpoints(r);
	lz_reader_close(r);
}

static int one(char **argv, unsigned long long s)
{
	char cmd[3 * 4096];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s' && cp -r '%s' '%s' && '%s' '%s' %llu >/dev/null",
	         argv[3], argv[2], argv[3], argv[1], argv[3], s);
	if (system(cmd) != 0) {
		fprintf(stderr, "not done: %s\n", cmd);
		return 1;
	}
	seed(s);
	use(argv[3]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: reader DAMAGE WHOLE COPY FROM TO\n");
		return 2;
	}
	for (uint64_t s = strtoull(argv[4], NULL, 10); s <= strtoull(argv[5], NULL, 10); s++) {
		/* For whoever finds it dead: the seed is the last line. */
		printf("%llu\n", (unsigned long long)s);
		fflush(stdout);
		if (one(argv, s))
			return 1;
	}
	return 0;
}
