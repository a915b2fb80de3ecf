/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points: instants that somebody has noted, in the file `points` of the recording. Each line is
 * "POSITION NOTE"; lines that begin with # are comments. It is plain text, so two such files can be
 * merged by any tool. A point's number is that of its line among those of points, from 1. */
#ifndef LIZARD_POINTS_H
#define LIZARD_POINTS_H

#include <lizard/recording.h>

enum { LZ_NOTE_MOST = 1000 /* bytes */ };

struct lz_point {
	struct lz_pos pos;
	char *note; /* perhaps empty, one line */
};

struct lz_points {
	struct lz_point *v;
	size_t n;
};

/* Those of the recording that R has open; none if there is no file. A line that is no point is an
 * error. *P is to be freed in any case. */
int lz_points_read(const struct lz_reader *r, struct lz_points *p);
void lz_points_free(struct lz_points *p);
/* Keeps POS. Line breaks in NOTE become spaces. *NUMBER is the new point's. Only the owner of a
 * recording that is complete can do so. */
int lz_points_add(const struct lz_reader *r, const struct lz_pos *pos, const char *note,
                  size_t *number);
/* The numbers behind it become less by one. */
int lz_points_delete(const struct lz_reader *r, size_t number);

#endif
