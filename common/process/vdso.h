/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The vDSO that a recorded program finds: an image of ours (image/vdso.S), whose functions make
 * system calls. */
#ifndef LZ_COMMON_VDSO_H
#define LZ_COMMON_VDSO_H

#include <lizard/proc.h>
#include <lizard/recording.h>

enum { LZ_VDSO_CODE = 0x800 };
extern const uint8_t lz_vdso_image[LZ_PAGE];

/* Has P that image at V? */
bool lz_vdso_is(const struct lz_proc *p, const struct lz_vma *v);
/* The same, but that its code may have been changed. */
bool lz_vdso_was(const struct lz_proc *p, const struct lz_vma *v);

#endif
