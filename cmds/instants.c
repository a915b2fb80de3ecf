/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cmds/instants.h>

#include <inttypes.h>
#include <stdio.h>
#include <common/base/print.h>

static void count(struct lz_ways *w, const struct lz_event *ev)
{
	if (ev->flags & LZ_EVF_SPIN)
		w->checkpoint++;
	else if (ev->has_pages)
		w->unmarked++;
	else if (ev->has_state)
		w->anywhere++;
	else
		w->points++;
}

int lz_instants_count(struct lz_reader *r, struct lz_instants *to)
{
	const uint64_t end = lz_reader_n_events(r);

	*to = (struct lz_instants){0};
	for (uint64_t i = lz_reader_first_event(r); (i = lz_reader_event_telling(r, i)) < end;
	     i++) {
		const struct lz_event *ev = lz_reader_event(r, i);

		if (!ev)
			return -1;
		if (ev->kind == LZ_EV_SIGNAL && !(ev->flags & LZ_EVF_SYNC))
			count(&to->signals, ev);
		else if (ev->kind == LZ_EV_SWITCH && !(ev->flags & LZ_EVF_IN_CALL))
			count(&to->turns, ev);
	}
	return 0;
}

static void print(const char *label, const struct lz_ways *w)
{
	const uint64_t all = w->points + w->anywhere + w->unmarked + w->checkpoint;

	if (all)
		lz_print(stdout,
		         "%-13s %" PRIu64 ": %" PRIu64 " at a marker or a call, %" PRIu64
		         " at another instruction, %" PRIu64 " in code without markers, %" PRIu64
		         " by a checkpoint\n",
		         label, all, w->points, w->anywhere, w->unmarked, w->checkpoint);
}

void lz_instants_print(const struct lz_instants *n)
{
	print("signals", &n->signals);
	print("turns' ends", &n->turns);
}

static json_t *ways_json(const struct lz_ways *w)
{
	return json_pack("{sI sI sI sI}", "points", (json_int_t)w->points, "anywhere",
	                 (json_int_t)w->anywhere, "unmarked", (json_int_t)w->unmarked, "checkpoint",
	                 (json_int_t)w->checkpoint);
}

json_t *lz_instants_json(const struct lz_instants *n)
{
	return json_pack("{so so}", "signals", ways_json(&n->signals), "turns",
	                 ways_json(&n->turns));
}
