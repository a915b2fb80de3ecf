/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader's inside, shared by the files that make it up. */
#ifndef LIZARD_READER_H
#define LIZARD_READER_H

#include <common/recording/computed.h>
#include <common/recording/frame.h>
#include <common/cfg/records.h>

/* A run of events: one frame of the file `events`. */
struct lz_ev_run {
	uint32_t frame, count;
	uint64_t first, marker; /* index and marker of its first event */
	bool plain;             /* LZ_EVENTS_PLAIN */
};

/* Where an event is in its run. */
struct lz_ev_place {
	uint32_t off, len;
};

/* A few unpacked runs with the place of each event. */
enum { LZ_EV_SLOTS = 3 };
struct lz_ev_cache {
	struct lz_ev_slot {
		uint64_t used; /* 0: empty */
		uint32_t run;
		struct lz_buf buf;
		struct lz_ev_place *place; /* of each event */
		uint32_t room;
	} slot[LZ_EV_SLOTS];
	uint64_t clock;
	struct lz_event_room room;
	struct lz_frame_cache chunks;
	struct lz_event event;
	uint64_t index; /* of `event` */
	bool valid;
};

struct lz_stream {
	uint32_t tid;
	struct lz_frames frames; /* contiguous */
	uint32_t n_before;       /* frames before the first checkpoint: 1 or none */
	uint64_t start, len;     /* offsets of what is there, usable */
	struct lz_frame_cache cache;
	struct lz_computed computed;
	uint32_t expect_from, expect_to; /* blocks, lz_reader_expect() */
};

/* A checkpoint: its HEAD is frame `head`, its PAGES follow up to frame `end`. */
struct lz_ck_place {
	uint32_t head, end;
	struct lz_checkpoint *ck; /* decoded on demand */
};

struct lz_reader {
	char *dir;
	int dirfd;
	struct lz_meta meta;
	char *damage;
	uint32_t first_part, n_parts; /* of all files; part 0 alone is the usual case */
	/* What the files begin with: all 0 with part 0. */
	uint64_t first_event, first_marker; /* of the first checkpoint */
	uint32_t first_ck;
	struct lz_frames events, checkpoints;
	struct lz_ev_run *runs;
	uint32_t n_runs;
	uint32_t *syncs; /* frames of `events` */
	uint32_t n_syncs;
	uint32_t *chunks; /* the same, by their numbers */
	uint32_t n_chunks;
	uint64_t first_chunk;
	uint64_t n_events;
	struct lz_file *files;
	uint32_t n_files;
	struct lz_stream *streams; /* sorted by tid */
	uint32_t n_streams;
	lz_rebuild_fn *rebuild;
	void *rebuild_arg;
	struct lz_ck_place *cks;
	uint32_t n_cks;
	struct lz_program *programs; /* found on demand */
	uint32_t n_programs;
	/* Two: a search must not spoil the event that the caller still looks at. */
	struct lz_ev_cache user, search;
};

/* Whether frames make sense as a sequence; what does not is cut off and said in fs->end. */
void lz_frames_cut(struct lz_frames *fs, uint32_t n, const char *name, const char *why);
/* How much of a stream a frame of it stands for. */
uint32_t lz_block_len(const struct lz_frame *f);
/* reader_parts.c: which parts there are. */
int lz_reader_list_parts(struct lz_reader *r);
/* All parts of the file NAME. */
int lz_reader_open_frames(struct lz_reader *r, const char *name, struct lz_frames *fs);
/* Once the checkpoints are open. */
int lz_reader_find_begin(struct lz_reader *r);
/* reader_index.c: fill runs, syncs, files; cks; streams. */
int lz_index_events(struct lz_reader *r);
int lz_index_checkpoints(struct lz_reader *r);
int lz_index_streams(struct lz_reader *r);
/* reader_cut.c: cuts everything to the last consistent position and says so in r->damage. */
int lz_reader_cut(struct lz_reader *r);

/* reader_files.c: a copy that is not what was copied is said in its file's `damage` and counts as
 * not kept. CHECKED: a reader that has looked at the same copies, or NULL. -1: interrupted. */
int lz_reader_check_files(struct lz_reader *r, const struct lz_reader *checked);

/* The frame that holds the byte at OFFSET, which must be below the stream's length. */
uint32_t lz_stream_frame(const struct lz_stream *s, uint64_t offset);
struct lz_stream *lz_reader_stream(const struct lz_reader *r, uint32_t tid);
void lz_ev_cache_free(struct lz_ev_cache *c);

#endif
