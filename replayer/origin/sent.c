/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/origin/sent.h"
#include "replayer/session/session.h"
#include <lizard/error.h>

struct finding {
	uint64_t skip, len;
	struct lz_location *at;
};

static int find(void *arg, uint64_t addr, uint64_t len)
{
	struct finding *f = arg;

	if (f->skip >= len) {
		f->skip -= len;
		return 0;
	}
	len -= f->skip;
	*f->at = (struct lz_location){
	    .in_memory = true, .addr = addr + f->skip, .len = len < f->len ? len : f->len};
	return 1;
}

static int go(struct lz_session *s, uint64_t index)
{
	const struct lz_event *ev = lz_reader_event(s->rp.reader, index);
	struct lz_pos to;

	if (!ev)
		return lz_fail("there is no event %lu", (unsigned long)index);
	lz_session_begin(s);
	s->nested++;
	int ret = lz_session_before_event(s, ev, &to);
	if (!ret)
		ret = lz_session_seek(s, &to);
	s->nested--;
	return ret == 2 ? LZ_ACCESS_INTERRUPTED : ret;
}

int lz_origin_sent(struct lz_session *s, uint64_t index, uint64_t byte, uint64_t len,
                   struct lz_origin *o)
{
	struct finding f = {byte, len, &o->source.from};
	uint32_t fd;

	*o = (struct lz_origin){.kind = LZ_ORIGIN_EVENT, .event = index, .by_event = true};
	int ret = go(s, index);
	if (ret || !len)
		return ret;
	const struct lz_event *ev = lz_reader_event(s->rp.reader, index);
	if (!ev || !lz_written_to(ev, &fd) ||
	    lz_written_ranges(ev, (struct lz_arrival *)s->e, find, &f) <= 0)
		return lz_fail("event %lu has taken no byte number %lu", (unsigned long)index,
		               (unsigned long)byte);
	o->kind = LZ_ORIGIN_COPY;
	o->source.kind = LZ_SOURCE_COPY;
	o->proven = true;
	return 0;
}
