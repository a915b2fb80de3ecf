/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An argument that is shown; for the files of this room. */
#ifndef LZ_REPLAYER_STRACE_SHOW_H
#define LZ_REPLAYER_STRACE_SHOW_H

#include "replayer/strace/strace.h"
#include <stdio.h>

struct lz_show {
	FILE *to;
	FILE *note; /* what strace says in parentheses behind the result */
	const struct lz_strace_options *o;
	const struct lz_event *ev;
	bool out; /* the present argument is what the kernel wrote, and else what it was given */
};

/* ---- memory (memory.c) ---- */
/* LEN bytes of the present argument at ADDR: how many are known. */
size_t lz_show_bytes(struct lz_show *s, uint64_t addr, void *buf, size_t len);
/* The same, of which not all need have been taken. */
size_t lz_show_peek(struct lz_show *s, uint64_t addr, void *buf, size_t len);
/* LEN bytes at ADDR were taken by the call if it was given the present argument. */
void lz_show_taken(struct lz_show *s, uint64_t addr, uint64_t len);
/* What the kernel wrote, else what it was given. */
size_t lz_show_either(struct lz_show *s, uint64_t addr, void *buf, size_t len);
bool lz_show_failed(const struct lz_show *s);

/* ---- plain values (plain.c) ---- */
void lz_show_address(struct lz_show *s, uint64_t addr);
void lz_show_int(struct lz_show *s, int64_t v);
void lz_show_unsigned(struct lz_show *s, uint64_t v);
void lz_show_hex(struct lz_show *s, uint64_t v);
void lz_show_mode(struct lz_show *s, uint64_t mode);
void lz_show_dirfd(struct lz_show *s, int fd);

/* ---- names (names.c) ---- */
/* By the table of that name: flags, or one name. */
void lz_show_flags(struct lz_show *s, const char *table, uint64_t v);
void lz_show_name(struct lz_show *s, const char *table, uint64_t v);
/* NULL: none. */
const char *lz_name_of(const char *table, uint64_t v);
void lz_show_signal(struct lz_show *s, uint64_t signo);
void lz_show_errno(struct lz_show *s, int64_t e);

/* ---- strings (strings.c) ---- */
/* N bytes, of which KNOWN are in BYTES; HEX: each one as \xHH. */
void lz_show_quoted(struct lz_show *s, const uint8_t *bytes, size_t known, uint64_t n, bool hex);
/* LEN bytes at ADDR. */
void lz_show_buffer(struct lz_show *s, uint64_t addr, uint64_t len, bool hex);
/* A C string; a path is shown whole. */
void lz_show_string(struct lz_show *s, uint64_t addr, bool whole);
/* A list of them with NULL behind it; COUNT: only their number. */
void lz_show_strings(struct lz_show *s, uint64_t addr, bool count);
/* N struct iovec at ADDR, which hold TOTAL bytes. */
void lz_show_vectors(struct lz_show *s, uint64_t addr, uint64_t n, uint64_t total);

/* ---- structures of one size ---- */
struct lz_shape {
	const char *name;
	size_t size;
	void (*show)(struct lz_show *s, const void *bytes);
};
extern const struct lz_shape lz_shapes_files[], lz_shapes_times[], lz_shapes_signals[],
    lz_shapes_process[];

/* ---- arguments that are seen by themselves ---- */
/* V: argument number I. */
struct lz_form {
	const char *name;
	void (*show)(struct lz_show *s, uint64_t v, unsigned i);
};
extern const struct lz_form lz_forms_files[], lz_forms_net[], lz_forms_signals[],
    lz_forms_process[], lz_forms_waiting[];

void lz_show_siginfo(struct lz_show *s, const uint8_t *bytes);
void lz_show_sigset(struct lz_show *s, uint64_t addr, uint64_t len);
void lz_show_sockaddr(struct lz_show *s, uint64_t addr, uint64_t len);

#endif
