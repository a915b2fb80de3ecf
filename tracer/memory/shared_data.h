/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where memory that is mapped shared has contents. Holes read as zeroes, and to read them would
 * fill them. */
#ifndef LIZARD_TRACER_SHARED_DATA_H
#define LIZARD_TRACER_SHARED_DATA_H

#include "tracer/state/tracer.h"

enum lz_stretch {
	LZ_STRETCH_DATA,
	LZ_STRETCH_GONE, /* a hole, but our copy of the file has data there */
	LZ_STRETCH_HOLE
};

/* Not 0: stop, with that as the result. */
typedef int lz_stretch_fn(void *arg, enum lz_stretch kind, uint64_t from, uint64_t to);

/* Calls FN for the stretches of area A, in whole pages and in order, up to the end of the file.
 * Where nobody can say, and in small areas, all is data. */
int lz_shared_data(struct lz_tracer *t, const struct lz_area *a, lz_stretch_fn *fn, void *arg);

/* A descriptor of what is mapped there; -1: nobody may have one. */
int lz_shared_open(pid_t pid, const struct lz_maps_entry *e);

/* Is it worth a descriptor of its own? */
bool lz_shared_is_large(const struct lz_area *a);

#endif
