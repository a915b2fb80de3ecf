/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/log/gather.h"

#include "tracer/state/tracer.h"

#include <common/base/thread.h>
#include <errno.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between two looks: longer while little comes, until a look every 4 ms has met nothing 25
 * times. */
enum { REST_MIN_US = 250, REST_MAX_US = 4000, QUIET_LOOKS = 25 };

struct lz_gather {
	struct lz_writer *w;
	uint32_t tid;
	uint8_t *ring;
	pthread_t thread;
	pthread_mutex_t lock; /* who gathers */
	pthread_cond_t wake;
	struct {
		uint32_t from, to;
	} part[LZ_RING_BUFFERS];
	/* Counts; the buffer's number in the ring is the rest of the division. */
	_Atomic uint32_t lent, gathered;
	_Atomic bool asleep; /* must be woken */
	bool stop;
	_Atomic bool failed;
	char error[1024];
};

static int gather_one(struct lz_gather *g)
{
	uint32_t i = g->gathered % LZ_RING_BUFFERS;
	uint8_t *buffer = g->ring + (size_t)i * LZ_BUFFER_SIZE;
	uint32_t from = g->part[i].from, to = g->part[i].to;

	if (from < to && lz_writer_markers(g->w, g->tid, buffer + from, to - from) < 0) {
		snprintf(g->error, sizeof(g->error), "%s", lz_error());
		g->failed = true;
		return -1;
	}
	memset(buffer, 0, LZ_BUFFER_GUARD);
	g->gathered++;
	return 0;
}

/* With the lock held. How many there were, -1: failed. */
static int gather(struct lz_gather *g)
{
	int n = 0;

	for (; !g->failed && g->gathered != g->lent; n++)
		gather_one(g);
	return g->failed ? lz_fail("%s", g->error) : n;
}

/* With the lock held, nothing else lent. */
static int sum_one(struct lz_gather *g, uint32_t from, uint32_t to)
{
	const uint32_t i = g->lent % LZ_RING_BUFFERS;
	uint8_t *buffer = g->ring + (size_t)i * LZ_BUFFER_SIZE;

	if (from < to && lz_writer_sum_markers(g->w, g->tid, buffer + from, to - from) < 0)
		return -1;
	memset(buffer, 0, LZ_BUFFER_GUARD);
	g->lent++;
	g->gathered++;
	return 0;
}

static void sleep_until_woken(struct lz_gather *g)
{
	g->asleep = true;
	while (!g->stop && g->asleep && g->gathered == g->lent)
		pthread_cond_wait(&g->wake, &g->lock);
	g->asleep = false;
}

static void *work(void *arg)
{
	struct lz_gather *g = arg;
	uint32_t us = REST_MAX_US;
	int n, quiet = 0;

	pthread_mutex_lock(&g->lock);
	while (!g->stop && (n = gather(g)) >= 0) {
		if (n > LZ_RING_BUFFERS / 2 && us > REST_MIN_US)
			us /= 2;
		else if (n < LZ_RING_BUFFERS / 4 && us < REST_MAX_US)
			us *= 2;
		quiet = n ? 0 : quiet + 1;
		if (quiet < QUIET_LOOKS)
			lz_thread_rest(&g->wake, &g->lock, us);
		else
			sleep_until_woken(g);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

static void destroy(struct lz_gather *g)
{
	pthread_cond_destroy(&g->wake);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

struct lz_gather *lz_gather_start(struct lz_writer *w, uint32_t tid, uint8_t *ring,
                                  const cpu_set_t *cpus)
{
	struct lz_gather *g = calloc(1, sizeof(*g));

	if (!g) {
		lz_fail("no memory");
		return NULL;
	}
	g->w = w;
	g->tid = tid;
	g->ring = ring;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->wake, NULL);
	if (lz_thread_start(&g->thread, "lizard-gather", work, g) < 0) {
		destroy(g);
		return NULL;
	}
	pthread_setaffinity_np(g->thread, sizeof(*cpus), cpus);
	return g;
}

static void wake(struct lz_gather *g)
{
	pthread_mutex_lock(&g->lock);
	g->asleep = false;
	pthread_cond_signal(&g->wake);
	pthread_mutex_unlock(&g->lock);
}

int lz_gather_all(struct lz_gather *g)
{
	if (g->gathered == g->lent && !g->failed)
		return 0;
	pthread_mutex_lock(&g->lock);
	int n = gather(g);
	pthread_mutex_unlock(&g->lock);
	return n < 0 ? -1 : 0;
}

int lz_gather_sum(struct lz_gather *g, uint32_t from, uint32_t to)
{
	pthread_mutex_lock(&g->lock);
	int ret = gather(g) < 0 ? -1 : sum_one(g, from, to);
	pthread_mutex_unlock(&g->lock);
	return ret;
}

int lz_gather_lend(struct lz_gather *g, uint32_t from, uint32_t to)
{
	uint32_t i = g->lent % LZ_RING_BUFFERS;

	g->part[i].from = from;
	g->part[i].to = to;
	g->lent++;
	if (g->asleep)
		wake(g);
	return g->failed || g->lent - g->gathered == LZ_RING_BUFFERS ? lz_gather_all(g) : 0;
}

void lz_gather_stop(struct lz_gather *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	g->stop = true;
	pthread_cond_signal(&g->wake);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->thread, NULL);
	destroy(g);
}
