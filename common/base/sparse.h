/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sparse files: what is stored of them, without the holes, which read as zeroes. */
#ifndef LIZARD_SPARSE_H
#define LIZARD_SPARSE_H

#include <stdint.h>
#include <sys/stat.h>

/* Calls FN for each stretch of data in the first SIZE bytes of FD, in order, until it is not 0, and
 * returns that. Moves the file offset. Where the file system knows of no holes, all is data. */
int lz_each_data(int fd, uint64_t size, int (*fn)(void *arg, uint64_t from, uint64_t to),
                 void *arg);
/* The same from FROM to TO. */
int lz_each_data_of(int fd, uint64_t from, uint64_t to,
                    int (*fn)(void *arg, uint64_t from, uint64_t to), void *arg);
/* The first of them at AT or behind, up to SIZE; *FROM is SIZE if there is none. */
void lz_next_data(int fd, uint64_t at, uint64_t size, uint64_t *from, uint64_t *to);
/* How many bytes that are. */
uint64_t lz_data_bytes(int fd, uint64_t size);
/* About as many, without a look at the file: what it takes on disk, if that is less than its size.
 * */
uint64_t lz_file_stored(const struct stat *st);

#endif
