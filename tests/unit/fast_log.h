/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of the log of calls that were made without a stop: a page, of which one record at a time is taken, and the
 * event that this gives. The program is the test itself. */
#ifndef LIZARD_TESTS_FAST_LOG_H
#define LIZARD_TESTS_FAST_LOG_H

#include "tests/unit/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include "tracer/calls/fast.h"
#include "tracer/memory/objects.h"

enum { BYTES = 512, RECORD = sizeof(struct lz_call_record), MOST_EFFECTS = 1 << 20 };

static struct lz_tracer t;
static struct lz_thread thread, *threads[] = {&thread};
static uint8_t memory[4096]; /* the program's */
static uint8_t *ring;

/* Of the last event, and of the one before it. */
static unsigned n_events;
static struct lz_event last, last_but_one;
static uint64_t n_written;
static uint8_t written[BYTES];

int __wrap_lz_writer_event(struct lz_writer *w, struct lz_event *ev);
int __wrap_lz_writer_event(struct lz_writer *w, struct lz_event *ev)
{
	last_but_one = last;
	last = *ev;
	n_written = 0;
	for (uint32_t i = 0; i < ev->n_writes; i++)
		for (uint64_t k = 0; ev->writes[i].bytes && k < ev->writes[i].len; k++, n_written++)
			if (n_written < BYTES)
				written[n_written] = ev->writes[i].bytes[k];
	ev->index = n_events++;
	return 0;
}

/* What was asked to be kept. */
static uint64_t kept_from, kept_len;

int __wrap_lz_writer_keep(struct lz_writer *w, struct lz_kept_file *f, uint64_t offset,
                          uint64_t len, const struct lz_kept **kept, uint32_t *n);
int __wrap_lz_writer_keep(struct lz_writer *w, struct lz_kept_file *f, uint64_t offset,
                          uint64_t len, const struct lz_kept **kept, uint32_t *n)
{
	static struct lz_kept where[2];
	const uint32_t first = len < 30000 ? (uint32_t)len : 15000;

	kept_from = offset;
	kept_len = len;
	where[0] = (struct lz_kept){1, 0, first};
	where[1] = (struct lz_kept){3, 100, (uint32_t)len - first};
	*kept = where;
	*n = 1 + (first < len);
	return 0;
}

/* Here is no recording that could have a copy of it. */
int __wrap_lz_writer_file_part(struct lz_writer *w, const char *path, int fd,
                               struct lz_extent *part, uint32_t *index);
int __wrap_lz_writer_file_part(struct lz_writer *w, const char *path, int fd,
                               struct lz_extent *part, uint32_t *index)
{
	return lz_fail("no copy of an event's file");
}

/* Behind the log nothing can be read. */
static struct lz_call_page *new_page(void)
{
	size_t len = (sizeof(struct lz_call_page) + 4095) & ~4095UL;
	uint8_t *at =
	    mmap(NULL, len + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(at != MAP_FAILED && mprotect(at + len, 4096, PROT_NONE) == 0);
	ck_assert_uint_eq(offsetof(struct lz_call_page, log) + LZ_CALL_LOG, len);
	return (struct lz_call_page *)at;
}

static void begin(void)
{
	thread.tid = 7;
	t.thread = threads;
	t.n_threads = 1;
	t.cur = &thread;
	t.p = (struct lz_proc){.pid = getpid(), .mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC)};
	ck_assert_int_ge(t.p.mem, 0);
	const struct lz_area area = {.v = {.start = (uintptr_t)memory,
	                                   .end = (uintptr_t)memory + sizeof(memory),
	                                   .prot = PROT_READ | PROT_WRITE,
	                                   .flags = MAP_PRIVATE}};
	ck_assert_int_eq(lz_vmas_add(&t.vmas, &area), 0);
	t.fast.page = new_page();
	ring = calloc(1, LZ_RING_LEN);
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i * 7);
}

/* Behind the record. */
static uint64_t behind[BYTES / 8];
static size_t n_behind; /* 0: a pattern */

/* The record, with BYTES bytes behind it, is the log's last one. */
static int drain(const struct lz_call_record *r)
{
	uint8_t *at = t.fast.page->log + LZ_CALL_LOG - RECORD - BYTES;

	memcpy(at, r, RECORD);
	for (unsigned i = 0; i < BYTES; i++)
		at[RECORD + i] = (uint8_t)(i * 3 + 1);
	memcpy(at + RECORD, behind, n_behind * 8);
	t.fast.page->head = LZ_CALL_LOG;
	t.fast.taken = LZ_CALL_LOG - RECORD - BYTES;
	t.fast.broken = false;
	t.fast.late.on = false;
	t.fast.n_files = 0;
	t.last_marker = 0;
	t.s.parsed = 0;
	n_events = 0;
	n_written = 0;
	memset(&last, 0, sizeof(last));
	return lz_fast_drain(&t);
}

static struct lz_call_record record(uint16_t nr, int64_t result)
{
	return (struct lz_call_record){.len = RECORD + BYTES,
	                               .nr = nr,
	                               .ip = 0x401000,
	                               .args = {3, (uintptr_t)memory, BYTES},
	                               .result = result};
}

static void expect_broken(const struct lz_call_record *r, const char *what)
{
	ck_assert_int_eq(drain(r), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "the log of system calls is broken"));
	ck_assert_msg(strstr(lz_error(), what) != NULL, "%s, not: %s", lz_error(), what);
	ck_assert_uint_eq(n_events, 0);
}

static void set_aside(const struct lz_call_record *r, unsigned n)
{
	static uint8_t bytes[2 * RECORD];

	for (unsigned i = 0; i < n; i++)
		memcpy(bytes + i * RECORD, r + i, RECORD);
	t.fast.page->head = t.fast.taken = 0;
	t.fast.aside = (struct lz_call_log){.bytes = bytes, .len = n * RECORD, .time = 5};
	n_events = 0;
}

#endif
