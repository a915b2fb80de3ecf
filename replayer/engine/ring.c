/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ring of marker buffers of a re-executed process. Where no copy of the process is made, the
 * ring is memory that both see: each look is then no call. */
#include "replayer/engine/inside.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/restore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static uint8_t *seen(const struct lz_engine *e)
{
	const struct lz_engine_buffer *b = &e->buffer;

	return b->window && b->window_at == lz_ring_of(b->base)
	           ? b->window + (b->base - b->window_at)
	           : NULL;
}

int lz_ring_read(struct lz_engine *e, uint64_t off, void *buf, size_t len)
{
	const uint8_t *mem = seen(e);

	if (!mem || off > LZ_BUFFER_SIZE || len > LZ_BUFFER_SIZE - off)
		return lz_proc_read(&e->proc, e->buffer.base + off, buf, len);
	memcpy(buf, mem + off, len);
	return 0;
}

static int guard(struct lz_engine *e)
{
	for (unsigned i = 0; i < LZ_RING_BUFFERS; i++) {
		int64_t ret;
		const uint64_t at =
		    e->buffer.window_at + i * (uint64_t)LZ_BUFFER_SIZE + LZ_BUFFER_GUARD;
		if (lz_proc_syscall(&e->proc, &ret, SYS_mprotect, at, LZ_PAGE, PROT_NONE, 0, 0, 0) <
		    0)
			return -1;
		if (ret < 0)
			return lz_fail("the guard at %#lx cannot be set: %s", (unsigned long)at,
			               strerror((int)-ret));
	}
	return 0;
}

/* All the ring's buffers are empty. */
static int open_window(struct lz_engine *e)
{
	struct lz_engine_buffer *b = &e->buffer;

	b->window_at = lz_ring_of(b->base);
	b->window = lz_restore_window(&e->proc, b->window_at, LZ_RING_SIZE);
	return b->window ? guard(e) : -1;
}

int lz_ring_clear(struct lz_engine *e, size_t len)
{
	uint8_t *mem = seen(e);

	if (!e->buffer.window && e->buffer.want_window)
		return open_window(e);
	if (!mem)
		return lz_proc_clear(&e->proc, e->buffer.base, len);
	memset(mem, 0, len);
	return 0;
}

void lz_ring_drop(struct lz_engine *e)
{
	if (e->buffer.window)
		munmap(e->buffer.window, LZ_RING_SIZE);
	e->buffer.window = NULL;
}
