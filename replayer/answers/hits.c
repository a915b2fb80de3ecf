/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/hits.h"

#include "replayer/answers/hit_gaps.h"
#include "replayer/answers/hit_rules.h"
#include "replayer/answers/last_frames.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

struct search {
	struct lz_asked *a;
	const struct lz_places *p;
	struct lz_hit_rules rules;
	struct lz_gaps *gaps; /* [n_threads]; NULL: hits are counted, wherever they are */
	uint32_t n_threads;
	uint64_t from, to; /* what is asked about */
	lz_hit_fn *fn;
	void *arg;
	uint64_t found, unknown;
};

/* Where a hit is: OFFSET is the beginning of its gap, SURE: that is certain. */
struct spot {
	uint64_t offset;
	bool sure;
};

static int tell(struct search *s, struct lz_decoder *d, uint32_t place, struct spot at)
{
	const struct lz_hit hit = {
	    .offset = at.offset, .thread = d->thread, .place = place, .sure = at.sure};

	if (at.offset < s->from || at.offset >= s->to)
		return 0;
	s->found++;
	return s->fn ? s->fn(s->arg, &hit) : 0;
}

static int not_told(struct search *s, uint64_t offset)
{
	s->unknown += offset >= s->from && offset < s->to;
	return 0;
}

/* ---- gaps ---- */

/* Another thread ran in the gap that ends at M, or ran before it. */
static bool is_cut(const struct search *s, const struct lz_mark *m)
{
	const struct lz_turn *turn = &s->a->turns.v[lz_turn_before(&s->a->threads, m->offset + 1)];

	return turn->switched && turn->marker >= m->from;
}

/* A handler of a signal may have run, which no code calls. */
static bool had_signal(const struct search *s, uint64_t from, uint64_t to)
{
	size_t n;
	const struct lz_delivery *v = lz_modules_deliveries(s->a->modules, &n);
	const size_t at = lz_lower_bound(i, n, v[i].marker < from);

	return at < n && v[at].marker <= to;
}

/* The gap in front of call number BEFORE of those that were made; N of them, and M ends the last
 * gap. */
static struct spot gap_before(const struct search *s, const struct lz_gap_call *call, size_t n,
                              size_t before, const struct lz_mark *m)
{
	if (before < n)
		return (struct spot){call[before].from, true};
	return (struct spot){m->from, !is_cut(s, m)};
}

static bool same_calls(const struct lz_rule *rule, const struct lz_gap_call *call, size_t n)
{
	if (rule->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (rule->callee[i] != call[i].entry)
			return false;
	return true;
}

/* Where ACT was at a place between its last marker and M. */
static struct spot find_spot(struct search *s, struct lz_decoder *d, const struct lz_act *act,
                             const struct lz_rule *rule, const struct lz_mark *m)
{
	const struct spot unsure = {act->last_at, false};
	size_t n;
	bool many;

	if (!s->gaps)
		return unsure;
	const struct lz_gap_call *call =
	    lz_gaps_of(&s->gaps[d->thread], lz_act_id(act), d->n, &n, &many);

	if (rule->gap == LZ_GAP_AFTER_LAST)
		return (struct spot){m->offset + lz_marker_size(m->code), true};
	if (many || had_signal(s, act->last_at, m->offset))
		return unsure;
	if (!n || rule->gap == LZ_GAP_LAST)
		return gap_before(s, call, n, n, m);
	if (rule->gap == LZ_GAP_FIRST)
		return gap_before(s, call, n, 0, m);
	if (rule->gap == LZ_GAP_BETWEEN && same_calls(rule, call, n))
		return gap_before(s, call, n, rule->before, m);
	return unsure;
}

/* ---- markers ---- */

/* ACT, on top, has written M, which is TO for it. */
static int pair(struct search *s, struct lz_decoder *d, const struct lz_act *act, uint32_t to,
                const struct lz_mark *m)
{
	int rc = 0;

	for (uint32_t i = s->rules.first[act->fn]; rc == 0 && i; i = s->rules.next[i - 1]) {
		const struct lz_rule *rule = lz_hit_rule(&s->rules.v[i - 1], act->last, to);

		if (!rule)
			return -1;
		if (rule->told == LZ_TOLD_NOT)
			rc = not_told(s, act->last_at);
		else if (rule->told == LZ_TOLD_YES)
			rc = tell(s, d, i - 1, find_spot(s, d, act, rule, m));
	}
	if (s->gaps)
		lz_gaps_clear(&s->gaps[d->thread], d->n);
	return rc;
}

/* It has called ABOVE, or (NULL) what writes no markers, and that does not return. */
static int unwound(struct search *s, struct lz_decoder *d, const struct lz_act *act,
                   const struct lz_act *above)
{
	const struct lz_fn *to = above ? lz_stream_fn(s->a->stream, above->fn) : NULL;
	int rc = 0;

	if (act->fn == LZ_FN_NONE || act->tail > 1)
		return 0;
	for (uint32_t i = s->rules.first[act->fn]; rc == 0 && i; i = s->rules.next[i - 1]) {
		struct lz_place_rules *r = &s->rules.v[i - 1];
		const uint64_t callee = to && to->mod == r->fn->mod ? to->f->entry : 0;
		const int told = lz_hit_unwound(r, act->last, callee);

		if (told < 0)
			return -1;
		if (told == LZ_TOLD_NOT)
			rc = not_told(s, act->last_at);
		else if (told == LZ_TOLD_YES)
			rc = tell(s, d, i - 1, (struct spot){act->last_at, false});
	}
	return rc;
}

static int enter(struct search *s, struct lz_decoder *d, const struct lz_mark *m)
{
	const struct lz_act *top = lz_decoder_top(d);
	const uint32_t fn = lz_decoder_fn(d, m->entry, m->offset);
	int rc = 0;

	if (s->gaps && top && top->fn != LZ_FN_NONE && s->rules.first[top->fn])
		rc = lz_gaps_add(&s->gaps[d->thread], lz_act_id(top), d->n,
		                 is_cut(s, m) ? top->last_at : m->from, m->entry);
	for (uint32_t i = fn == LZ_FN_NONE ? 0 : s->rules.first[fn]; rc == 0 && i;
	     i = s->rules.next[i - 1]) {
		const enum lz_told first = s->rules.v[i - 1].first;

		if (first == LZ_TOLD_NOT)
			rc = not_told(s, m->from);
		else if (first == LZ_TOLD_YES)
			rc = tell(s, d, i - 1, (struct spot){m->from, s->gaps && !is_cut(s, m)});
	}
	return rc;
}

/* Control comes back to an activation: behind its call, if that has returned, or else from further
 * down. Those above it are gone. */
static int land(struct search *s, struct lz_decoder *d, const struct lz_mark *m)
{
	size_t stay;
	const struct lz_act *to = lz_decoder_landed(d, m, &stay);
	int rc = 0;

	for (size_t i = d->n; rc == 0 && i-- > stay;)
		rc = unwound(s, d, &d->acts[i], i + 1 < d->n ? &d->acts[i + 1] : NULL);
	if (rc || !to || to->fn == LZ_FN_NONE || to < d->acts || to >= d->acts + d->n)
		return rc;
	/* the first one names the activation, and is no marker of its graph */
	if (!to->frame && to->last == LZ_SET_ENTER)
		return 0;
	if (to != lz_decoder_top(d))
		return unwound(s, d, to, to + 1);
	return pair(s, d, to, LZ_LAST_LANDING, m);
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct search *s = arg;
	const struct lz_act *top = lz_decoder_top(d);

	if (d->thread >= s->n_threads || !lz_asked_thread(s->a, d->thread))
		return 0;
	if (m->code == LZ_ENTER)
		return enter(s, d, m);
	if (m->code == LZ_LANDING)
		return land(s, d, m);
	if (!top || top->fn == LZ_FN_NONE || !s->rules.first[top->fn])
		return 0;
	if (m->code != LZ_EXIT && m->code != LZ_TAIL)
		return pair(s, d, top, m->id, m);
	/* the call behind TAIL returns, and EXIT follows; or TAIL was its end */
	if (m->code == LZ_TAIL && d->tail && d->tail(d->arg, top->fn) == LZ_TAIL_RETURNS)
		return 0;
	return top->tail ? 0 : pair(s, d, top, m->code == LZ_EXIT ? LZ_SET_EXIT : LZ_NEXT_TAIL, m);
}

/* ---- what did not come to an end ---- */

/* WHERE: the frame of the activation; NULL: not known. */
static int unfinished(struct search *s, struct lz_decoder *d, const struct lz_act *act,
                      const struct lz_act *above, const struct lz_last_frame *where)
{
	int rc = 0;

	for (uint32_t i = s->rules.first[act->fn]; where && rc == 0 && i;
	     i = s->rules.next[i - 1]) {
		const int told =
		    lz_passes_up_to(s->rules.v[i - 1].passes, act->last, where->pc, !where->exact);

		if (told < 0)
			return -1;
		if (told == LZ_TOLD_NOT)
			rc = not_told(s, act->last_at);
		else if (told == LZ_TOLD_YES)
			rc = tell(s, d, i - 1, (struct spot){act->last_at, false});
	}
	return where || rc ? rc : unwound(s, d, act, above);
}

static int stack(struct search *s, struct lz_decoder *d, const struct lz_act *acts, size_t n,
                 const struct lz_last_frames *f)
{
	size_t at = 0;
	int rc = 0;

	for (size_t i = n; rc == 0 && i-- > 0;) {
		const bool known = f && at < f->n && f->v[at].fn == acts[i].fn;

		if (acts[i].fn == LZ_FN_NONE || acts[i].tail > 1)
			continue;
		rc = unfinished(s, d, &acts[i], i + 1 < n ? &acts[i + 1] : NULL,
		                known ? &f->v[at] : NULL);
		at += known;
	}
	return rc;
}

static bool any_open(const struct search *s, const struct lz_act *acts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (acts[i].fn != LZ_FN_NONE && s->rules.first[acts[i].fn])
			return true;
	return false;
}

static int rest(struct search *s)
{
	struct lz_decoder *d = lz_stream_decoder(s->a->stream);
	struct lz_last_frames *f = NULL;
	uint32_t n = 0;
	bool open = any_open(s, d->acts, d->n);
	int rc = 0;

	for (uint32_t t = 0; t < d->n_stacks; t++)
		open |= any_open(s, d->stack[t].acts, d->stack[t].n);
	if (!open)
		return 0;
	if (!(f = lz_last_frames_find(s->a, &n)))
		lz_debug("the last frames are not known: %s", lz_error());
	for (uint32_t t = 0; rc == 0 && t < s->n_threads; t++) {
		if (lz_asked_thread(s->a, t) && lz_decoder_switch(d, t) == 0)
			rc = stack(s, d, d->acts, d->n,
			           lz_last_frames_of(f, n, lz_asked_tid(s->a, t)));
	}
	lz_last_frames_free(f, n);
	return rc;
}

/* ---- all ---- */

/* The functions, and whatever may unwind them. */
static uint8_t *watch_for(const struct search *s)
{
	const size_t n = lz_stream_n_fns(s->a->stream);
	uint8_t *watch = calloc(n + 1, 1);

	for (size_t i = 0; watch && i < n; i++) {
		const bool lands =
		    lz_stream_fn(s->a->stream, (uint32_t)i)->f->flags & LZ_FN_LANDING;

		watch[i] = s->rules.first[i] ? LZ_WATCH_ALL : lands ? LZ_WATCH_BEGIN : 0;
	}
	return watch;
}

/* A place between two markers is in the piece that is asked about if its gap begins there, wherever
 * the markers are: so all of it is read. */
static int search_all(struct search *s)
{
	struct lz_asked *a = s->a;
	uint8_t *watch = watch_for(s);
	struct lz_walk w = {.watch = watch, .fn = on_mark, .arg = s};

	if (!watch)
		return lz_fail("out of memory for a search");
	a->from = lz_reader_first_marker(a->reader);
	a->to = lz_stream_len(a->stream);
	int rc = lz_asked_walk(a, "reading the control flow", &w);
	if (rc == 0 && !a->partial)
		rc = rest(s);
	a->from = s->from;
	a->to = s->to;
	free(watch);
	return rc;
}

int lz_hits_each(struct lz_asked *a, const struct lz_places *p, lz_hit_fn *fn, void *arg,
                 uint64_t *unknown)
{
	struct search s = {.a = a,
	                   .p = p,
	                   .n_threads = a->threads.n,
	                   .from = a->from,
	                   .to = a->to,
	                   .fn = fn,
	                   .arg = arg};
	int rc = lz_hit_rules_make(a, p, &s.rules);

	if (s.to == lz_stream_len(a->stream))
		s.to = UINT64_MAX;
	s.gaps = calloc(s.n_threads + 1u, sizeof(*s.gaps));
	if (rc == 0)
		rc = s.gaps ? search_all(&s) : lz_fail("out of memory for %u threads", s.n_threads);
	for (uint32_t i = 0; s.gaps && i < s.n_threads; i++)
		lz_gaps_free(&s.gaps[i]);
	free(s.gaps);
	lz_hit_rules_free(&s.rules);
	if (a->to > lz_stream_len(a->stream))
		a->to = lz_stream_len(a->stream);
	*unknown = s.unknown;
	return rc;
}

/* ---- their number ---- */

/* Where pairs of markers are counted, each is looked at once. */
struct counter {
	struct search s;
	struct lz_pairs *pairs; /* by function; NULL: none are counted */
};

enum { ROOM = 64 << 20 }; /* bytes of their squares, of which most are never touched */

/* Of the functions that are asked about. Pairs do not say of which thread they are. */
static int make_pairs(struct counter *c)
{
	const size_t n = lz_stream_n_fns(c->s.a->stream);
	size_t left = ROOM;
	int rc = 0;

	if (c->s.a->tid)
		return 0;
	if (!(c->pairs = calloc(n + 1, sizeof(*c->pairs))))
		return lz_fail("out of memory for %zu functions", n);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		if (c->s.rules.first[i])
			rc = lz_pairs_make(&c->pairs[i],
			                   lz_stream_fn(c->s.a->stream, i)->f->n_markers, &left);
	return rc;
}

static void free_counter(struct counter *c)
{
	const size_t n = lz_stream_n_fns(c->s.a->stream);

	for (size_t i = 0; c->pairs && i < n; i++)
		free(c->pairs[i].square);
	free(c->pairs);
	lz_hit_rules_free(&c->s.rules);
}

static void add_told(struct search *s, enum lz_told told, uint64_t times)
{
	s->found += told == LZ_TOLD_YES ? times : 0;
	s->unknown += told == LZ_TOLD_NOT ? times : 0;
}

static int add_pairs_of(struct search *s, struct lz_place_rules *r, const struct lz_pairs *p)
{
	const size_t n = p->square ? (size_t)p->side * p->side : 0;

	for (size_t i = 0; i < n; i++) {
		const uint32_t from = (uint32_t)(i / p->side), to = (uint32_t)(i % p->side);

		if (!p->square[i])
			continue;
		const struct lz_rule *rule =
		    lz_hit_rule(r, from ? from : LZ_SET_ENTER, to ? to : LZ_SET_EXIT);
		if (!rule)
			return -1;
		add_told(s, rule->told, p->square[i]);
	}
	add_told(s, r->first, p->calls);
	return 0;
}

static int add_pairs(struct counter *c)
{
	const size_t n = c->pairs ? lz_stream_n_fns(c->s.a->stream) : 0;
	int rc = 0;

	for (size_t fn = 0; fn < n; fn++)
		for (uint32_t i = c->s.rules.first[fn]; rc == 0 && i; i = c->s.rules.next[i - 1])
			rc = add_pairs_of(&c->s, &c->s.rules.v[i - 1], &c->pairs[fn]);
	return rc;
}

/* Each thread has rules of its own, since they are worked out when they are needed. */
static int begin_counting(struct lz_asked *a, const struct lz_places *p, struct counter *c,
                          unsigned cpus)
{
	int rc = 0;

	for (unsigned i = 0; i < cpus; i++)
		c[i].s = (struct search){
		    .a = a, .p = p, .n_threads = a->threads.n, .from = a->from, .to = UINT64_MAX};
	for (unsigned i = 0; rc == 0 && i < cpus; i++) {
		rc = lz_hit_rules_make(a, p, &c[i].s.rules);
		if (rc == 0)
			rc = make_pairs(&c[i]);
	}
	return rc;
}

static int count_on(struct lz_asked *a, struct counter *c, struct lz_spread *w)
{
	uint8_t *watch = watch_for(&c->s);

	w->watch = watch;
	for (unsigned i = 0; i < w->n; i++) {
		w->arg[i] = &c[i].s;
		w->pairs[i] = c[i].pairs;
	}
	int rc = watch ? lz_asked_spread(a, "reading the control flow", w)
	               : lz_fail("out of memory for a search");
	for (unsigned i = 0; rc == 0 && i < w->n; i++)
		rc = add_pairs(&c[i]);
	if (rc == 0 && !a->partial)
		rc = rest(&c->s);
	free(watch);
	return rc;
}

static int count_apart(struct lz_asked *a, const struct lz_places *p, unsigned cpus, uint64_t *n,
                       uint64_t *unknown)
{
	struct counter *c = calloc(cpus, sizeof(*c));
	void **arg = calloc(cpus, sizeof(*arg));
	struct lz_pairs **pairs = calloc(cpus, sizeof(*pairs));
	struct lz_spread w = {.fn = on_mark, .inner = true, .arg = arg, .n = cpus, .pairs = pairs};
	int rc = c && arg && pairs ? begin_counting(a, p, c, cpus)
	                           : lz_fail("out of memory for %u threads", cpus);

	if (rc == 0)
		rc = count_on(a, c, &w);
	for (unsigned i = 0; c && arg && pairs && i < cpus; i++) {
		*n += c[i].s.found;
		*unknown += c[i].s.unknown;
		free_counter(&c[i]);
	}
	free(c);
	free(arg);
	free(pairs);
	return rc;
}

static int count_one(void *arg, const struct lz_hit *hit)
{
	uint64_t *n = arg;

	(void)hit;
	++*n;
	return 0;
}

int lz_hits_count(struct lz_asked *a, const struct lz_places *p, uint64_t *n, uint64_t *unknown)
{
	const bool all =
	    a->from == lz_reader_first_marker(a->reader) && a->to == lz_stream_len(a->stream);
	const unsigned cpus = lz_asked_cpus();

	/* whether a hit is in a piece depends on where it is */
	*n = *unknown = 0;
	return cpus && all ? count_apart(a, p, cpus, n, unknown)
	                   : lz_hits_each(a, p, count_one, n, unknown);
}

/* ---- positions ---- */

bool lz_hit_position(struct lz_asked *a, const struct lz_places *p, const struct lz_hit *hit,
                     char buf[LZ_POS_TEXT])
{
	struct lz_reader *r = a->reader;
	struct lz_pos pos = {.tid = lz_asked_tid(a, hit->thread),
	                     .n = 1,
	                     .marker = hit->offset,
	                     .ip = p->v[hit->place].addr};
	const struct lz_event *ev;

	if (hit->sure) {
		pos.event = lz_reader_event_after_marker(r, hit->offset);
		ev = pos.event < lz_reader_n_events(r) ? lz_reader_event(r, pos.event) : NULL;
		if (!ev || ev->marker != hit->offset) {
			lz_pos_print(&pos, buf);
			return true;
		}
	}
	lz_asked_instant(pos.tid, pos.marker, buf);
	return false;
}
