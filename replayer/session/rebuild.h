/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes markers again of which only checksums were recorded. Each block is compared with its
 * checksum before it is believed, and kept beside the recording, or else until the process ends. */
#ifndef LZ_REPLAYER_REBUILD_H
#define LZ_REPLAYER_REBUILD_H

#include <lizard/session.h>

/* *HEARD: there was an interrupt which the request at hand has not answered; nothing is begun
 * then. */
void lz_rebuild_listen(struct lz_rebuild *rb, const _Atomic bool *heard);
/* As lz_session_interrupt(): what is being computed now is given up. From any thread, or a
 * signal handler. */
void lz_rebuild_interrupt(struct lz_rebuild *rb);

#endif
