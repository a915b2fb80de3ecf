/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of mapped files, kept in a recording's files/. */
#ifndef LIZARD_FILECOPY_H
#define LIZARD_FILECOPY_H

#include <stdbool.h>
#include <stdint.h>
#include <common/base/work.h>

/* Of sparse files the data only is read, and the holes stay. WORK is told the bytes that are read
 * or written; NULL: nobody is, and nothing interrupts it. */

/* Copies the whole file FD to DIRFD/NAME (new, read-only): by reflink where the file system can.
 * *SIZE: what it is believed to have in, what the copy has out. *CRC: of the copy. */
int lz_copy_file(int fd, uint64_t *size, uint32_t *crc, int dirfd, const char *name,
                 struct lz_work *work);
/* The same, linked from and into the folder STORE (-1: none), which recordings of one run share. */
int lz_copy_from_store(int store, int fd, uint64_t *size, uint32_t *crc, int dirfd,
                       const char *name);
/* The copy has the bytes from FROM to TO only, and a hole elsewhere. */
int lz_copy_part(int fd, uint64_t from, uint64_t to, uint64_t *size, uint32_t *crc, int dirfd,
                 const char *name);
/* CRC-32 of a whole file. */
int lz_file_crc(int fd, uint32_t *crc, struct lz_work *work);
/* A program or a library? Their debug information is read, too. */
bool lz_is_elf(int fd);
/* As lz_build_id(), of an open file. */
char *lz_build_id_fd(int fd);

#endif
