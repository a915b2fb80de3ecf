/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where control arrives once between two markers. Each cycle of the control flow that the compiler
 * has seen has a marker; loops that it has made of one operation, or that an asm statement has, do
 * not. The machine code tells. */
#ifndef LIZARD_ARRIVE_ONCE_H
#define LIZARD_ARRIVE_ONCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads LEN bytes of code at ADDR; returns how many there are. */
typedef size_t lz_code_read(void *arg, uint64_t addr, void *buf, size_t len);

/* AT is in a function with markers. Does each way from the instruction there come to a marker, to a
 * system call or out of the function before it comes back? False also if that is much work. */
bool lz_arrives_once(lz_code_read *read, void *arg, uint64_t at);

#endif
