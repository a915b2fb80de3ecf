/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/report/report.h"

#include <common/base/text.h>
#include <lizard/error.h>

static json_t *list_of(char **v)
{
	json_t *list = json_array();

	for (; v && *v; v++)
		json_array_append_new(list, lz_json_text(*v));
	return list;
}

static void set_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

json_t *lz_report_facts(const char *dir, const struct lz_meta *m)
{
	json_t *o = json_object();

	json_object_set_new(o, "recording", lz_json_text(dir));
	set_int(o, "pid", m->tid);
	set_int(o, "parent", m->parent);
	json_object_set_new(o, "program", lz_json_text(m->program));
	json_object_set_new(o, "build_id", lz_json_text(m->build_id));
	json_object_set_new(o, "argv", list_of(m->argv));
	json_object_set_new(o, "cwd", lz_json_text(m->cwd));
	json_object_set_new(o, "became", lz_json_text(m->became));
	json_object_set_new(o, "complete", json_boolean(m->state == LZ_REC_COMPLETE));
	json_object_set_new(o, "stopped", lz_json_text(m->stopped));
	set_int(o, "start_time", m->start_time);
	set_int(o, "duration_ns", m->duration_ns);
	set_int(o, "chaos_seed", m->chaos_seed);
	lz_json_status(o, m->exit_status);
	return o;
}

/* RC of a part: a failure leaves the reason in its place. */
static void add(json_t *facts, json_t *missing, const char *part, int rc)
{
	if (rc == 0)
		return;
	json_object_set_new(missing, part, lz_json_text(lz_error()));
	if (!json_object_get(facts, part))
		json_object_set_new(facts, part, json_null());
}

int lz_report_details(json_t *facts, const char *dir, const struct lz_report_options *o)
{
	struct lz_reader *r = lz_reader_open(dir);
	json_t *missing = json_object();
	const char *part;

	json_object_set_new(facts, "missing", missing);
	if (!r) {
		add(facts, missing, "threads", -1);
		return -1;
	}
	const char *damage = lz_reader_damage(r);

	json_object_set_new(facts, "damage", damage ? lz_json_text(damage) : json_null());
	json_object_set_new(facts, "instrumented",
	                    json_boolean(lz_reader_instrumented(r) || lz_reader_built(r)));
	add(facts, missing, "calls", lz_report_calls(facts, r, o));
	lz_reader_close(r);
	add(facts, missing, "output", lz_report_output(facts, dir, o));
	int rc = lz_report_stacks(facts, dir, o, &part);

	add(facts, missing, part, rc);
	return 0;
}
