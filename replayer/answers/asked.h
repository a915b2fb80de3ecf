/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording that is asked about its control flow. Nothing of it runs for an answer: markers are
 * read. Only markers of which nothing but a checksum was recorded are computed first. */
#ifndef LIZARD_REPLAYER_ASKED_H
#define LIZARD_REPLAYER_ASKED_H

#include "replayer/stream/spread.h"
#include <common/base/work.h>
#include <lizard/session.h>

struct lz_asked {
	struct lz_reader *reader;
	struct lz_modules *modules;
	struct lz_turns turns;
	struct lz_stream_threads threads;
	struct lz_stream *stream;
	struct lz_rebuild *rebuild;
	uint64_t from, to; /* the piece of the stream that is asked about; at first all of it */
	uint32_t tid;      /* of this thread only; 0: of all */
	struct lz_work work;
	_Atomic(char *) *shown; /* names in both forms, made when they are wanted */
	uint64_t stamp;         /* of the files when they were opened; 0: not known */
	bool partial;           /* a signal has ended the walk: what there is, is right */
};

/* 0, or -1: lz_error(). Of a recording that is damaged the part in front of the damage is asked. */
int lz_asked_open(struct lz_asked *a, const char *dir);
/* A signal that has come takes its effect now. */
void lz_asked_close(struct lz_asked *a);

/* The stream offset of an instant: `start`, `end`, `25%`, a position as `when` prints it, or its
 * first two parts. -1: it is none of these. */
int lz_asked_offset(const struct lz_asked *a, const char *text, uint64_t *offset);

/* Is thread number THREAD asked about? */
bool lz_asked_thread(const struct lz_asked *a, uint32_t thread);
uint32_t lz_asked_tid(const struct lz_asked *a, uint32_t thread);
/* The linker's: "main", "_Z4mostIiET_S0_S0_"; "?" of code that nothing is known of. */
const char *lz_asked_name(const struct lz_asked *a, uint32_t fn);
/* For people, where C++ is concerned: "most<int>". */
const char *lz_asked_short_name(const struct lz_asked *a, uint32_t fn);
/* "int most<int>(int, int)", which no two functions of a program share. */
const char *lz_asked_full_name(const struct lz_asked *a, uint32_t fn);
/* An instant as `jump_forward` takes it: "THREAD:MARKER", the first one behind that marker. */
enum { LZ_INSTANT_TEXT = 48 };
const char *lz_asked_instant(uint32_t tid, uint64_t offset, char buf[LZ_INSTANT_TEXT]);

/* Walks over what is asked about, and shows how far it is. 0, also if a signal has ended it
 * (A->partial); else what FN of W returned. W->from, to and at are set here. */
int lz_asked_walk(struct lz_asked *a, const char *what, struct lz_walk *w);

/* On how many CPUs to walk over what is asked about: 0 if the environment has LIZARD_READERS=0. Tests
 * compare with that. */
unsigned lz_asked_cpus(void);
/* Is it known already that no function of the recording DIR with one of these NAMES ever ran? Each name
 * is one's; NULL ends them. Then the recording need not be opened. */
bool lz_asked_unused(const char *dir, char *const *names);
/* The same on several CPUs; W->from, to and at are set here. */
int lz_asked_spread(struct lz_asked *a, const char *what, const struct lz_spread *wanted);
/* Finds all call stacks that are not known, and keeps them in the recording. */
int lz_asked_index(struct lz_asked *a);

#endif
