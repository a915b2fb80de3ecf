/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames: what every file of a recording but meta consists of. Grammar: lizard/format.h. */
#ifndef LIZARD_FRAME_H
#define LIZARD_FRAME_H

#include <sys/types.h>
#include <common/base/bytes.h>
#include <lizard/format.h>

struct lz_frame {
	uint8_t type, codec;
	uint16_t flags;
	uint32_t raw_len, stored_len, count;
	uint64_t key0, key1;
	uint32_t crc;     /* of the payload as stored */
	int fd;           /* the file that it is in; not stored */
	uint64_t payload; /* where it begins in the file; not stored */
};

void lz_frame_pack(const struct lz_frame *f, uint8_t out[LZ_FRAME_HEADER]);
/* 0, or -1 with lz_error(): no frame, damaged, unknown type or codec, length out of limits. */
int lz_frame_unpack(const uint8_t in[LZ_FRAME_HEADER], struct lz_frame *f);
/* The frame whose header is at AT in the file FD of SIZE bytes. 1; 0: the file ends there; -1:
 * damaged. */
int lz_frame_at(int fd, uint64_t at, uint64_t size, struct lz_frame *f);
/* Its payload, checked and unpacked: OUT is emptied first. */
int lz_frame_read(const struct lz_frame *f, struct lz_buf *out);

/* A file's frames, headers only. */
struct lz_frames {
	int fd;    /* -1: there is no file */
	int *more; /* of its further parts */
	uint32_t n_more, room;
	uint32_t n;
	struct lz_frame *v;
	char *end;      /* why the list stops before the end of the file, or NULL. malloced */
	uint64_t bytes; /* of all parts */
};

/* Opens NAME in the directory DIRFD and reads headers until the end or the first bad one, which is
 * no error but fills `end`. A missing file: an empty list with fd -1. -1: no memory or no right to
 * read. */
int lz_frames_open(int dirfd, const char *name, struct lz_frames *fs);
/* Adds those of NAME, a further part of the same file. Nothing if the list has ended early, or
 * there is no such file. */
int lz_frames_append(int dirfd, const char *name, struct lz_frames *fs);
void lz_frames_close(struct lz_frames *fs);
/* As lz_frame_read() for frame I. */
int lz_frames_read(const struct lz_frames *fs, uint32_t i, struct lz_buf *out);

/* The last few unpacked frames of one file. Zero-initialised is empty. */
enum { LZ_CACHE_SLOTS = 4 };
struct lz_frame_cache {
	struct lz_cache_slot {
		uint64_t used; /* 0: empty */
		uint32_t frame;
		struct lz_buf buf;
	} slot[LZ_CACHE_SLOTS];
	uint64_t clock;
};
/* Frame i's payload, valid until LZ_CACHE_SLOTS - 1 other frames were asked for. */
/* The same if it is there already, else NULL; a slot for frame I to be filled, which counts only
 * when that is said. */
const struct lz_buf *lz_cache_find(struct lz_frame_cache *c, uint32_t i);
struct lz_cache_slot *lz_cache_oldest(struct lz_frame_cache *c);
void lz_cache_filled(struct lz_frame_cache *c, struct lz_cache_slot *s, uint32_t i);
const struct lz_buf *lz_cache_get(struct lz_frame_cache *c, const struct lz_frames *fs, uint32_t i);
void lz_cache_free(struct lz_frame_cache *c);

#endif
