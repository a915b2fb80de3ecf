/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests write into a recording and find again: its description, a marker stream, events. */
#ifndef LIZARD_TEST_SAMPLE_EVENTS_H
#define LIZARD_TEST_SAMPLE_EVENTS_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include <lizard/format.h>
#include <lizard/recording.h>

static char dir[64];

static inline void make_dir(void)
{
	strcpy(dir, "/tmp/lizard-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("LIZARD_TRACE_DIR", dir, 1);
}

static inline void remove_dir(void)
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
static inline uint8_t stream_byte(uint64_t i)
{
	return (uint8_t)(1 + (i * i / 7 + i) % 0xEF);
}

static inline void put_markers(struct lz_writer *w, uint64_t from, uint64_t to)
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

static inline void fill_bytes(void)
{
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 31 >> 3);
}

/* Event i: its kind and contents follow from i. */
static inline struct lz_event make_event(uint64_t i)
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
	static const struct lz_page_sum pages[2] = {{0x7ffff000, 0x123456789}, {1ULL << 46, ~0ULL}};
	struct lz_event ev = {.tid = i % 4 == 3 ? 78 : 77,
	                      .marker = i * 100,
	                      .ip = 0x401000 + i,
	                      .time_ns = i * 1000,
	                      .map_id = i / 3,
	                      .flags = (uint32_t)(i & 1)};

	ev.kind = (uint8_t)(1 + i % 6);
	writes[0] = (struct lz_write){.addr = 0x7fff0000 + i, .len = i % 5000, .bytes = bytes};
	writes[1] = (struct lz_write){.addr = UINT64_MAX - 10, .len = 3, .bytes = bytes + 7};
	switch (ev.kind) {
	case LZ_EV_SYSCALL:
		ev.nr = i % 400;
		for (unsigned k = 0; k < 6; k++)
			ev.args[k] = i << (k * 10);
		ev.has_taken = i % 5 < 3;
		ev.taken = ev.has_taken ? i * 77777777 : 0;
		ev.result = i % 3 ? -(int64_t)(i % 100) : (int64_t)(0x7fff00000000 + i);
		ev.writes = writes;
		ev.n_writes = 2;
		ev.ops = &op;
		ev.n_ops = i % 3 == 0;
		break;
	case LZ_EV_SIGNAL:
		ev.signo = 11;
		ev.has_state = i % 2;
		ev.state = i % 2 ? ~i : 0;
		ev.has_pages = i % 4 == 3;
		ev.vectors = ev.has_pages ? i << 40 : 0;
		ev.pages = ev.has_pages ? pages : NULL;
		ev.n_pages = ev.has_pages ? (uint32_t)(i % 3) : 0;
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

static inline void check_event(const struct lz_event *got, uint64_t i)
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
	ck_assert_uint_eq(got->has_state, want.has_state);
	ck_assert_uint_eq(got->state, want.state);
	ck_assert_uint_eq(got->has_pages, want.has_pages);
	ck_assert_uint_eq(got->vectors, want.vectors);
	ck_assert_uint_eq(got->n_pages, want.n_pages);
	for (uint32_t k = 0; k < want.n_pages; k++) {
		ck_assert_uint_eq(got->pages[k].addr, want.pages[k].addr);
		ck_assert_uint_eq(got->pages[k].sum, want.pages[k].sum);
	}
	ck_assert_uint_eq(got->nr, want.nr);
	ck_assert_mem_eq(got->args, want.args, sizeof(want.args));
	ck_assert_int_eq(got->result, want.result);
	ck_assert(got->has_taken == want.has_taken);
	ck_assert_uint_eq(got->taken, want.taken);
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

static inline void put_events(struct lz_writer *w, uint64_t from, uint64_t to)
{
	for (; from < to; from++) {
		struct lz_event ev = make_event(from);

		ck_assert_int_eq(lz_writer_event(w, &ev), 0);
		ck_assert_uint_eq(ev.index, from);
		ck_assert_uint_eq(ev.number, from % 4 == 3 ? from / 4 : from - from / 4);
	}
}

static inline struct lz_reader *open_recording(const char *path)
{
	struct lz_reader *r = lz_reader_open(path);

	ck_assert_msg(r, "%s", lz_error());
	return r;
}

static inline void check_markers(struct lz_reader *r, uint64_t from, size_t len)
{
	uint8_t *buf = malloc(len);
	int64_t n = lz_reader_markers(r, 77, from, buf, len);

	ck_assert_int_eq(n, (int64_t)len);
	for (size_t i = 0; i < len; i++)
		if (buf[i] != stream_byte(from + i))
			ck_abort_msg("marker byte %zu", i);
	free(buf);
}

#endif
