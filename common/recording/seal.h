/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A seal: a checksum that only the user can make, with a random key in a file of his. So what came
 * with somebody else's recording is told from what he has worked out himself. */
#ifndef LIZARD_SEAL_H
#define LIZARD_SEAL_H

#include <stddef.h>
#include <stdint.h>

enum { LZ_SEAL_LEN = 32 };

/* That of LEN bytes which are kept as NAME. The key is made if there is none. -1: lz_error(). */
int lz_seal(const char *name, const uint8_t *bytes, size_t len, uint8_t seal[LZ_SEAL_LEN]);

#endif
