/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where r15 is the marker pointer. Behind a call it may still be what it was before that, and the
 * code of other functions uses it for its own. The machine code tells. */
#ifndef LIZARD_POINTER_HERE_H
#define LIZARD_POINTER_HERE_H

#include <common/process/arrive_once.h>

/* AT is in a function with markers. Is r15 there the address behind the last marker, or, behind the
 * store of a marker's code byte, that of this marker? False also if that cannot be told. */
bool lz_pointer_here(lz_code_read *read, void *arg, uint64_t at);

#endif
