#include <stdlib.h>
#include <lizard/error.h>
#include "replayer/nav.h"
#include "replayer/session.h"

struct lz_nav *lz_nav_of(struct lz_session *s)
{
	struct lz_nav *nav = s->nav;

	if (nav)
		return nav;
	nav = calloc(1, sizeof(*nav));
	if (!nav) {
		lz_fail("out of memory for navigation");
		return NULL;
	}
	nav->s = s;
	nav->modules = lz_modules_new(s->rp.reader);
	if (nav->modules)
		nav->stream = lz_stream_new(s->rp.reader, nav->modules, s->rp.tid);
	if (!nav->stream) {
		lz_nav_free(nav);
		return NULL;
	}
	lz_nav_machine(nav);
	s->nav = nav;
	return nav;
}

int lz_session_read_ahead(struct lz_session *s)
{
	struct lz_nav *nav = lz_nav_of(s);

	return nav ? lz_stream_index_ahead(nav->stream) : -1;
}

void lz_nav_free(struct lz_nav *nav)
{
	if (!nav)
		return;
	lz_stream_free(nav->stream);
	lz_modules_free(nav->modules);
	free(nav->step.stop);
	free(nav->next.stop);
	free(nav);
}

bool lz_nav_same(const struct lz_pos *a, const struct lz_pos *b)
{
	return a->tid == b->tid && a->event == b->event && a->marker == b->marker &&
	       a->ip == b->ip && a->n == b->n;
}
