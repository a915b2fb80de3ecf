/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marker stream decoded into activations: pure, knows neither recording nor session.
 *
 * ENTER pushes an activation, EXIT and TAIL pop it, LANDING makes an activation current again that
 * may lie deeper in the stack or, after swapcontext, on a parked one. Threads have a stack each;
 * whoever feeds the decoder says where they are switched. The decoder never fails: what does not
 * fit is counted in `oddities` and it goes on; whoever needs certainty must look there.
 *
 * Sources: Lizard, "Tracing and Replaying algorithms" (marker pairs within one activation). */
#ifndef LIZARD_REPLAYER_DECODE_H
#define LIZARD_REPLAYER_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <lizard/graph.h>
#include <lizard/marker.h>

#define LZ_FN_NONE 0xFFFFFFFFu      /* a function that nothing is known of */
#define LZ_LAST_LANDING 0xFFFFFFFCu /* lz_act.last: control arrived at a landing site */
#define LZ_FRAME_ANY 0xFFFFFFFFu    /* lz_act.frame: entered before what is kept of the stream */

struct lz_act {
	uint64_t enter;   /* stream offset of its ENTER */
	uint64_t last_at; /* ... of the byte behind its last marker */
	uint32_t fn;      /* as the resolver numbers it, LZ_FN_NONE */
	uint32_t entry;   /* low 32 bits of the entry address */
	uint32_t frame;   /* of LANDING, 0 = none seen */
	uint32_t last;    /* its last marker: an id, LZ_SET_ENTER, LZ_LAST_LANDING */
	uint32_t node;    /* of the saved copy, 0 = not saved as it is now */
	uint32_t tail;    /* a TAIL was seen that may or may not be followed by an EXIT */
	uint32_t limit;   /* the highest id of its function */
	/* Entered before the stream begins (there are enter and last_at): its number, from 1. */
	uint32_t inherited;
};

/* What tells an activation from all others of a stream. */
static inline uint64_t lz_act_id(const struct lz_act *a)
{
	return a->inherited ? UINT64_MAX - a->inherited : a->enter;
}

/* The first stream offset at which it runs: behind its ENTER. */
static inline uint64_t lz_act_begin(const struct lz_act *a)
{
	return a->inherited ? a->enter : a->enter + 5;
}

/* What TAIL means in a function: the call behind it may have become a plain one after all, then a
 * second EXIT follows. Told from the marker sites in the machine code. */
enum lz_tail { LZ_TAIL_GONE, LZ_TAIL_RETURNS, LZ_TAIL_EITHER };

/* Activations of a coroutine that is not running, cut off above `base`. */
struct lz_parked {
	struct lz_act *acts;
	size_t n, base;
};

enum { LZ_MAX_PARKED = 64, LZ_MAX_PARKED_ACTS = 4096 };

enum { LZ_RAN = 1, LZ_BEGAN = 2 };

/* Which markers of a function are of interest: all that its activations write, or only those at
 * which one begins or control lands. */
enum { LZ_WATCH_ALL = 1, LZ_WATCH_BEGIN = 2 };

/* A thread's activations while another one runs; as in struct lz_decoder. */
struct lz_stack {
	struct lz_act *acts;
	size_t n, cap;
	struct lz_parked *parked;
	size_t n_parked;
};

/* How often one marker came directly behind another in the activations of a function. */
struct lz_pairs {
	uint32_t side; /* 2 + the highest id: the last number is left to who counts */
	uint64_t
	    *square; /* [side * side], from * side + to; 0: its beginning, or its end. NULL: not
	                     counted */
	uint64_t calls, returns;
};

/* For a function with N_MARKERS. Without a square, P->square NULL, if that has more than *LEFT bytes,
 * which become fewer. -1: out of memory. */
int lz_pairs_make(struct lz_pairs *p, uint32_t n_markers, size_t *left);

/* The activation that control landed in last, 0 for an unknown one, and its last marker before. */
struct lz_landed {
	uint64_t act;
	uint32_t last;
};

struct lz_decoder {
	/* Of the thread that runs. */
	struct lz_act *acts; /* [n], the last is the running one */
	size_t n, cap;
	struct lz_parked *parked; /* oldest first, at most LZ_MAX_PARKED */
	size_t n_parked;
	uint32_t thread; /* its number */
	/* [n_stacks], by number, of the others; the running one's is empty */
	struct lz_stack *stack;
	uint32_t n_stacks;
	struct lz_landed landed;
	uint64_t oddities;
	/* If given, for each function: FN of lz_decoder_feed() is not called for markers that are
	 * counted there. Which these are is the decoder's choice. Nor need it be called for calls
	 * that these functions make of others that are not watched. */
	struct lz_pairs *pairs;
	/* FN of lz_decoder_feed() is not called for edges. */
	bool calls_only;
	/* What is below the activations is not known: lz_decoder_feed() ends in front of a marker
	 * that concerns it. */
	bool inner;
	/* If given, for each function: did an activation run, and did one begin (LZ_RAN,
	 * LZ_BEGAN; never cleared)? */
	uint8_t *ran;
	/* Number of the function whose entry address ends in ENTRY at stream offset OFFSET. */
	uint32_t (*resolve)(void *arg, uint32_t entry, uint64_t offset);
	/* Ids of function FN, for checks; may be NULL. */
	uint32_t (*n_markers)(void *arg, uint32_t fn);
	/* NULL: LZ_TAIL_GONE. */
	enum lz_tail (*tail)(void *arg, uint32_t fn);
	void *arg;
	/* What RESOLVE said last: several ask about each ENTER. */
	struct {
		uint64_t behind; /* 1 + the offset; 0: nothing yet */
		uint32_t entry, fn;
	} resolved;
};

/* A marker with what it closes: the gap [from, offset) in which the top activation ran. */
struct lz_mark {
	uint64_t from;   /* stream offset of the gap's start: behind the marker before */
	uint64_t offset; /* of the marker */
	uint8_t code;
	uint32_t id;    /* edge or node id, 0 for the other kinds */
	uint32_t entry; /* ENTER, LANDING */
	uint32_t frame; /* LANDING */
};

void lz_decoder_init(struct lz_decoder *d);
void lz_decoder_free(struct lz_decoder *d);
/* All threads' stacks become empty, and number 0 runs. */
void lz_decoder_reset(struct lz_decoder *d);
/* Thread number THREAD runs from here. -1 when out of memory. */
int lz_decoder_switch(struct lz_decoder *d, uint32_t thread);
/* Forgets the stack of a thread that does not run. */
void lz_decoder_drop(struct lz_decoder *d, uint32_t thread);
/* Pushes an activation of the running thread (used to set up a known stack). -1 when out of
 * memory. */
int lz_decoder_push(struct lz_decoder *d, const struct lz_act *act);

/* Called before the marker takes effect. Non-zero stops the decoder. */
typedef int lz_mark_fn(void *arg, struct lz_decoder *d, const struct lz_mark *mark);

/* Decodes whole markers from BYTES, whose first byte is at stream offset OFFSET and begins a
 * marker. FN (may be NULL) is called for every marker; if WATCH is given, only where the running
 * activation is of a function with WATCH[fn] LZ_WATCH_ALL or, for ENTER and LANDING, the new one
 * of a function with either. Returns the bytes used (fewer than LEN at a cut marker), or what FN
 * returned if that was negative, -1 when out of memory. */
int64_t lz_decoder_feed(struct lz_decoder *d, const uint8_t *bytes, size_t len, uint64_t offset,
                        const uint8_t *watch, lz_mark_fn *fn, void *arg);

/* The activation that control lands in as M says, and how many of the running thread's stack stay
 * then. It is the last one of these, or a parked one, which comes back. NULL: it is not known. */
const struct lz_act *lz_decoder_landed(const struct lz_decoder *d, const struct lz_mark *m,
                                       size_t *stay);

/* How many of the stack are below an activation that begins now: a tail call has ended others. One
 * call in tail position may still return. */
static inline size_t lz_decoder_below(const struct lz_decoder *d)
{
	size_t n = d->n;

	while (n && d->acts[n - 1].tail > 1)
		n--;
	return n;
}

/* RESOLVE's answer; LZ_FN_NONE without it. */
static inline uint32_t lz_decoder_fn(struct lz_decoder *d, uint32_t entry, uint64_t offset)
{
	if (d->resolved.behind == offset + 1 && d->resolved.entry == entry)
		return d->resolved.fn;
	d->resolved.behind = offset + 1;
	d->resolved.entry = entry;
	d->resolved.fn = d->resolve ? d->resolve(d->arg, entry, offset) : LZ_FN_NONE;
	return d->resolved.fn;
}

static inline struct lz_act *lz_decoder_top(struct lz_decoder *d)
{
	return d->n ? &d->acts[d->n - 1] : NULL;
}

#endif
