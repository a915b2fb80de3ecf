/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/last_frames.h"

#include "replayer/stream/target.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

enum { MOST_FRAMES = 1 << 20 }; /* damaged ones may go in a circle */

struct unwinding {
	struct lz_asked *a;
	struct lz_session *s;
	uint64_t event;
};

static bool read_word(void *arg, uint64_t addr, uint64_t *word)
{
	const struct unwinding *u = arg;

	return lz_session_read(u->s, addr, word, sizeof(*word)) == sizeof(*word);
}

static int note(const struct unwinding *u, uint64_t addr, bool exact, struct lz_last_frames *f)
{
	struct lz_target t;

	lz_target_find(u->a->stream, u->a->modules, addr, u->event, &t);
	if (t.fn == LZ_FN_NONE || !t.block)
		return 0;
	if (lz_reserve(f->v, f->room, f->n + 1) < 0)
		return -1;
	const struct lz_fn *fn = lz_stream_fn(u->a->stream, t.fn);
	f->v[f->n++] = (struct lz_last_frame){.fn = t.fn,
	                                      .node = (uint32_t)(t.block - fn->f->blocks),
	                                      .pc = addr + !exact - fn->mod->bias,
	                                      .exact = exact};
	return 0;
}

static int unwind(const struct unwinding *u, struct lz_last_frames *f)
{
	struct user_regs_struct r;
	bool exact = true; /* r.rip is not behind a call */

	if (lz_session_thread_regs(u->s, f->tid, &r) < 0)
		return -1;
	for (int i = 0; i < MOST_FRAMES; i++) {
		const uint64_t addr = r.rip - !exact, sp = r.rsp;
		struct lz_module *mod = lz_modules_at(u->a->modules, addr, u->event);
		struct lz_lines *l = mod ? lz_module_lines(u->a->modules, mod) : NULL;

		if (!l || note(u, addr, exact, f) < 0)
			return l ? -1 : 0;
		if (!lz_lines_unwind(l, addr - mod->bias, &r, read_word, (void *)u, &exact) ||
		    (r.rsp <= sp && !exact))
			return 0;
	}
	return 0;
}

static struct lz_last_frames *unwind_all(struct unwinding *u, uint32_t *n)
{
	struct lz_last_frames *f;
	struct lz_thread *threads;
	int rc = 0;

	if (lz_session_threads(u->s, &threads, n) < 0)
		return NULL;
	f = calloc(*n + 1u, sizeof(*f));
	for (uint32_t i = 0; f && rc == 0 && i < *n; i++) {
		f[i].tid = threads[i].tid;
		rc = unwind(u, &f[i]);
	}
	free(threads);
	if (!f)
		lz_fail("out of memory");
	if (f && rc < 0) {
		lz_last_frames_free(f, *n);
		f = NULL;
	}
	return f;
}

struct lz_last_frames *lz_last_frames_find(struct lz_asked *a, uint32_t *n)
{
	const struct lz_session_options o = {.echo_fd = -1};
	struct unwinding u = {.a = a, .s = lz_session_open(lz_reader_dir(a->reader), &o)};
	struct lz_last_frames *f = NULL;
	struct lz_pos pos;

	if (u.s && lz_session_seek_end(u.s) == 0) {
		lz_session_present(u.s, &pos);
		u.event = pos.event;
		f = unwind_all(&u, n);
	}
	lz_session_close(u.s);
	return f;
}

const struct lz_last_frames *lz_last_frames_of(const struct lz_last_frames *f, uint32_t n,
                                               uint32_t tid)
{
	for (uint32_t i = 0; f && i < n; i++)
		if (f[i].tid == tid)
			return &f[i];
	return NULL;
}

void lz_last_frames_free(struct lz_last_frames *f, uint32_t n)
{
	for (uint32_t i = 0; f && i < n; i++)
		free(f[i].v);
	free(f);
}
