/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a call has written: which descriptor, and what part of the file behind it. */
#ifndef LIZARD_TRACER_WRITTEN_RANGE_H
#define LIZARD_TRACER_WRITTEN_RANGE_H

#include "tracer/memory/objects.h"

/* The descriptor that the call may have changed a file through; -1: none. */
int lz_changed_fd(const struct lz_call *c, int64_t result);
/* Where in the file of FD the current call has written N bytes; all of it if that is not known.
 * Its size is looked at apart. */
struct lz_written lz_written_range(struct lz_tracer *t, int fd, uint64_t n);

#endif
