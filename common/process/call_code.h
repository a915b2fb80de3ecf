/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that makes several system calls, one after the other, and then traps. */
#ifndef LZ_COMMON_CALL_CODE_H
#define LZ_COMMON_CALL_CODE_H

#include <lizard/proc.h>

enum {
	LZ_CALLS_AT_ONCE = 6, /* the registers that a call leaves alone hold the results */
	LZ_CALL_CODE_MOST = 512
};

/* Its length. At its end are the last `syscall` and an int3. */
size_t lz_call_code(const struct lz_proc_call *c, size_t n, uint8_t code[LZ_CALL_CODE_MOST]);
/* Of call I of N, with the registers at the int3. */
int64_t lz_call_code_result(const struct user_regs_struct *r, size_t i, size_t n);

#endif
