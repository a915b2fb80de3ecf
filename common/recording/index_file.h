/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that readers keep beside a recording; see also lz_reader_index_write(). */
#ifndef LIZARD_INDEX_FILE_H
#define LIZARD_INDEX_FILE_H

#include <stddef.h>
#include <stdint.h>

/* As lz_reader_index_read(), of the recording whose directory is DIRFD. */
int lz_index_read(int dirfd, const char *name, size_t most, uint8_t **bytes, size_t *len);

#endif
