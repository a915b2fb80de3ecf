/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/stream/spread.h"

#include <common/base/thread.h>
#include <lizard/error.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "replayer/stream/piece.h"
#include "replayer/stream/wanted.h"

/* Two that write to one line of the cache wait for each other. */
enum { MOST = 16, LOOK_EVERY_MS = 20, APART = 128 };

/* What the threads share, used with the stream's lock held. */
struct crew {
	struct lz_stream *s;
	const struct lz_spread *w;
	struct lz_wanted wanted;
	pthread_cond_t changed;
	uint32_t first, last; /* blocks that are asked about */
	uint32_t next;        /* block that nobody has taken */
	uint64_t offset;      /* of it */
	uint64_t taken, done; /* blocks; those before are done */
	unsigned at_work;
	int rc; /* not 0: no more blocks are taken */
	char *error;
};

struct hand {
	_Alignas(APART) struct crew *crew;
	void *arg;
	struct lz_pairs *pairs;
	pthread_t thread;
	struct lz_cursor c;
	struct lz_piece piece;
	uint8_t *running; /* by function: in the piece */
	uint64_t place;   /* of its block among those that are taken */
};

unsigned lz_spread_cpus(void)
{
	cpu_set_t set;
	const int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n < 1 ? 1 : n > MOST ? MOST : (unsigned)n;
}

/* Nothing that is computed again is known to a reader of one's own, until it is kept. */
static int load(struct lz_stream *s, struct lz_cursor *c, uint32_t block)
{
	struct lz_reader *own = c->reader;

	if (lz_cursor_load(s, c, block) == 0)
		return 0;
	pthread_mutex_lock(&s->lock);
	c->reader = s->own.reader;
	const int rc = lz_cursor_load(s, c, block);
	c->reader = own;
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void end(struct crew *k, int rc)
{
	if (k->rc >= 0 && rc < 0)
		k->error = strdup(lz_error());
	if (!k->rc || rc < 0)
		k->rc = k->rc < 0 ? k->rc : rc;
	pthread_cond_broadcast(&k->changed);
}

static bool is_indexed(const struct lz_stream *s, uint32_t block)
{
	return block + 1 < s->n_starts;
}

static bool wants(const struct crew *k, uint32_t block)
{
	return block >= k->first && lz_wanted_in(&k->wanted, block);
}

/* The next block that is of interest, or whose stacks at the end nobody knows. */
static bool take(struct hand *h, uint32_t *block)
{
	struct crew *k = h->crew;
	struct lz_stream *s = k->s;
	uint64_t len = 0;

	pthread_mutex_lock(&s->lock);
	while (!k->rc && k->next <= k->last && is_indexed(s, k->next) && !wants(k, k->next))
		k->next++;
	const bool is = !k->rc && k->next <= k->last;
	*block = k->next;
	k->next += is;
	h->place = k->taken;
	k->taken += is;
	if (k->next > 0 &&
	    lz_reader_block(s->own.reader, s->tid, k->next - 1, &k->offset, &len) == 0)
		k->offset += len;
	pthread_mutex_unlock(&s->lock);
	return is;
}

/* What is known of the block without the stacks at its start is looked at. */
static int decode_piece(struct hand *h, const struct lz_looking *l)
{
	struct lz_stream *s = h->crew->s;

	memset(h->running, 0, s->n_fns + 1);
	h->piece.d.ran = h->running;
	h->piece.d.pairs = l->fn ? h->pairs : NULL;
	return lz_piece_decode(s, &h->c, &h->piece, l);
}

/* The stacks at BLOCK's start become known, and those at its end. Who is told to end finishes what
 * he has taken, so that all blocks before the last one have been looked at. */
static int find_stacks(struct hand *h, uint32_t block, const struct lz_looking *l)
{
	struct crew *k = h->crew;
	struct lz_stream *s = k->s;
	int rc = k->w->n > 1 ? decode_piece(h, l) : 0;

	if (rc)
		return rc;
	pthread_mutex_lock(&s->lock);
	while (k->rc >= 0 && s->n_starts <= block)
		pthread_cond_wait(&k->changed, &s->lock);
	rc = k->rc < 0 ? k->rc : 0;
	h->c.d.pairs = l->fn ? h->pairs : NULL;
	if (rc == 0)
		rc = lz_index_next(s, &h->c, k->w->n > 1 ? &h->piece : NULL, l);
	pthread_cond_broadcast(&k->changed);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static int decode_asked(struct hand *h, const struct lz_looking *l)
{
	const struct lz_spread *w = h->crew->w;
	struct lz_cursor *c = &h->c;
	const uint64_t end = c->buf_start + c->buf_len;
	const uint64_t to = w->to && w->to < end ? w->to : end;
	int rc = w->begin ? w->begin(h->arg, &c->d, c->at) : 0;

	c->d.pairs = h->pairs;
	c->d.calls_only = w->calls_only;
	c->turn_ends = w->end;
	c->turn_arg = h->arg;
	if (rc == 0)
		rc = lz_cursor_decode(h->crew->s, c, to, l->watch, l->fn, l->arg);
	c->d.calls_only = false;
	c->turn_ends = NULL;
	return rc || !w->end ? rc : w->end(h->arg, &c->d, to);
}

/* The stacks at its start are known. */
static int look_at(struct hand *h, uint32_t block, const struct lz_looking *l)
{
	struct lz_stream *s = h->crew->s;
	const uint64_t from = h->crew->w->from;

	pthread_mutex_lock(&s->lock);
	int rc = lz_index_load(s, &h->c, block);
	pthread_mutex_unlock(&s->lock);
	if (rc == 0)
		rc = lz_cursor_begin(s, &h->c);
	h->c.d.pairs = NULL;
	if (rc == 0 && h->c.at < from)
		rc = lz_cursor_decode(s, &h->c, from, NULL, NULL, NULL);
	return rc == 0 ? decode_asked(h, l) : rc;
}

/* May the block that is loaded be looked at while its stacks are found? Not if somebody wants to
 * see them. */
static bool at_once(const struct hand *h, uint32_t block)
{
	const struct crew *k = h->crew;
	const struct lz_spread *w = k->w;

	return (w->inner || w->n == 1) && !w->begin && !w->end && !w->calls_only &&
	       block >= k->first && h->c.buf_start >= w->from &&
	       (!w->to || h->c.buf_start + h->c.buf_len <= w->to);
}

static int do_block(struct hand *h, uint32_t block)
{
	struct crew *k = h->crew;
	struct lz_stream *s = k->s;
	const struct lz_looking l = {k->w->watch, k->w->fn, h->arg}, none = {0};
	int rc = load(s, &h->c, block);

	if (rc)
		return rc;
	if (!is_indexed(s, block)) {
		const bool looks = at_once(h, block);

		rc = find_stacks(h, block, looks ? &l : &none);
		if (rc || looks)
			return rc;
	}
	return wants(k, block) ? look_at(h, block, &l) : 0;
}

/* Those before it are told first. */
static int tell(struct hand *h)
{
	struct crew *k = h->crew;

	pthread_mutex_lock(&k->s->lock);
	while (k->rc >= 0 && k->done < h->place)
		pthread_cond_wait(&k->changed, &k->s->lock);
	int rc = k->rc < 0 ? k->rc : 0;
	pthread_mutex_unlock(&k->s->lock);
	if (rc == 0)
		rc = k->w->in_order(h->arg);
	pthread_mutex_lock(&k->s->lock);
	k->done++;
	pthread_cond_broadcast(&k->changed);
	pthread_mutex_unlock(&k->s->lock);
	return rc;
}

static void *work(void *arg)
{
	struct hand *h = arg;
	struct crew *k = h->crew;
	struct lz_reader *r = lz_reader_again(k->s->own.reader);
	int rc = r ? 0 : -1;
	uint32_t block;

	if (r)
		lz_cursor_init(k->s, &h->c, r);
	lz_piece_init(k->s, &h->piece);
	if (rc == 0 && !(h->running = malloc(k->s->n_fns + 1)))
		rc = lz_fail("out of memory for %zu functions", k->s->n_fns);
	while (rc == 0 && take(h, &block)) {
		rc = do_block(h, block);
		if (rc == 0 && k->w->in_order)
			rc = tell(h);
	}
	pthread_mutex_lock(&k->s->lock);
	if (rc)
		end(k, rc);
	k->at_work--;
	pthread_cond_broadcast(&k->changed);
	pthread_mutex_unlock(&k->s->lock);
	lz_piece_free(&h->piece);
	free(h->running);
	if (r)
		lz_cursor_free(&h->c);
	lz_reader_close(r);
	return NULL;
}

static void wait_a_while(struct crew *k)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += LOOK_EVERY_MS * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000L;
	t.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(&k->changed, &k->s->lock, &t);
}

/* Returns when no thread works any more. */
static void oversee(struct crew *k)
{
	pthread_mutex_lock(&k->s->lock);
	while (k->at_work) {
		wait_a_while(k);
		const uint64_t offset = k->offset;
		pthread_mutex_unlock(&k->s->lock);
		const int rc = k->w->at ? k->w->at(k->w->at_arg, offset) : 0;
		pthread_mutex_lock(&k->s->lock);
		if (rc)
			end(k, rc);
	}
	pthread_mutex_unlock(&k->s->lock);
}

static int to_the_end(struct lz_stream *s, uint64_t to)
{
	struct lz_cursor *c = &s->own;

	if (to && to < lz_stream_len(s))
		return lz_stream_decode(s, lz_stream_block_of(s, to), to, NULL, NULL, NULL);
	if (lz_index_restore(s, c, s->n_blocks))
		return -1;
	c->at = lz_stream_len(s);
	c->turn = lz_turn_before(s->threads, c->at);
	return lz_decoder_switch(&c->d, s->threads->number[c->turn]);
}

/* How many blocks. */
static uint32_t all_work(const struct crew *k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= k->last; i++)
		n += !is_indexed(k->s, i) || wants(k, i);
	return n;
}

/* Up to N threads; how many there are. */
static unsigned start(struct crew *k, struct hand *hand, unsigned n)
{
	unsigned i = 0;

	k->at_work = n;
	for (; i < n; i++) {
		hand[i].crew = k;
		hand[i].arg = k->w->arg[i];
		hand[i].pairs = k->w->pairs ? k->w->pairs[i] : NULL;
		if (lz_thread_start(&hand[i].thread, "lizard-reader", work, &hand[i]) < 0)
			break;
	}
	pthread_mutex_lock(&k->s->lock);
	k->at_work -= n - i;
	if (!i)
		end(k, -1);
	pthread_mutex_unlock(&k->s->lock);
	return i;
}

/* On threads, as much as there is. */
static int spread_work(struct crew *k, uint32_t work_left)
{
	struct hand hand[MOST] = {0};
	unsigned n = k->w->n < MOST ? k->w->n : MOST;

	pthread_cond_init(&k->changed, NULL);
	n = start(k, hand, n < work_left ? n : work_left);
	oversee(k);
	for (unsigned i = 0; i < n; i++)
		pthread_join(hand[i].thread, NULL);
	pthread_cond_destroy(&k->changed);
	if (k->error)
		lz_fail("%s", k->error);
	free(k->error);
	return k->rc;
}

int lz_stream_spread(struct lz_stream *s, const struct lz_spread *w)
{
	struct crew k = {.s = s, .w = w};

	if (!s->n_blocks)
		return 0;
	if (lz_wanted_make(&k.wanted, s, w->watch, w->begins_only) < 0)
		return -1;
	k.first = lz_stream_block_of(s, w->from);
	k.last = w->to ? lz_stream_block_of(s, w->to - 1) : s->n_blocks - 1;
	const uint32_t work_left = all_work(&k);
	int rc = work_left ? spread_work(&k, work_left) : 0;
	lz_wanted_free(&k.wanted);
	return rc ? rc : to_the_end(s, w->to);
}
