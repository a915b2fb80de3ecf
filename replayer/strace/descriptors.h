/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What file descriptors stood for, as the events before tell. */
#ifndef LIZARD_REPLAYER_DESCRIPTORS_H
#define LIZARD_REPLAYER_DESCRIPTORS_H

#include <lizard/recording.h>

struct lz_descriptor {
	uint64_t made; /* the event that made it */
	bool has_peer;
	uint64_t peer; /* the event that has named the other end */
	bool has_offset;
	uint64_t offset; /* of the byte in its file */
	bool has_sent; /* the process has written that byte itself, into the other end of a pipe: */
	uint64_t sent; /* the event, */
	uint64_t sent_byte; /* and the number among the bytes that it took */
};

/* What was read of the events so far, for one who asks more than once. */
struct lz_descriptors;
struct lz_descriptors *lz_descriptors_new(struct lz_reader *r);
void lz_descriptors_free(struct lz_descriptors *k);

/* Of the descriptor that event number INDEX has read from, and of byte number BYTE of what it read.
 * Shows on a terminal how far it is; ENDS is asked now and then. 0; 1: there is none, or nothing is
 * known of it; LZ_DESCRIPTOR_INTERRUPTED: ENDS said so; -1. */
enum { LZ_DESCRIPTOR_INTERRUPTED = 2 };
int lz_descriptor_read(struct lz_descriptors *k, uint64_t index, uint64_t byte,
                       bool (*ends)(void *arg), void *arg, struct lz_descriptor *d);

#endif
