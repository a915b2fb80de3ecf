/* Copies of mapped files, kept in a recording's files/. */
#ifndef LIZARD_FILECOPY_H
#define LIZARD_FILECOPY_H

#include <stdint.h>

/* Copies the whole file FD to DIRFD/NAME (new, read-only): by reflink where the file system can.
 * *SIZE: what it is believed to have in, what the copy has out. */
int lz_copy_file(int fd, uint64_t *size, int dirfd, const char *name);
/* As lz_build_id(), of an open file. */
char *lz_build_id_fd(int fd);

#endif
