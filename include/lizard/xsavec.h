/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xsavec, by which the dynamic linker keeps a call's vector arguments on the stack while it looks
 * the callee up. It stores only what is in use; and AMD's processors let registers that hold
 * nothing but zeroes count as in use or not by chance, so what it leaves on the stack differs from
 * run to run. There the linker's are armed while a program is recorded, with the byte that arms
 * rdrand (lizard/randinsn.h): a move to a debug register, no longer than xsavec, which faults. */
#ifndef LIZARD_XSAVEC_H
#define LIZARD_XSAVEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

/* Only the form with an address relative to the stack pointer is known. */
enum { LZ_XSAVEC_MAX = 8 };
struct lz_xsavec {
	uint8_t len;
	uint8_t at; /* offset of the opcode's last byte */
	int32_t offset;
};
bool lz_xsavec_decode(const uint8_t *code, size_t len, bool armed, struct lz_xsavec *in);

/* Is what counts as in use left to chance by this processor? */
bool lz_xsavec_by_chance(void);

/* What xsavec stores (Intel SDM volume 1, section 13.10), where a component is in use if it has
 * been and is not zero. XSTATE: NT_X86_XSTATE; MASK: edx:eax. IMAGE has room for LZ_XSAVEC_ROOM
 * bytes, PART for LZ_XSAVEC_PARTS. The number of parts of the image that are stored, from the
 * lowest on; -1 if XSTATE makes no sense. */
enum { LZ_XSAVEC_ROOM = 32768, LZ_XSAVEC_PARTS = 68 };
struct lz_xsavec_part {
	uint32_t at, len;
};
int lz_xsavec_image(const uint8_t *xstate, uint32_t len, uint64_t mask, uint8_t *image,
                    struct lz_xsavec_part *part);

struct lz_xsave_component;
/* What this processor has, which must have xsavec: LZ_XSAVE_COMPONENTS of them
 * (lizard/xsave_parts.h). */
void lz_xsavec_components(struct lz_xsave_component *c);

/* Its address and mask, as the registers have them. */
uint64_t lz_xsavec_addr(const struct lz_xsavec *in, const struct user_regs_struct *r);
uint64_t lz_xsavec_mask(const struct user_regs_struct *r);

#endif
