/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording that was cut or damaged is used up to the last SYNC all of which is there. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <common/base/array.h>
#include <common/recording/reader.h>
#include <lizard/error.h>

static void say(struct lz_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The first reason is the one that is kept. */
static void say(struct lz_reader *r, const char *fmt, ...)
{
	va_list ap;

	if (r->damage)
		return;
	va_start(ap, fmt);
	if (vasprintf(&r->damage, fmt, ap) < 0)
		r->damage = NULL;
	va_end(ap);
}

struct lz_stream *lz_reader_stream(const struct lz_reader *r, uint32_t tid)
{
	uint32_t at = lz_lower_bound(i, r->n_streams, r->streams[i].tid < tid);

	return at < r->n_streams && r->streams[at].tid == tid ? &r->streams[at] : NULL;
}

/* A block of which there is only a checksum is known as a whole or not at all. */
static bool splits_hashed(const struct lz_stream *s, uint64_t len)
{
	uint32_t i = lz_stream_frame(s, len - 1);
	const struct lz_frame *f = &s->frames.v[i];

	return s->frames.n && f->type == LZ_FRAME_HASHED && f->key0 + f->count != len;
}

static bool stream_reaches(struct lz_reader *r, uint32_t tid, uint64_t len)
{
	const struct lz_stream *s = lz_reader_stream(r, tid);

	if ((s ? s->len : 0) >= len) {
		if (!s || !len || !splits_hashed(s, len))
			return true;
		say(r, "damaged: markers-%u: %llu bytes end inside a block that is not stored", tid,
		    (unsigned long long)len);
		return false;
	}
	say(r, "cut: markers-%u ends at %llu of %llu bytes", tid,
	    (unsigned long long)(s ? s->len : 0), (unsigned long long)len);
	return false;
}

/* Whether all that the SYNC promises is there; BUF gets its payload. */
static bool holds(struct lz_reader *r, uint32_t frame, struct lz_buf *buf)
{
	const struct lz_frame *f = &r->events.v[frame];
	uint64_t cks = r->first_ck + (uint64_t)r->n_cks;
	struct lz_cur c;
	bool ok = true;

	if (lz_frames_read(&r->events, frame, buf) < 0 || buf->len != f->count * 12ull) {
		say(r, "damaged: events: a SYNC: %s", lz_error());
		return false;
	}
	if (f->key0 > r->n_events || f->key1 > cks || f->key0 < r->first_event ||
	    f->key1 < r->first_ck) {
		say(r, "cut: %llu of %llu events and %llu of %llu checkpoints are there",
		    (unsigned long long)r->n_events, (unsigned long long)f->key0,
		    (unsigned long long)cks, (unsigned long long)f->key1);
		return false;
	}
	c = (struct lz_cur){.p = buf->p, .end = buf->p + buf->len};
	for (uint32_t i = 0; ok && i < f->count; i++) {
		uint32_t tid = lz_get_u32(&c);

		ok = stream_reaches(r, tid, lz_get_u64(&c));
	}
	return ok;
}

static void cut_streams(struct lz_reader *r, const struct lz_buf *sync)
{
	struct lz_cur c = {.p = sync->p, .end = sync->p + sync->len};
	uint64_t *len = calloc(r->n_streams + 1u, sizeof(*len));

	while (len && c.p < c.end) {
		struct lz_stream *s = lz_reader_stream(r, lz_get_u32(&c));
		uint64_t n = lz_get_u64(&c);

		if (s)
			len[s - r->streams] = n;
	}
	for (uint32_t i = 0; i < r->n_streams; i++)
		r->streams[i].len = len ? len[i] : 0;
	free(len);
}

static void cut_to(struct lz_reader *r, uint64_t n_events, uint32_t n_cks,
                   const struct lz_buf *sync)
{
	r->n_events = n_events;
	r->n_cks = n_cks;
	while (r->n_runs && r->runs[r->n_runs - 1].first >= n_events)
		r->n_runs--;
	if (r->n_runs)
		r->runs[r->n_runs - 1].count = (uint32_t)(n_events - r->runs[r->n_runs - 1].first);
	cut_streams(r, sync);
}

/* A cut recording mostly ends right at a checkpoint, since each one flushes. Nothing of the run is
 * known behind it, so no replay could reach it and compare: it is left out, unless it is the only
 * one, or the program's memory behind an execve. The same happens when the program is killed while
 * it waits for one to be taken: only its end is recorded then. */
static void leave_out_last(struct lz_reader *r)
{
	const struct lz_event *e = lz_reader_event(r, r->n_events - 1);
	const struct lz_frame *f;
	uint64_t markers = 0, after = r->meta.state == LZ_REC_COMPLETE ? 1 : 0;

	if (r->n_cks < 2 || (e && e->flags & LZ_EVF_REBASE))
		return;
	f = &r->checkpoints.v[r->cks[r->n_cks - 1].head];
	for (uint32_t i = 0; i < r->n_streams; i++)
		markers = r->streams[i].len > markers ? r->streams[i].len : markers;
	if (f->key0 + after >= r->n_events && f->key1 == markers)
		r->n_cks--;
}

static void say_counts(struct lz_reader *r)
{
	const struct lz_meta *m = &r->meta;
	uint64_t markers = 0, cks = r->first_ck + (uint64_t)r->n_cks;

	for (uint32_t i = 0; i < r->n_streams; i++)
		markers += r->streams[i].len;
	if (r->n_events == m->n_events && cks == m->n_checkpoints && markers == m->n_markers_bytes)
		return;
	say(r,
	    "cut: %llu of %llu events, %llu of %llu checkpoint%s and %llu of %llu bytes of markers "
	    "are there",
	    (unsigned long long)r->n_events, (unsigned long long)m->n_events,
	    (unsigned long long)cks, (unsigned long long)m->n_checkpoints,
	    m->n_checkpoints == 1 ? "" : "s", (unsigned long long)markers,
	    (unsigned long long)m->n_markers_bytes);
}

static void say_files(struct lz_reader *r)
{
	if (r->events.fd < 0)
		say(r, "damaged: the file `events` is missing");
	if (r->checkpoints.fd < 0)
		say(r, "damaged: the file `checkpoints` is missing");
	if (r->events.end)
		say(r, "cut: %s", r->events.end);
	if (r->checkpoints.end)
		say(r, "cut: %s", r->checkpoints.end);
	for (uint32_t i = 0; i < r->n_streams; i++)
		if (r->streams[i].frames.end)
			say(r, "cut: %s", r->streams[i].frames.end);
	for (uint32_t i = 0; i < r->n_files; i++)
		if (r->files[i].damage)
			say(r, "damaged: %s", r->files[i].damage);
}

static void say_stopped(struct lz_reader *r)
{
	const struct lz_meta *m = &r->meta;
	char end[40] = "";

	if (m->exit_status >= 0 && WIFSIGNALED(m->exit_status))
		snprintf(end, sizeof(end), ", signal %d", WTERMSIG(m->exit_status));
	else if (m->exit_status >= 0)
		snprintf(end, sizeof(end), ", exit status %d", WEXITSTATUS(m->exit_status));
	say(r, "incomplete: recording ended early: %s; the program went on%s", m->stopped, end);
}

int lz_reader_cut(struct lz_reader *r)
{
	struct lz_buf buf = {0};
	uint32_t i = r->n_syncs;

	/* An unfinished recording may well end in the middle of a frame: that is not worth a word
	 * of its own. */
	if (r->meta.state != LZ_REC_COMPLETE && *r->meta.stopped)
		say_stopped(r);
	else if (r->meta.state != LZ_REC_COMPLETE)
		say(r, "incomplete: lizard-trace %s",
		    lz_recording_busy(r->dir) ? "is still at work"
		                              : "was killed or ran out of disk space");
	say_files(r);
	while (i && !holds(r, r->syncs[i - 1], &buf))
		i--;
	if (i) {
		const struct lz_frame *f = &r->events.v[r->syncs[i - 1]];
		cut_to(r, f->key0, (uint32_t)f->key1 - r->first_ck, &buf);
	} else {
		cut_to(r, r->first_event, 0, &(struct lz_buf){0});
	}
	if (r->meta.state == LZ_REC_COMPLETE)
		say_counts(r);
	if (i)
		leave_out_last(r);
	lz_buf_free(&buf);
	return 0;
}
