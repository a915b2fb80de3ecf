/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A made-up recording of threads that share one marker stream: calls, exits, handlers' and landings' markers, cut by random
 * switches. */
#ifndef LIZARD_TEST_MADE_THREADS_H
#define LIZARD_TEST_MADE_THREADS_H

#include <check.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <replayer/stream/inside.h>
#include <replayer/stream/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_TID = 500, THREADS_MAX = 8, SIZE = 6000, SWITCHES_MAX = 4000 };

/* A thread's own markers, and where each byte is in the stream. */
struct made_thread {
	uint32_t tid;
	bool ended, has_run;
	uint8_t bytes[SIZE];
	uint64_t at[SIZE];
	size_t n;
	uint32_t depth;
};

struct made {
	struct made_thread s[THREADS_MAX];
	uint32_t n, running;
	uint8_t bytes[SIZE];
	uint8_t owner[SIZE];
	bool boundary[SIZE + 1];
	size_t len;
	struct {
		uint64_t at;
		uint32_t from;
	} switches[SWITCHES_MAX];
	size_t n_switches;
	uint64_t events;
	struct lz_writer *w;
	struct lz_reader *r;
	struct lz_turns turns;
	struct lz_stream_threads threads;
	struct lz_modules *modules;
	struct lz_stream *stream;
};

static char dir[64];

static struct lz_meta meta = {.program = "/usr/bin/prog",
                              .build_id = "",
                              .cwd = "/",
                              .argv = (char *[]){"prog", NULL},
                              .envp = (char *[]){NULL},
                              .host = "host",
                              .kernel = "Linux",
                              .cpu = "CPU",
                              .features = "",
                              .tid = FIRST_TID,
                              .exit_status = 0};

/* ---- making ---- */

static void put(struct made *m, const uint8_t *marker, unsigned size)
{
	struct made_thread *s = &m->s[m->running];

	ck_assert_uint_le(m->len + size, SIZE);
	for (unsigned i = 0; i < size; i++) {
		m->owner[m->len] = (uint8_t)m->running;
		s->at[s->n] = m->len;
		s->bytes[s->n++] = marker[i];
		m->bytes[m->len++] = marker[i];
	}
	m->boundary[m->len] = true;
	ck_assert_int_eq(lz_writer_markers(m->w, FIRST_TID, marker, size), 0);
	if (random() % 200 == 0) /* blocks of all sizes */
		ck_assert_int_eq(lz_writer_flush(m->w), 0);
}

/* Calls, returns, edges, and now and then a landing on one of a few frames. */
static void put_random(struct made *m)
{
	struct made_thread *s = &m->s[m->running];
	uint8_t marker[LZ_MARKER_MAX_SIZE];
	uint32_t entry = 0x1000 + (uint32_t)(random() % 12), frame;

	switch (s->depth ? random() % 8 : 0) {
	case 0:
	case 1:
		marker[0] = LZ_ENTER;
		s->depth++;
		break;
	case 2:
		marker[0] = random() % 9 ? LZ_EXIT : LZ_TAIL;
		s->depth--;
		break;
	case 3:
		marker[0] = random() % 4 ? 200 : LZ_LANDING;
		/* the same frames in all threads: only the thread tells them apart */
		frame = 0x100 + (uint32_t)(random() % 3);
		memcpy(marker + 5, &frame, 4);
		break;
	default: marker[0] = (uint8_t)(1 + random() % LZ_EDGE_MAX);
	}
	memcpy(marker + 1, &entry, 4);
	put(m, marker, lz_marker_size(marker[0]));
}

static void put_event(struct made *m, struct lz_event *ev)
{
	ev->tid = m->s[m->running].tid;
	ev->marker = m->len;
	ck_assert_int_eq(lz_writer_event(m->w, ev), 0);
	m->events++;
}

static uint32_t new_thread(struct made *m, uint32_t tid)
{
	struct lz_event ev = {.kind = LZ_EV_SYSCALL, .nr = 56, .args = {0x10000}, .result = tid};

	put_event(m, &ev);
	m->s[m->n].tid = tid;
	return m->n++;
}

static void switch_to(struct made *m, uint32_t thread)
{
	struct lz_event ev = {.kind = LZ_EV_SWITCH, .next = m->s[thread].tid, .has_regs = true};

	ev.regs.rip = 0x401000;
	ev.flags = random() % 3 ? 0 : LZ_EVF_IN_CALL;
	if (m->s[m->running].ended)
		ev.flags = 0;
	put_event(m, &ev);
	ck_assert_uint_lt(m->n_switches, SWITCHES_MAX);
	m->switches[m->n_switches].at = m->len;
	m->switches[m->n_switches++].from = m->running;
	m->running = thread;
	m->s[thread].has_run = true;
}

static void end_thread(struct made *m)
{
	struct lz_event ev = {.kind = LZ_EV_SYSCALL, .nr = 60, .flags = LZ_EVF_THREAD_END};

	put_event(m, &ev);
	m->s[m->running].ended = true;
}

static uint32_t any_other(struct made *m)
{
	uint32_t i;

	do {
		i = (uint32_t)(random() % m->n);
	} while (i == m->running || m->s[i].ended);
	return i;
}

static void make(struct made *m, unsigned seed)
{
	struct lz_checkpoint ck = {.whole = true, .pos = {.tid = FIRST_TID, .n = 1}};
	struct lz_thread_state first = {.tid = FIRST_TID};

	srandom(seed);
	memset(m, 0, sizeof(*m));
	strcpy(dir, "/tmp/lizard-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	m->w = lz_writer_create(dir, &meta);
	ck_assert_msg(m->w != NULL, "%s", lz_error());
	ck.threads = &first;
	ck.n_threads = 1;
	ck_assert_int_eq(lz_writer_checkpoint(m->w, &ck, NULL, NULL), 0);
	m->s[0] = (struct made_thread){.tid = FIRST_TID, .has_run = true};
	m->n = 1;
	new_thread(m, 501);
	new_thread(m, 502);
	while (m->len < SIZE - 16) {
		if (random() % 25 == 0)
			switch_to(m, any_other(m)); /* some turns write nothing */
		else
			put_random(m);
		/* a thread ends, and its number is used again */
		if (m->len > SIZE / 2 && m->n == 3 && m->running == 1) {
			end_thread(m);
			switch_to(m, 2);
			new_thread(m, 501);
		}
	}
	ck_assert_int_eq(lz_writer_finish(m->w, &meta), 0);
	m->r = lz_reader_open(dir);
	ck_assert_msg(m->r != NULL, "%s", lz_error());
	ck_assert_msg(!lz_turns_read(&m->turns, m->r), "%s", lz_error());
	ck_assert_int_eq(lz_stream_threads_init(&m->threads, &m->turns), 0);
	m->modules = lz_modules_new(m->r);
	ck_assert_msg(m->modules != NULL, "%s", lz_error());
	m->stream = lz_stream_new(m->r, m->modules, &m->threads);
	ck_assert_msg(m->stream != NULL, "%s", lz_error());
	ck_assert_uint_gt(lz_stream_n_blocks(m->stream), 3);
}

static void unmake(struct made *m)
{
	char cmd[128];

	lz_stream_free(m->stream);
	lz_modules_free(m->modules);
	lz_stream_threads_free(&m->threads);
	lz_turns_free(&m->turns);
	lz_reader_close(m->r);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}

#endif
