/* meta: the text file that describes a recording. */
#ifndef LIZARD_META_H
#define LIZARD_META_H

#include <lizard/recording.h>

/* Writes DIRFD/meta by way of a rename. */
int lz_meta_write(int dirfd, const struct lz_meta *m);
int lz_meta_read_at(int dirfd, struct lz_meta *m);

#endif
