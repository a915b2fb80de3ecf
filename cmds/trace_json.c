/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard-trace --summary: what lizard-trace(1) describes, for programs. */
#include "cmds/base/catalog.h"
#include "cmds/base/processes.h"
#include "cmds/trace_summary.h"

#include <common/base/text.h>
#include <lizard/error.h>

static json_t *text_or_null(const char *s)
{
	return s ? lz_json_text(s) : json_null();
}

static void set_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *list_of(char **v)
{
	json_t *list = json_array();

	for (; v && *v; v++)
		json_array_append_new(list, lz_json_text(*v));
	return list;
}

static json_t *child_json(const struct lz_entry *e)
{
	json_t *o = json_object();
	char how[LZ_TEXT];

	json_object_set_new(o, "recording", lz_json_text(e->path));
	json_object_set_new(o, "state", lz_json_text(lz_entry_status(e, how)));
	if (e->bad)
		return o;
	set_int(o, "pid", e->meta.tid);
	set_int(o, "parent", e->meta.parent);
	json_object_set_new(o, "program", lz_json_text(e->meta.program));
	json_object_set_new(o, "command", list_of(e->meta.argv));
	lz_json_status(o, e->meta.exit_status);
	return o;
}

/* Those that are recorded; empty if the recording is gone. */
static json_t *children_json(const char *dir)
{
	struct lz_processes p;
	json_t *list = json_array();

	if (!dir || lz_processes_read(&p, dir) < 0)
		return list;
	for (size_t i = 1; i < p.n; i++)
		json_array_append_new(list, child_json(&p.v[i]));
	lz_processes_free(&p);
	return list;
}

static void set_sizes(json_t *o, const struct lz_trace_result *r, const char *dir)
{
	set_int(o, "duration_ns", r->duration_ns);
	set_int(o, "bytes", dir ? lz_recording_bytes(dir) : 0);
	set_int(o, "events", r->n_events);
	set_int(o, "marker_bytes", r->marker_bytes);
	set_int(o, "checkpoints", r->n_checkpoints);
}

/* How --chaos has ended turns. */
static json_t *turns_json(const struct lz_trace_options *o, const struct lz_trace_result *r)
{
	if (!o->chaos_seed)
		return json_null();
	json_t *v = json_object();

	set_int(v, "at_marker_or_call", r->turns_points);
	set_int(v, "instructions_behind", r->turns_steps);
	set_int(v, "behind_lock", r->turns_locks);
	set_int(v, "behind_function_call", r->turns_calls);
	return v;
}

int lz_trace_summary_json(FILE *to, const struct lz_trace_options *o,
                          const struct lz_trace_result *r, const struct lz_trace_outcome *out)
{
	const char *dir = out->kept ? r->dir : NULL;
	json_t *v = json_object();

	json_object_set_new(v, "command", list_of(o->argv));
	lz_json_status(v, out->rc < 0 ? -1 : r->status);
	json_object_set_new(v, "error", text_or_null(out->why));
	json_object_set_new(v, "recording", text_or_null(dir));
	json_object_set_new(v, "complete", json_boolean(out->rc == 0 && r->complete));
	json_object_set_new(v, "instrumented", json_boolean(r->instrumented));
	json_object_set_new(v, "pack", text_or_null(out->pack));
	set_sizes(v, r, dir);
	set_int(v, "most_threads", r->most_threads);
	json_object_set_new(v, "turns", turns_json(o, r));
	json_object_set_new(v, "seed",
	                    o->chaos_seed ? json_integer((json_int_t)o->chaos_seed) : json_null());
	json_object_set_new(v, "children", children_json(dir));
	set_int(v, "children_not_recorded", r->n_unfollowed);
	return lz_json_write(to, v);
}
