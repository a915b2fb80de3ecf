/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source lines, functions and unwind rules of one ELF file, read with libdw the way GDB reads
 * them, since fs, fn, bs and prev must mean the same lines that GDB means: rows of one address are
 * merged, a change of file ends a row, rows that only differ in the discriminator are one.
 *
 * All addresses are link-time addresses. Compilation units are read on first use. */
#ifndef LIZARD_REPLAYER_LINES_H
#define LIZARD_REPLAYER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include <lizard/piece.h>

struct lz_lines;

/* A line-table row and its extent. line 0: nothing is known of the address. */
struct lz_sal {
	uint64_t pc, end;
	const char *file; /* owned by lz_lines */
	uint32_t line;
	uint32_t symtab; /* equal for rows of one file in one unit */
	bool is_stmt;
};

/* The function (or the part of a split one) that holds an address. */
struct lz_range {
	uint64_t start, end;
	const char *name; /* NULL: unknown */
};

/* An inlined call whose code holds an address. */
struct lz_inline {
	uint64_t entry;                  /* where GDB has it begin */
	uint64_t start, end;             /* the part of it that was asked for */
	uint32_t call_line, call_symtab; /* where it is called, as in struct lz_sal */
	uint64_t id;                     /* equal for parts of one call in one file */
};

/* GDBs differ. This process's debugger is a GDB of the major version MAJOR (without a call, 13), of
 * which the following are asked. */
void lz_lines_follow_gdb(unsigned major);
/* Lines beyond 65,535 are kept as calls' lines as well. */
bool lz_gdb_keeps_far_lines(void);
/* A row goes on over rows of the same line that begin no statement. */
bool lz_gdb_joins_rows(void);
/* Of a block with DW_AT_high_pc and DW_AT_ranges, one of them its origin's, both count. */
bool lz_gdb_takes_both_extents(void);
/* An inlined call begins where DW_AT_entry_pc says, not with its first piece. */
bool lz_gdb_knows_entries(void);
/* A step within an inlined call hides no call that it was in before. */
bool lz_gdb_keeps_entered(void);
/* A piece of GCC's inlined calls that is empty has one byte. */
bool lz_gdb_widens_empty(void);
/* GCC's inlined call goes on to the next row if that is of the call's line and begins no statement. */
bool lz_gdb_extends_inlined(void);
/* A change of file ends the rows of the last one that was kept, not those of the last one named. */
bool lz_gdb_ends_kept_file(void);
/* Of blocks that claim one address, it belongs to the one that begins last. */
bool lz_gdb_sorts_blocks(void);

/* Never NULL for a readable ELF file; without debug information it only knows symbols. ORIGIN:
 * where the file was that PATH is a copy of, as debug information beside it is found from there. */
struct lz_lines *lz_lines_open(const char *path, const char *origin);
void lz_lines_close(struct lz_lines *l);

struct lz_sal lz_lines_find(struct lz_lines *l, uint64_t addr);

/* Where GDB sets a breakpoint at LINE of FILE, which may be the last parts of its path: one place in
 * each block that has code of it, none of them behind a prologue. */
struct lz_line_places {
	uint64_t *addr; /* malloced */
	size_t n, room;
	uint32_t line; /* a later one, if LINE has no code */
};
/* 0, also if there is none; -1: lz_error(). */
int lz_lines_places(struct lz_lines *l, const char *file, uint32_t line, struct lz_line_places *p);
/* False if no function or symbol covers ADDR. */
bool lz_lines_function(struct lz_lines *l, uint64_t addr, struct lz_range *out);
/* What GDB calls the function at ADDR, of C++ with its parameters; malloced. NULL: it has no name. */
char *lz_lines_function_name(struct lz_lines *l, uint64_t addr);
/* Where the function begins that GDB takes a frame at ADDR to be of: by the blocks, which in odd debug
 * information name another one than lz_lines_function(). 0: none. */
uint64_t lz_lines_frame_start(struct lz_lines *l, uint64_t addr);
/* The inlined calls around ADDR, outermost first; at most MAX. Returns how many. */
size_t lz_lines_inlines(struct lz_lines *l, uint64_t addr, struct lz_inline *out, size_t max);
/* Where the code of number WHICH of them is, as far as there is room for: the part that holds
 * ADDR first, no other one of a single byte. At most MAX; returns how many. */
size_t lz_lines_inline_ranges(struct lz_lines *l, uint64_t addr, size_t which, struct lz_part *out,
                              size_t max);
/* What GDB calls the function of number WHICH of them; malloced. NULL: it has no name. */
char *lz_lines_inline_name(struct lz_lines *l, uint64_t addr, size_t which);
/* The file of a row or call near ADDR that has SYMTAB; owned by L. NULL: none. */
const char *lz_lines_symtab_file(struct lz_lines *l, uint64_t addr, uint32_t symtab);
/* A procedure linkage table is there, of those that GDB counts; a stub of another one
 * (.plt.got). */
bool lz_lines_in_plt(const struct lz_lines *l, uint64_t addr);
bool lz_lines_in_other_plt(const struct lz_lines *l, uint64_t addr);
/* Where the function begins that the C++ thunk at ADDR leads to; 0: no thunk is there. */
uint64_t lz_lines_thunk_target(struct lz_lines *l, uint64_t addr);
/* The canonical frame address at ADDR for registers R; BIAS is what R's addresses have on top.
 * READ reads a word of the program. False if no rule is known. */
typedef bool lz_read_word(void *arg, uint64_t addr, uint64_t *word);
bool lz_lines_cfa(struct lz_lines *l, uint64_t addr, const struct user_regs_struct *r,
                  lz_read_word *read, void *arg, uint64_t *cfa);
/* The same for a frame as a whole: *R becomes the caller's, as far as the rules tell. *SIGNAL:
 * it is a signal's, and the caller's address is an instruction still to be executed, not one
 * behind a call. False at the outermost frame, too. */
bool lz_lines_unwind(struct lz_lines *l, uint64_t addr, struct user_regs_struct *r,
                     lz_read_word *read, void *arg, bool *signal);

#endif
