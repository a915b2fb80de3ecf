/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rdrand and rdseed. No processor can be told to trap them, so while a program is recorded those
 * that are known in its code are armed: the opcode's last byte is changed so that the instruction
 * is a move to a debug register, with the same length and operand, which faults. Replay has the
 * armed ones, too; a debugger is shown the original ones. */
#ifndef LIZARD_RANDINSN_H
#define LIZARD_RANDINSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

enum { LZ_RAND_OPCODE = 0xc7, LZ_RAND_ARMED = 0x23, LZ_RAND_MAX = 5 };

struct lz_rand_insn {
	uint8_t len, bits; /* 16, 32, 64 */
	uint8_t reg;       /* the processor's number */
	uint8_t at;        /* offset of the opcode's last byte */
	bool seed;
};
/* Is there one at CODE, of which LEN bytes are known; armed or not? */
bool lz_rand_decode(const uint8_t *code, size_t len, bool armed, struct lz_rand_insn *in);
/* Does it, the instruction pointer included. */
void lz_rand_do(const struct lz_rand_insn *in, struct user_regs_struct *r);

/* cpuid, where the processor cannot be told to trap it: 0F A2 is armed as 0F 06 (clts), which
 * faults in a program and is as long. */
enum { LZ_CPUID_OPCODE = 0xa2, LZ_CPUID_ARMED = 0x06, LZ_CPUID_LEN = 2 };

/* The xsavec are those that lizard/xsavec.h tells of. */
enum lz_insns_kind {
	LZ_INSNS_RANDOM,
	LZ_INSNS_CPUID,
	LZ_INSNS_XSAVEC,
	LZ_INSNS_RDTSC,
	LZ_INSNS_RDTSCP,  /* the second of its three bytes */
	LZ_INSNS_LOADING, /* system calls by which a dynamic linker loads files */
	LZ_INSNS_KINDS
};
/* The file offsets of the opcodes' last bytes of all instructions of a kind in PATH's code. 0; 1:
 * there may be more than can be told for sure, and none are given; -1. *SITES is malloced. */
int lz_insn_find(enum lz_insns_kind kind, const char *path, uint64_t **sites, size_t *n);
/* Can there be an armed one of either kind in what was read as code? */
bool lz_insn_maybe_armed(const uint8_t *code, size_t len);
/* CODE was read from FILE's offset OFFSET as far as that was not changed: what is armed there and
 * not in the file is shown as it is in the file. */
void lz_insn_disarm(uint8_t *code, size_t len, int file, uint64_t offset);

#endif
