/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of forge, which changes a few fields of a recording and leaves it well-formed. */
#ifndef LIZARD_TESTS_FORGE_FORGE_H
#define LIZARD_TESTS_FORGE_FORGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>
#include <common/base/bytes.h>
#include <lizard/recording.h>

#define N_OF(a) (uint32_t)(sizeof(a) / sizeof(*(a)))

/* A number below N. */
uint32_t pick(uint32_t n);
/* What was changed, for the line that is printed at the end. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Those since the present part of the recording was chosen. */
void forget_notes(void);

/* ---- values ---- */

/* What the recording in the present directory is like. */
struct world {
	uint64_t stub, stub_len;
	uint64_t ring;  /* the first marker buffer that is met, 0: none */
	uint64_t first; /* offset of the first marker that is kept */
	uint64_t pos;   /* address of __lizard_pos */
	struct place {
		uint64_t addr, offset; /* of code that runs; in its file */
		uint32_t file;
	} place[64];
	uint64_t map[64]; /* where mappings begin */
	uint32_t tid[8];
	uint32_t n_places, n_maps, n_tids, n_files;
	struct user_regs_struct regs; /* of the first checkpoint */
};
extern struct world world;

/* False: the recording cannot be read. */
bool world_read(void);
uint64_t value_address(void);
/* Where the stub or marker buffers are, or close before. */
uint64_t value_ours(void);
/* Where code of the program will run. */
uint64_t value_place(void);
/* The same in a copy, as an offset; any one of SIZE if nothing of it does. */
uint64_t value_offset(uint32_t file, uint64_t size);
uint64_t value_length(void);
uint64_t value_number(uint64_t old);
/* Text of a kind that may do harm where it is shown, or used as a path or a number. */
const char *value_text(void);

/* ---- fields ---- */

enum field_kind {
	ADDRESS, /* or anything else that the stub's address would do harm as */
	PAGE_ADDRESS,
	LENGTH,
	NUMBER,
	SMALL, /* one of a few kinds */
	THREAD,
	SELECTOR,
	PROT,
	MAP_FLAGS,
	FILE_INDEX,
	EFLAGS
};

struct field {
	const char *name;
	uint8_t kind, size; /* bytes */
	uint16_t offset;
};
#define FIELD(type, member, kind)                                                                  \
	{                                                                                          \
#member, kind, sizeof(((type *)0)->member), offsetof(type, member)                 \
	}

/* Changes the field of the struct at BASE. OF: what it belongs to. */
void field_forge(void *base, const struct field *f, const char *of);
void regs_forge(struct user_regs_struct *regs, const char *of);
/* Other bytes, sometimes of another length; malloced. */
uint8_t *xstate_forge(const uint8_t *xstate, uint32_t *len);

enum { NOP = 0x90 };

/* Code that makes a system call which is not in tests/forge/calls.h. */
struct payload {
	const char *name;
	const uint8_t *code, *end;
	bool is_32_bit;
};
const struct payload *payload_pick(void);
const struct payload *payload_named(const char *name);

/* Changes a field or two. DUE: what the next event is made to be; kind 0: it stays. */
void event_change(struct lz_event *ev, struct lz_event *due);
/* A further write, whose address the caller sets. */
struct lz_write *event_add_write(struct lz_event *ev, const void *bytes, uint64_t len);

/* ---- parts of a recording; false: there is nothing of that kind ---- */

bool forge_event(void);
bool forge_checkpoint(void);
bool forge_meta(void);
bool forge_file(void);
bool forge_markers(void);
bool forge_header(void);
bool forge_ring(void);

/* Well-known ways out. The stub is where a marker buffer is, and the first markers are code: meta
 * names the buffer's address, or the first checkpoint the stub's. */
bool meta_over_ring(const struct payload *code);
bool ring_over_stub(const struct payload *code);
/* The first checkpoint has LEN bytes of markers in a buffer at ADDR. */
bool checkpoint_buffer(uint64_t addr, uint64_t len);
/* An early event puts the code where the stub is, or moves the stub away. */
bool event_writes(const struct payload *code);
bool event_moves_stub(void);
/* Each block of markers begins with the code. */
bool markers_become(const struct payload *code);

/* One of the files NAME, NAME.1, ...; NULL: there is none. */
const char *part_pick(const char *name);
/* Calls FN for each; how often it was true. */
uint32_t part_each(const char *name, bool (*fn)(const char *part, const void *arg),
                   const void *arg);

#endif
