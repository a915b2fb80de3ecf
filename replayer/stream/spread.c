/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/stream/spread.h"

#include <common/base/thread.h>
#include <lizard/error.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "replayer/stream/inside.h"

enum { MOST = 16, LOOK_EVERY_MS = 20 };

/* What the threads share, used with the stream's lock held. */
struct crew {
	struct lz_stream *s;
	const struct lz_spread *w;
	pthread_cond_t changed;
	uint32_t next;   /* block that nobody has taken */
	uint64_t offset; /* of it */
	unsigned at_work;
	int rc; /* not 0: no more blocks are taken */
	char *error;
};

struct hand {
	struct crew *crew;
	void *arg;
	struct lz_pairs *pairs;
	pthread_t thread;
	struct lz_cursor c;
};

unsigned lz_spread_cpus(void)
{
	cpu_set_t set;
	const int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n < 1 ? 1 : n > MOST ? MOST : (unsigned)n;
}

bool lz_spread_wants(const struct lz_stream *s, const struct lz_spread *w, uint32_t block)
{
	for (uint32_t fn = 0; w->watch && fn < s->n_fns; fn++)
		if (w->watch[fn] &&
		    (w->begins_only ? lz_stream_began(s, block, fn) : lz_stream_ran(s, block, fn)))
			return true;
	return !w->watch;
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

/* The next block that is of interest, or whose stacks at the end nobody knows. */
static bool take(struct crew *k, uint32_t *block)
{
	struct lz_stream *s = k->s;
	uint64_t len = 0;

	pthread_mutex_lock(&s->lock);
	while (!k->rc && k->next < s->n_blocks && is_indexed(s, k->next) &&
	       !lz_spread_wants(s, k->w, k->next))
		k->next++;
	const bool is = !k->rc && k->next < s->n_blocks;
	*block = k->next;
	k->next += is;
	if (k->next > 0 &&
	    lz_reader_block(s->own.reader, s->tid, k->next - 1, &k->offset, &len) == 0)
		k->offset += len;
	pthread_mutex_unlock(&s->lock);
	return is;
}

/* C has BLOCK loaded. The stacks at its start become known, and those at its end. Nobody waits for
 * one thread alone, so it looks at the markers at once: 1. Who is told to end finishes what he has
 * taken, so that all blocks before the last one have been looked at. */
static int find_stacks(struct hand *h, uint32_t block)
{
	struct crew *k = h->crew;
	const struct lz_spread *w = k->w;
	struct lz_stream *s = k->s;
	const bool alone = w->n == 1;
	int rc;

	while (k->rc >= 0 && s->n_starts <= block)
		pthread_cond_wait(&k->changed, &s->lock);
	if (k->rc < 0 || s->n_starts > block + 1)
		return k->rc < 0 ? k->rc : 0;
	rc = lz_index_next(s, &h->c, alone ? w->watch : NULL, alone ? w->fn : NULL, h->arg);
	pthread_cond_broadcast(&k->changed);
	return rc ? rc : alone;
}

static int do_block(struct hand *h, uint32_t block)
{
	struct crew *k = h->crew;
	struct lz_stream *s = k->s;
	int rc = load(s, &h->c, block);

	if (rc)
		return rc;
	pthread_mutex_lock(&s->lock);
	rc = find_stacks(h, block);
	const bool looks = rc == 0 && lz_spread_wants(s, k->w, block);
	if (looks)
		rc = lz_index_load(s, &h->c, block);
	pthread_mutex_unlock(&s->lock);
	if (rc || !looks)
		return rc < 0 ? rc : 0;
	return lz_cursor_begin(s, &h->c)
	           ? -1
	           : lz_cursor_decode(s, &h->c, UINT64_MAX, k->w->watch, k->w->fn, h->arg);
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
	h->c.d.pairs = h->pairs;
	while (rc == 0 && take(k, &block))
		rc = do_block(h, block);
	pthread_mutex_lock(&k->s->lock);
	if (rc)
		end(k, rc);
	k->at_work--;
	pthread_cond_broadcast(&k->changed);
	pthread_mutex_unlock(&k->s->lock);
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

static int to_the_end(struct lz_stream *s)
{
	struct lz_cursor *c = &s->own;

	if (lz_index_restore(s, c, s->n_blocks))
		return -1;
	c->at = lz_stream_len(s);
	c->turn = lz_turn_before(s->threads, c->at);
	return lz_decoder_switch(&c->d, s->threads->number[c->turn]);
}

static bool any_work(const struct lz_stream *s, const struct lz_spread *w)
{
	for (uint32_t i = 0; i < s->n_blocks; i++)
		if (!is_indexed(s, i) || lz_spread_wants(s, w, i))
			return true;
	return false;
}

int lz_stream_spread(struct lz_stream *s, const struct lz_spread *w)
{
	struct crew k = {.s = s, .w = w};
	struct hand hand[MOST] = {0};
	unsigned n = 0;

	if (!s->n_blocks)
		return 0;
	if (!any_work(s, w))
		return to_the_end(s);
	pthread_cond_init(&k.changed, NULL);
	for (; n < w->n && n < MOST; n++) {
		hand[n].crew = &k;
		hand[n].arg = w->arg[n];
		hand[n].pairs = w->pairs ? w->pairs[n] : NULL;
		pthread_mutex_lock(&s->lock);
		k.at_work++;
		pthread_mutex_unlock(&s->lock);
		if (lz_thread_start(&hand[n].thread, "lizard-reader", work, &hand[n]) < 0)
			break;
	}
	if (n < w->n) {
		pthread_mutex_lock(&s->lock);
		k.at_work--;
		if (!n)
			end(&k, -1);
		pthread_mutex_unlock(&s->lock);
	}
	oversee(&k);
	for (unsigned i = 0; i < n; i++)
		pthread_join(hand[i].thread, NULL);
	pthread_cond_destroy(&k.changed);
	if (k.error)
		lz_fail("%s", k.error);
	free(k.error);
	return k.rc ? k.rc : to_the_end(s);
}
