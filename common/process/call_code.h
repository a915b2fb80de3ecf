/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that makes several system calls, one after the other, and then traps. */
#ifndef LZ_COMMON_CALL_CODE_H
#define LZ_COMMON_CALL_CODE_H

#include <lizard/proc.h>

enum {
	LZ_CALLS_AT_ONCE = 16,
	LZ_RESULTS_AT_ONCE = 6, /* in the registers that a call leaves alone */
	LZ_CALL_CODE_MOST = 1536
};

/* How many of N calls one piece of code makes. */
size_t lz_call_code_fits(const struct lz_proc_call *c, size_t n);
/* Its length. At its end are a `syscall` that is always executed, and an int3. */
size_t lz_call_code(const struct lz_proc_call *c, size_t n, uint8_t code[LZ_CALL_CODE_MOST]);
/* Of N calls, with the registers at the int3. */
void lz_call_code_results(const struct user_regs_struct *r, struct lz_proc_call *c, size_t n);

#endif
