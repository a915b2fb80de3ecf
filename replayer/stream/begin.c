/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call stacks at the beginning of a recording whose earlier parts were not kept, or of a
 * forked process: unwound, since it does not have the markers that they came from. Of a
 * coroutine that does not run nothing is known. */
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include "replayer/stream/windows.h"
#include "replayer/stream/inside.h"

enum { MAX_FRAMES = 1 << 22 }; /* damaged ones may go in a circle */

struct unwinding {
	struct lz_stream *s;
	struct lz_image *image; /* at the first checkpoint */
	uint64_t event;
	uint32_t number;     /* of activations so far, of all threads */
	struct lz_act *acts; /* innermost first */
	size_t n, cap;
};

static bool read_word(void *arg, uint64_t addr, uint64_t *word)
{
	const struct unwinding *u = arg;

	for (unsigned i = 0; i < sizeof(*word); i++) {
		uint64_t at = addr + i;
		const uint8_t *page = lz_image_page(u->image, at & ~(uint64_t)(LZ_PAGE - 1));

		((uint8_t *)word)[i] = page ? page[at % LZ_PAGE] : 0;
	}
	return true;
}

/* Any marker of the function can have been its last one. */
static int add(struct unwinding *u, uint32_t fn, bool tail)
{
	const struct lz_fn *f = lz_stream_fn(u->s, fn);
	struct lz_act act = {.fn = fn,
	                     .entry = f->entry,
	                     .frame = LZ_FRAME_ANY,
	                     .last = LZ_LAST_LANDING,
	                     .enter = lz_reader_first_marker(u->s->own.reader),
	                     .last_at = lz_reader_first_marker(u->s->own.reader),
	                     .tail = tail && f->tail == LZ_TAIL_EITHER ? 2 : 0,
	                     .limit = f->f->n_markers};

	if (lz_reserve(u->acts, u->cap, u->n + 1) < 0)
		return lz_fail("out of memory for the first call stacks");
	u->acts[u->n++] = act;
	return 0;
}

/* Has the function at ADDR an activation there? One that did not call, but is the innermost one
 * or was interrupted by a signal, may not have written its first marker, or has written its
 * last. */
static int note_frame(struct unwinding *u, uint64_t addr, bool exact)
{
	struct lz_target t;

	lz_target_find(u->s, u->s->modules, addr, u->event, &t);
	if (t.fn == LZ_FN_NONE || (exact && (t.prologue || t.epilogue)))
		return 0;
	/* A tail call that became a plain one: the markers do not tell when it returns. */
	if (t.epilogue && lz_stream_fn(u->s, t.fn)->tail == LZ_TAIL_GONE)
		return 0;
	return add(u, t.fn, t.epilogue);
}

static int unwind(struct unwinding *u, const struct lz_thread_state *t)
{
	struct user_regs_struct r = t->regs;
	bool exact = true; /* r.rip is not behind a call */

	u->n = 0;
	for (int i = 0; i < MAX_FRAMES; i++) {
		uint64_t addr = r.rip - !exact, sp = r.rsp;
		size_t n = u->n;
		struct lz_module *mod = lz_modules_at(u->s->modules, addr, u->event);
		struct lz_lines *l = mod ? lz_module_lines(u->s->modules, mod) : NULL;

		if (!l || note_frame(u, addr, exact) < 0)
			return l ? -1 : 0;
		if (!lz_lines_unwind(l, addr - mod->bias, &r, read_word, u, &exact) ||
		    (r.rsp <= sp && !exact))
			return 0;
		if (u->n > n && !exact) /* the frame's CFA, as its landings name it */
			u->acts[n].frame = (uint32_t)r.rsp;
	}
	lz_warn("thread %u: only the innermost %d frames that it has at the recording's beginning "
	        "are known",
	        t->tid, MAX_FRAMES);
	return 0;
}

static int push(struct unwinding *u, struct lz_decoder *d)
{
	for (size_t i = u->n; i-- > 0;) {
		u->acts[i].inherited = ++u->number;
		if (lz_decoder_push(d, &u->acts[i]))
			return -1;
	}
	return 0;
}

static int fill(struct unwinding *u, const struct lz_checkpoint *ck, struct lz_decoder *d)
{
	for (uint32_t i = 0; i < ck->n_threads; i++) {
		uint32_t thread =
		    lz_stream_thread_find(u->s->threads, ck->threads[i].tid, ck->pos.event);

		if (thread == LZ_NO_THREAD)
			continue; /* it has no turn any more */
		if (unwind(u, &ck->threads[i]) || lz_decoder_switch(d, thread) || push(u, d))
			return -1;
	}
	return 0;
}

int lz_stream_begin(struct lz_stream *s, struct lz_decoder *d)
{
	struct lz_reader *r = s->own.reader;
	const struct lz_checkpoint *ck = lz_reader_checkpoint(r, 0);
	struct unwinding u = {.s = s, .image = ck ? lz_image_new(r) : NULL};
	int rc = -1;

	lz_decoder_reset(d);
	if (!ck || !u.image)
		return -1;
	u.event = ck->pos.event;
	if (lz_image_seek(u.image, 0) == 0)
		rc = fill(&u, ck, d);
	lz_image_free(u.image);
	free(u.acts);
	return rc;
}
