/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tells one arrival at an address from another: the registers, and the memory around the stack
 * pointer, where code keeps what it counts and where it goes back to. */
#ifndef LIZARD_STATE_SUM_H
#define LIZARD_STATE_SUM_H

#include <lizard/proc.h>

/* Bytes of the stack: below the stack pointer the red zone, as far as it is in the same page. */
enum { LZ_STATE_BELOW = 128, LZ_STATE_ABOVE = 640 };

/* Where these begin if the stack pointer is RSP. */
uint64_t lz_state_from(uint64_t rsp);
/* Of the thread that P stands for, with registers R. Memory that is not mapped counts as zeroes: a
 * stack grows when it is touched. */
uint64_t lz_state_sum(const struct lz_proc *p, const struct user_regs_struct *r);
/* Of a page's contents. */
uint64_t lz_page_sum(const uint8_t *page);
/* Of the vector registers; UINT64_MAX: they cannot be read. */
uint64_t lz_vectors_sum(const struct lz_proc *p);

#endif
