/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writer's inside, shared by the files that make it up. */
#ifndef LIZARD_WRITER_H
#define LIZARD_WRITER_H

#include <pthread.h>
#include <sys/stat.h>
#include <common/recording/copystore.h>
#include <common/process/pagemap.h>
#include <common/cfg/records.h>
#include <common/recording/parts.h>
#include <lizard/marker.h>

/* Of struct lz_writer.tail; LZ_BUFFER_GUARD bytes of it are valid at least, if there were so
 * many. */
enum { LZ_TAIL_MAX = 4 * LZ_BUFFER_GUARD };

struct lz_out_stream {
	uint32_t tid;
	struct lz_out out;
	struct lz_buf buf; /* not pushed yet */
	uint64_t start;    /* stream offset of buf's first byte */
};

/* How many events a thread has had. */
struct lz_thread_events {
	uint32_t tid;
	bool ended; /* its switch is still to come */
	uint64_t n;
};

struct lz_known_file {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
	struct lz_extent extent; /* what the copy has */
	struct lz_file file;     /* .path and .build_id: with parts only */
	struct lz_copy copy;
	char name[64];
	bool first;    /* mapped at the first checkpoint */
	bool needed;   /* not mapped, but replay will want its copy */
	bool gone;     /* no longer mapped when part ... */
	uint32_t part; /* ... began, with which its copy goes */
};

struct lz_writer {
	char *dir;
	int dirfd, filesfd;
	int next_stream; /* made ahead for markers of a thread that is not known yet; -1 */
	struct lz_copystore *store; /* NULL: copies are not shared */
	struct lz_worker *worker;
	struct lz_out events, checkpoints;
	pthread_mutex_t lock;           /* streams: markers may come from another thread */
	struct lz_out_stream **streams; /* sorted by nothing; few */
	uint32_t n_streams, last_stream;
	struct lz_buf chunk;      /* not pushed yet, in front of the events that refer to it */
	uint64_t n_chunks;        /* pushed ones */
	uint64_t first_chunk;     /* of this part */
	struct lz_buf buf;        /* events not pushed yet */
	uint64_t n_events, first; /* first: index of the first event in buf */
	uint64_t first_marker;
	bool plain;                       /* all events in buf */
	struct lz_thread_events *threads; /* the latest ones last */
	uint32_t n_threads, last_thread;
	uint32_t n_checkpoints;
	/* which pages the reader's image will hold: pages.page is only a flag */
	struct lz_pagemap pages;
	struct lz_known_file *files;
	uint32_t n_files;
	bool debug;             /* there is debug information for one of them */
	struct lz_parts *parts; /* lz_writer_keep_last() */
	struct lz_buf tail;     /* with parts: the stream's latest bytes, up to ... */
	uint64_t tail_end;      /* ... this offset */
};

/* writer.c */
/* Pushes what is gathered. */
int lz_writer_push_events(struct lz_writer *w);
int lz_writer_push_markers(struct lz_writer *w, struct lz_out_stream *s);

/* writer_files.c */
void lz_known_file_free(struct lz_known_file *k);
int lz_writer_push_file(struct lz_writer *w, const struct lz_file *file, uint32_t index);

/* writer_chunks.c */
int lz_writer_push_chunk(struct lz_writer *w);
/* No event refers to those that were pushed so far: a part begins. */
void lz_writer_forget_chunks(struct lz_writer *w);

/* writer_parts.c: nothing without lz_writer_keep_last(). */
/* LEN more BYTES of the stream. */
void lz_writer_keep_tail(struct lz_writer *w, const uint8_t *bytes, size_t len);
/* Before checkpoint CK is pushed; 1: a new part begins with it. */
int lz_writer_part_begin(struct lz_writer *w, const struct lz_checkpoint *ck);

#endif
