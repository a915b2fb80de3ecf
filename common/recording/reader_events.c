/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <common/recording/reader.h>
#include <lizard/error.h>

void lz_ev_cache_free(struct lz_ev_cache *c)
{
	for (unsigned k = 0; k < LZ_EV_SLOTS; k++) {
		free(c->slot[k].place);
		lz_buf_free(&c->slot[k].buf);
	}
	lz_event_room_free(&c->room);
	lz_cache_free(&c->chunks);
	memset(c, 0, sizeof(*c));
}

uint64_t lz_reader_n_events(const struct lz_reader *r)
{
	return r->n_events;
}

static uint32_t run_of(const struct lz_reader *r, uint64_t index)
{
	uint32_t n = lz_lower_bound(i, r->n_runs, r->runs[i].first <= index);

	return n ? n - 1 : 0;
}

/* Finds where each event of the run begins. */
static int place_events(struct lz_ev_slot *s, uint32_t count)
{
	struct lz_cur c = {.p = s->buf.p, .end = s->buf.p + s->buf.len};

	if (lz_reserve(s->place, s->room, count) < 0)
		return lz_fail("no memory for %u events", count);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *p = lz_event_skip(&c, &s->place[i].len);

		if (!p)
			return lz_fail("an event is cut short");
		s->place[i].off = (uint32_t)(p - s->buf.p);
	}
	return 0;
}

static struct lz_ev_slot *load_run(struct lz_reader *r, struct lz_ev_cache *c, uint32_t run)
{
	struct lz_ev_slot *s = &c->slot[0];

	for (unsigned k = 0; k < LZ_EV_SLOTS; k++) {
		if (c->slot[k].used && c->slot[k].run == run) {
			c->slot[k].used = ++c->clock;
			return &c->slot[k];
		}
		if (c->slot[k].used < s->used)
			s = &c->slot[k];
	}
	s->used = 0;
	if (lz_frames_read(&r->events, r->runs[run].frame, &s->buf) < 0 ||
	    place_events(s, r->runs[run].count) < 0) {
		lz_fail_in("events");
		return NULL;
	}
	s->run = run;
	s->used = ++c->clock;
	return s;
}

struct chunk_of {
	struct lz_reader *r;
	struct lz_ev_cache *c;
	uint32_t before; /* a frame: those behind it do not count */
};

static const uint8_t *get_chunk(void *arg, uint64_t chunk, uint32_t *len)
{
	const struct chunk_of *of = arg;
	const struct lz_reader *r = of->r;
	const uint64_t i = chunk - r->first_chunk;

	if (i >= r->n_chunks || r->chunks[i] >= of->before) {
		lz_fail("there is no chunk %llu in front of it", (unsigned long long)chunk);
		return NULL;
	}
	const struct lz_buf *b = lz_cache_get(&of->c->chunks, &r->events, r->chunks[i]);
	if (!b) {
		lz_fail_in("chunk %llu", (unsigned long long)chunk);
		return NULL;
	}
	*len = (uint32_t)b->len;
	return b->p;
}

static const struct lz_event *get_event(struct lz_reader *r, struct lz_ev_cache *c, uint64_t index)
{
	struct lz_ev_slot *s;
	uint32_t run, i;

	if (c->valid && c->index == index)
		return &c->event;
	if (index >= r->n_events) {
		lz_fail("there is no event %llu, the recording has %llu", (unsigned long long)index,
		        (unsigned long long)r->n_events);
		return NULL;
	}
	if (index < r->first_event) {
		lz_fail("event %llu was not kept, the recording begins with %llu",
		        (unsigned long long)index, (unsigned long long)r->first_event);
		return NULL;
	}
	run = run_of(r, index);
	s = load_run(r, c, run);
	if (!s)
		return NULL;
	i = (uint32_t)(index - r->runs[run].first);
	struct chunk_of of = {r, c, r->runs[run].frame};
	c->room.chunk = get_chunk;
	c->room.chunk_arg = &of;
	c->valid =
	    lz_event_get(s->buf.p + s->place[i].off, s->place[i].len, &c->event, &c->room) == 0;
	if (c->valid && r->runs[run].plain && !lz_event_plain(&c->event)) {
		lz_fail("it is not what its frame says");
		c->valid = false;
	}
	if (!c->valid) {
		lz_fail_in("event %llu", (unsigned long long)index);
		return NULL;
	}
	c->event.index = c->index = index;
	return &c->event;
}

const struct lz_event *lz_reader_event(struct lz_reader *r, uint64_t index)
{
	return get_event(r, &r->user, index);
}

static bool is_plain(const struct lz_reader *r, uint32_t run)
{
	return run >= r->n_runs || r->runs[run].plain;
}

/* The loader's calls are plain where it maps nothing. They stand beside those that map. */
uint64_t lz_reader_event_telling(const struct lz_reader *r, uint64_t index)
{
	uint32_t run = run_of(r, index);

	if (index >= r->n_events)
		return r->n_events;
	while (run < r->n_runs && is_plain(r, run) && is_plain(r, run + 1) &&
	       (!run || is_plain(r, run - 1)))
		run++;
	if (run == r->n_runs)
		return r->n_events;
	return r->runs[run].first > index ? r->runs[run].first : index;
}

/* Markers only grow: the frame headers tell where to look. */
static void narrow(const struct lz_reader *r, uint64_t marker, uint64_t *lo, uint64_t *hi)
{
	uint32_t run = lz_lower_bound(i, r->n_runs, r->runs[i].marker < marker);

	/* It begins at or behind the marker: the event is its first, or in the run before. */
	if (run < r->n_runs)
		*hi = r->runs[run].first;
	if (run)
		*lo = r->runs[run - 1].first;
}

static bool is_before(struct lz_reader *r, uint64_t index, uint64_t marker, bool *failed)
{
	const struct lz_event *ev = get_event(r, &r->search, index);

	*failed |= !ev;
	return ev && ev->marker < marker;
}

uint64_t lz_reader_event_after_marker(struct lz_reader *r, uint64_t marker)
{
	uint64_t lo = r->first_event, hi = r->n_events;
	bool failed = false;

	narrow(r, marker, &lo, &hi);
	if (lo < hi)
		lo += lz_lower_bound(i, hi - lo, is_before(r, lo + i, marker, &failed));
	return failed ? r->n_events : lo;
}
