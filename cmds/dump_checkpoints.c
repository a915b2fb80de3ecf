/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <cmds/dump.h>
#include <common/base/text.h>
#include <common/base/print.h>
#include <lizard/error.h>

static void print_text(const struct lz_dump *d, const struct lz_checkpoint *ck)
{
	char pos[LZ_POS_TEXT], size[LZ_TEXT];

	lz_pos_print(&ck->pos, pos);
	lz_print(stdout, "checkpoint %u  %s  %.6f s  %s  %u pages  %u mappings  %u thread%s  %s\n",
	         ck->index, pos, (double)ck->time_ns / 1e9, ck->whole ? "whole" : "diff",
	         ck->n_dirty, ck->n_vmas, ck->n_threads, ck->n_threads == 1 ? "" : "s",
	         lz_text_size(lz_reader_checkpoint_size(d->r, ck->index), size));
}

static json_t *vmas_json(const struct lz_checkpoint *ck)
{
	static const char *const role[] = {"plain", "stack", "heap", "buffer"};
	json_t *list = json_array();

	for (uint32_t i = 0; i < ck->n_vmas; i++) {
		const struct lz_vma *v = &ck->vmas[i];
		json_t *o = json_object();

		json_object_set_new(o, "start", lz_json_hex(v->start));
		json_object_set_new(o, "end", lz_json_hex(v->end));
		json_object_set_new(o, "prot", json_integer(v->prot));
		json_object_set_new(o, "flags", json_integer(v->flags));
		json_object_set_new(o, "role", json_string(role[v->role & 3]));
		if (v->file != LZ_NO_FILE) {
			json_object_set_new(o, "file", json_integer(v->file));
			json_object_set_new(o, "offset", lz_json_hex(v->offset));
		}
		json_array_append_new(list, o);
	}
	return list;
}

static int print_json(const struct lz_dump *d, const struct lz_checkpoint *ck)
{
	json_t *o = json_object(), *threads = json_array();
	char pos[LZ_POS_TEXT];

	lz_pos_print(&ck->pos, pos);
	json_object_set_new(o, "part", json_string("checkpoint"));
	json_object_set_new(o, "index", json_integer(ck->index));
	json_object_set_new(o, "position", json_string(pos));
	json_object_set_new(o, "whole", json_boolean(ck->whole));
	json_object_set_new(o, "exact", json_boolean(ck->exact));
	json_object_set_new(o, "time_ns", json_integer((json_int_t)ck->time_ns));
	json_object_set_new(o, "pages", json_integer(ck->n_dirty));
	json_object_set_new(o, "bytes",
	                    json_integer((json_int_t)lz_reader_checkpoint_size(d->r, ck->index)));
	for (uint32_t i = 0; i < ck->n_threads; i++) {
		json_t *t = json_object();

		json_object_set_new(t, "tid", json_integer(ck->threads[i].tid));
		json_object_set_new(t, "in_call",
		                    json_boolean(ck->threads[i].flags & LZ_THREAD_IN_CALL));
		json_object_set_new(t, "ip", lz_json_hex(ck->threads[i].regs.rip));
		json_object_set_new(t, "sp", lz_json_hex(ck->threads[i].regs.rsp));
		json_object_set_new(t, "marker", json_integer((json_int_t)ck->threads[i].marker));
		json_array_append_new(threads, t);
	}
	json_object_set_new(o, "threads", threads);
	json_object_set_new(o, "mappings", vmas_json(ck));
	return lz_json_print(o);
}

int lz_dump_checkpoints(struct lz_dump *d)
{
	uint32_t n = lz_reader_n_checkpoints(d->r);

	for (uint32_t i = 0; i < n && d->lines < d->limit; i++, d->lines++) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(d->r, i);

		if (!ck || (d->json && print_json(d, ck) < 0))
			return -1;
		if (!d->json)
			print_text(d, ck);
		if (ferror(stdout))
			return 0;
	}
	return 0;
}
