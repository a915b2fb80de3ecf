/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store: a folder with one copy of each version of a mapped file, which recordings on the same
 * file system share by hard links. A recording stays whole without it, and names nothing in it.
 *
 * It is used by its owner only, and by many processes at once, each of which may be killed at any
 * time. What it says is checked; what is wrong in it is made again. */
#ifndef LIZARD_COPYSTORE_H
#define LIZARD_COPYSTORE_H

#include <sys/types.h>
#include <common/recording/copyfacts.h>
#include <lizard/recording.h>

/* In the store: copies, each named after its length and checksum; facts (copyfacts.h), named after
 * what tells one version of a file from another; files that are to be renamed; and one whose time
 * tells when it was swept last. */
#define LZ_COPY_PREFIX "c-"
#define LZ_NEXT_PREFIX "t-"
#define LZ_SWEPT "swept"

struct lz_copystore;

/* The store DIR, made if need be; NULL: there is none that may be used, lz_debug() says why. */
struct lz_copystore *lz_copystore_open(const char *dir);
/* The one for recordings of this user in the directory that all recordings live in, if the file
 * system of DIRFD is that one's. */
struct lz_copystore *lz_copystore_open_for(int dirfd);
void lz_copystore_close(struct lz_copystore *s);

/* Copies what FD has in PART to DIRFD/NAME, which is new: a link to the store's copy, if there can
 * be one. *C is what is known about it. S may be NULL: copies. */
int lz_copystore_get(struct lz_copystore *s, int fd, struct lz_extent part, int dirfd,
                     const char *name, struct lz_copy *c);
/* C knows more than before. */
void lz_copystore_learnt(struct lz_copystore *s, const struct lz_copy *c);

/* The name of C in a store. */
void lz_copy_name(const struct lz_copy *c, char name[48]);

/* copysweep.c */
/* Removes from the store FD the copies that nobody has linked to for SECONDS, and what is known
 * about none. */
void lz_copystore_sweep(int fd, unsigned seconds);
/* The same, now, of the store in the directory that all recordings live in, which goes if it is empty
 * then. */
void lz_copystore_sweep_now(void);
/* The copy that ST is of has turned out to be damaged: no recording shall link to it any more. */
void lz_copystore_distrust(const struct stat *st);

/* The directory of that store; malloced, NULL: lz_error(). */
char *lz_copystore_dir(void);

#endif
