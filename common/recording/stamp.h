/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A number that tells without reading whether a recording's files have changed. */
#ifndef LIZARD_STAMP_H
#define LIZARD_STAMP_H

#include <stdint.h>

/* Of what the directory DIRFD holds as a recording: of which files, how long they are, and when
 * they changed last. A copy of the recording has another one. 0, or -1: lz_error(). */
int lz_recording_stamp(int dirfd, uint64_t *stamp);

#endif
