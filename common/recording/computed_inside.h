/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between computed.c, which reads the file of computed blocks, and computed_keep.c, which adds to
 * it. */
#ifndef LIZARD_COMPUTED_INSIDE_H
#define LIZARD_COMPUTED_INSIDE_H

#include <common/recording/computed.h>
#include <sys/stat.h>

enum { LZ_COMPUTED_NAME = 32 };
/* In the folder LZ_INDEX_FOLDER. */
void lz_computed_name(const struct lz_stream *s, char name[LZ_COMPUTED_NAME]);
/* Does the open file, or folder, of this kind (S_IFREG, S_IFDIR) belong to the user alone? */
bool lz_is_ours(int fd, mode_t kind);
/* May files be added to the recording: is it the user's, and complete? -1: lz_error(). */
int lz_recording_ours(const struct lz_reader *r);
/* Opens that folder of R to write there, made if there is none: only if all is the user's, and
 * complete. -1: lz_error(). */
int lz_computed_folder(const struct lz_reader *r);
/* FD, -1 for none, is the file from now on. What it has is found. */
void lz_computed_take(struct lz_computed *c, const struct lz_stream *s, int fd);
/* Finds what the file has behind c->end, up to what is no frame. */
void lz_computed_scan(struct lz_computed *c, const struct lz_stream *s);

#endif
