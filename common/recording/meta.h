/* SPDX-License-Identifier: GPL-3.0-or-later */
/* meta: the text file that describes a recording. */
#ifndef LIZARD_META_H
#define LIZARD_META_H

#include <lizard/recording.h>

/* Writes DIRFD/meta by way of a rename. */
int lz_meta_write(int dirfd, const struct lz_meta *m);
/* In a new recording: makes the files that meta will be, so that to write it makes none. Nobody may look
 * for meta before. */
int lz_meta_ahead(int dirfd);
/* Room on disk for the next one, so that it can be said there that the disk is full; best effort.
 * And gives it back. */
void lz_meta_reserve(int dirfd);
void lz_meta_unreserve(int dirfd);
int lz_meta_read_at(int dirfd, struct lz_meta *m);

#endif
