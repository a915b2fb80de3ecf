/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/show.h"

#include <string.h>

/* What the kernel wrote is in the event. */
static size_t written(const struct lz_event *ev, uint64_t addr, void *buf, size_t len)
{
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		const struct lz_write *w = &ev->writes[i];
		const uint64_t skip = addr - w->addr;

		if (addr < w->addr || skip >= w->len)
			continue;
		if (len > w->len - skip)
			len = w->len - skip;
		memcpy(buf, w->bytes + skip, len);
		return len;
	}
	return 0;
}

static size_t given(const struct lz_show *s, uint64_t addr, void *buf, size_t len)
{
	return s->o->read ? s->o->read(s->o->arg, addr, buf, len) : 0;
}

size_t lz_show_peek(struct lz_show *s, uint64_t addr, void *buf, size_t len)
{
	return s->out ? written(s->ev, addr, buf, len) : given(s, addr, buf, len);
}

void lz_show_taken(struct lz_show *s, uint64_t addr, uint64_t len)
{
	if (!s->out && s->o->took && addr && len)
		s->o->took(s->o->arg, addr, len);
}

size_t lz_show_bytes(struct lz_show *s, uint64_t addr, void *buf, size_t len)
{
	const size_t n = lz_show_peek(s, addr, buf, len);

	lz_show_taken(s, addr, n);
	return n;
}

size_t lz_show_either(struct lz_show *s, uint64_t addr, void *buf, size_t len)
{
	const size_t n = written(s->ev, addr, buf, len);

	return n == len ? n : lz_show_bytes(s, addr, buf, len);
}

bool lz_show_failed(const struct lz_show *s)
{
	return s->ev->result < 0 && s->ev->result > -4096;
}
