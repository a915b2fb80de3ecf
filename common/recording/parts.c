/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <common/base/array.h>
#include <common/recording/parts.h>
#include <lizard/error.h>

/* A part is about this fraction of the limit, so that much is left when the oldest one goes; */
enum { PARTS = 8 };
/* but its whole checkpoint must not be most of what is written. */
enum { WHOLE_FACTOR = 2 };
/* Raw bytes in the worker's queue: when it is time for a new part is guessed from how they have
 * packed so far. */
enum { QUEUE_PART = 4, QUEUE_MIN = 1 << 20 };

/* What is on disk, the oldest part first. */
struct held {
	uint32_t number;
	uint64_t bytes;
	bool begun;   /* replay can start there */
	char **names; /* of its files, the last one first to go */
	uint32_t n_names;
	char **gone; /* copies that it does not need, nor do those behind it */
	uint32_t n_gone;
};

struct lz_parts {
	uint64_t limit;
	int dirfd, filesfd;
	uint32_t asked; /* parts that the writer has begun */
	_Atomic uint32_t begun, oldest;
	_Atomic uint64_t start,
	    whole; /* the present part: bytes written before it, and in its checkpoint */
	/* The worker's. */
	uint64_t total, written; /* on disk; ever */
	struct held *part;
	uint32_t n_parts;
	bool warned;
};

static void free_names(char **names, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

void lz_part_free(struct lz_part *p)
{
	free_names(p->gone, p->n_gone);
	free(p->outs);
	free(p);
}

static void held_free(struct held *h)
{
	free_names(h->names, h->n_names);
	free_names(h->gone, h->n_gone);
}

void lz_part_name(const char *name, uint32_t number, char out[LZ_PART_NAME])
{
	if (number)
		snprintf(out, LZ_PART_NAME, "%s.%u", name, number);
	else
		snprintf(out, LZ_PART_NAME, "%s", name);
}

int64_t lz_part_of(const char *file, const char *name)
{
	size_t len = strlen(name);
	char again[LZ_PART_NAME];
	unsigned number = 0;

	if (strncmp(file, name, len) || (file[len] && sscanf(file + len, ".%u", &number) != 1))
		return -1;
	lz_part_name(name, number, again);
	return strcmp(again, file) ? -1 : (int64_t)number;
}

bool lz_part_is_file(const char *name)
{
	return lz_part_of(name, "events") >= 0 || lz_part_of(name, "checkpoints") >= 0 ||
	       (strncmp(name, "markers-", 8) == 0 && !strchr(name, '/')) ||
	       strcmp(name, LZ_SOURCES_FILE) == 0 || strcmp(name, LZ_POINTS_FILE) == 0;
}

/* Part 0 is what every recording begins as; which files it has is known when it ends. */
struct lz_parts *lz_parts_new(uint64_t limit, int dirfd, int filesfd)
{
	struct lz_parts *r = calloc(1, sizeof(*r));

	if (r)
		r->part = calloc(1, sizeof(*r->part));
	if (!r || !r->part) {
		free(r);
		lz_fail("no memory");
		return NULL;
	}
	*r->part = (struct held){.begun = true};
	r->n_parts = 1;
	r->limit = limit;
	r->dirfd = dirfd;
	r->filesfd = filesfd;
	return r;
}

void lz_parts_free(struct lz_parts *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n_parts; i++)
		held_free(&r->part[i]);
	free(r->part);
	free(r);
}

bool lz_parts_due(struct lz_parts *r, uint64_t expected)
{
	uint64_t step = r->limit / PARTS, whole = r->whole * WHOLE_FACTOR;

	return r->asked == r->begun && expected - r->start >= (step > whole ? step : whole);
}

uint32_t lz_parts_next(struct lz_parts *r)
{
	return ++r->asked;
}

uint32_t lz_parts_oldest(const struct lz_parts *r)
{
	return r->oldest;
}

size_t lz_parts_queue(const struct lz_parts *r)
{
	return r->limit / QUEUE_PART > QUEUE_MIN ? r->limit / QUEUE_PART : QUEUE_MIN;
}

/* ---- on the worker ---- */

static struct held *add_part(struct lz_parts *r, uint32_t number)
{
	if (lz_extend(r->part, r->n_parts) < 0)
		return NULL;
	r->part[r->n_parts] = (struct held){.number = number};
	return &r->part[r->n_parts++];
}

/* Continues OUT in the file of part NUMBER. */
static int continue_out(struct lz_parts *r, struct lz_out *out, uint32_t number)
{
	char name[LZ_PART_NAME];
	int fd;

	lz_part_name(out->name, number, name);
	fd = openat(r->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return lz_fail_errno("cannot create the recording's file %s", name);
	close(out->fd);
	out->fd = fd;
	return 0;
}

/* Of the part that ends. */
static int keep_names(struct held *h, const struct lz_part *p)
{
	char name[LZ_PART_NAME];

	h->names = calloc(p->n_outs, sizeof(*h->names));
	for (uint32_t i = 0; h->names && i < p->n_outs; i++) {
		lz_part_name(p->outs[i]->name, h->number, name);
		h->names[i] = strdup(name);
		if (!h->names[i])
			break;
		h->n_names++;
	}
	return h->n_names == p->n_outs ? 0 : lz_fail("no memory for a recording's parts");
}

static int begin(struct lz_part *p)
{
	struct lz_parts *r = p->parts;
	struct held *h;

	if (keep_names(&r->part[r->n_parts - 1], p) < 0)
		return -1;
	for (uint32_t i = 0; i < p->n_outs; i++)
		if (continue_out(r, p->outs[i], p->number) < 0)
			return -1;
	h = add_part(r, p->number);
	if (!h)
		return lz_fail("no memory for a recording's parts");
	h->gone = p->gone;
	h->n_gone = p->n_gone;
	p->gone = NULL;
	p->n_gone = 0;
	r->start = r->written;
	return 0;
}

int lz_parts_begin(void *arg, bool go)
{
	struct lz_part *p = arg;
	int rc = go ? begin(p) : 0;

	lz_part_free(p);
	return rc;
}

int lz_parts_begun(void *arg, bool go)
{
	struct lz_parts *r = arg;

	if (!go)
		return 0;
	r->part[r->n_parts - 1].begun = true;
	r->whole = r->written - r->start;
	r->begun++;
	return 0;
}

/* `checkpoints` goes first: a reader that finds none takes the part for gone. */
static uint64_t drop_oldest(struct lz_parts *r)
{
	struct held old = r->part[0], *now = &r->part[1];

	for (uint32_t i = old.n_names; i-- > 0;)
		unlinkat(r->dirfd, old.names[i], 0);
	for (uint32_t i = 0; i < now->n_gone; i++)
		unlinkat(r->filesfd, now->gone[i], 0);
	r->oldest = now->number;
	held_free(&old);
	r->n_parts--;
	memmove(r->part, now, r->n_parts * sizeof(*now));
	r->total -= old.bytes;
	return old.bytes;
}

static void warn_once(struct lz_parts *r)
{
	if (r->warned)
		return;
	r->warned = true;
	lz_warn(
	    "the recording is larger than %llu bytes: its last part cannot be smaller, since each "
	    "state of the program's memory that it needs takes %llu",
	    (unsigned long long)r->limit, (unsigned long long)r->whole);
}

uint64_t lz_parts_room(struct lz_parts *r, size_t len)
{
	uint64_t gone = 0;

	while (r->total + len > r->limit && r->n_parts > 1 && r->part[1].begun)
		gone += drop_oldest(r);
	r->total += len;
	r->written += len;
	r->part[r->n_parts - 1].bytes += len;
	if (r->total > r->limit)
		warn_once(r);
	return gone;
}
