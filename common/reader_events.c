#include <stdlib.h>
#include <string.h>
#include <common/reader.h>
#include <lizard/error.h>

void lz_ev_cache_free(struct lz_ev_cache *c)
{
	for (unsigned k = 0; k < LZ_EV_SLOTS; k++) {
		free(c->slot[k].off);
		free(c->slot[k].len);
		lz_buf_free(&c->slot[k].buf);
	}
	lz_event_room_free(&c->room);
	memset(c, 0, sizeof(*c));
}

uint64_t lz_reader_n_events(const struct lz_reader *r)
{
	return r->n_events;
}

static uint32_t run_of(const struct lz_reader *r, uint64_t index)
{
	uint32_t lo = 0, hi = r->n_runs;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (r->runs[mid].first <= index)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Finds where each event of the run begins. */
static int place_events(struct lz_ev_slot *s, uint32_t count)
{
	struct lz_cur c = {.p = s->buf.p, .end = s->buf.p + s->buf.len};
	uint32_t *off = reallocarray(s->off, count, sizeof(*off));
	uint32_t *len = off ? reallocarray(s->len, count, sizeof(*len)) : NULL;

	if (off)
		s->off = off;
	if (len)
		s->len = len;
	if (!off || !len)
		return lz_fail("no memory for %u events", count);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *p = lz_event_skip(&c, &len[i]);

		if (!p)
			return lz_fail("an event is cut short");
		off[i] = (uint32_t)(p - s->buf.p);
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
	c->valid = lz_event_get(s->buf.p + s->off[i], s->len[i], &c->event, &c->room) == 0;
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

/* Markers only grow: the frame headers tell where to look. */
static void narrow(const struct lz_reader *r, uint64_t marker, uint64_t *lo, uint64_t *hi)
{
	uint32_t a = 0, b = r->n_runs;

	while (a < b) {
		uint32_t mid = a + (b - a) / 2;

		if (r->runs[mid].marker >= marker)
			b = mid;
		else
			a = mid + 1;
	}
	/* Run a is the first that begins at or behind the marker: the event is in the run before, or its first. */
	if (a < r->n_runs)
		*hi = r->runs[a].first;
	if (a)
		*lo = r->runs[a - 1].first;
}

uint64_t lz_reader_event_after_marker(struct lz_reader *r, uint64_t marker)
{
	uint64_t lo = r->first_event, hi = r->n_events;

	narrow(r, marker, &lo, &hi);
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;
		const struct lz_event *ev = get_event(r, &r->search, mid);

		if (!ev)
			return r->n_events;
		if (ev->marker >= marker)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}
