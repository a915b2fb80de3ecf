/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a user is told of the present instant and of the recording. */
#include "replayer/front/inside.h"
#include "replayer/session/session.h"

#include <common/base/printable.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

int lz_front_now(struct lz_front *f, struct lz_front_instant *now)
{
	struct lz_front_thread *t;
	uint32_t n;

	memset(now, 0, sizeof *now);
	lz_session_known(f->s, &now->pos);
	now->moves = now->pos.n ? 0 : f->s->moves;
	now->events = lz_reader_n_events(f->reader);
	now->time = lz_session_time(f->s, &now->total);
	now->at_start = lz_session_at_start(f->s);
	uint32_t n_programs;

	now->at_begin = lz_pos_same(
	    &now->pos, &lz_reader_programs(f->reader, &n_programs)[lz_session_program(f->s)].begin);
	now->at_end = lz_session_at_end(f->s);
	lz_front_crosses(f, &now->crosses);
	now->n_mark = lz_front_last_mark(f, now->pos.event, now->mark, sizeof now->mark);
	if (lz_front_threads(f, &t, &n) < 0)
		return -1;
	now->n_threads = n;
	for (uint32_t i = 0; i < n; i++)
		if (t[i].tid == now->pos.tid)
			lz_copy_printable(now->thread, sizeof now->thread, t[i].name, "");
	free(t);
	return 0;
}

void lz_front_position(struct lz_front *f, struct lz_pos *pos)
{
	lz_session_where(f->s, pos);
}

/* The words of V with a space between. malloced. */
static char *printable_words(char *const *v)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	for (char *const *word = v; word && *word; word++) {
		fputs(word == v ? "" : " ", to);
		lz_put_printable(to, *word, "");
	}
	return fclose(to) == 0 ? text : NULL;
}

static int list_programs(const struct lz_front *f, struct lz_front_recording *info)
{
	uint32_t n;

	info->where = lz_reader_programs(f->reader, &n);
	info->programs = calloc(f->programs.n, sizeof *info->programs);
	for (uint32_t i = 0; info->programs && i < f->programs.n; i++) {
		info->programs[i] = strdup(f->programs.v[i].path);
		if (!info->programs[i])
			return -1;
		info->n_programs++;
	}
	info->n_program = lz_session_program(f->s) + 1;
	return info->programs ? 0 : -1;
}

static char *printable_word(const char *text)
{
	char *words[] = {(char *)text, NULL};

	return printable_words(words);
}

int lz_front_describe(struct lz_front *f, struct lz_front_recording *info)
{
	const struct lz_meta *m = lz_reader_meta(f->reader);
	const char *damage = lz_reader_damage(f->reader);

	*info = (struct lz_front_recording){
	    .recording = printable_word(lz_reader_dir(f->reader)),
	    .program = strdup(lz_front_program(f)),
	    .command = printable_words(m->argv),
	    .cwd = printable_word(m->cwd),
	    .damage = damage ? printable_word(damage) : NULL,
	    .front_end = f->name,
	    .started = m->start_time,
	    .duration_ns = m->duration_ns,
	    .exit_status = m->exit_status,
	    .n_checkpoints = lz_reader_n_checkpoints(f->reader),
	    .inside = lz_reader_begins_inside(f->reader),
	    .instrumented = lz_reader_instrumented(f->reader),
	};
	if (!f->built)
		f->built = info->instrumented || lz_reader_built(f->reader) ? 1 : -1;
	info->built = f->built > 0;
	if (lz_reader_begins_later(f->reader))
		info->not_kept = lz_reader_first_event(f->reader);
	if (info->recording && info->program && info->command && info->cwd &&
	    (info->damage || !damage) && list_programs(f, info) == 0)
		return 0;
	lz_front_recording_free(info);
	return lz_fail("out of memory for the recording's description");
}

void lz_front_recording_free(struct lz_front_recording *info)
{
	free(info->recording);
	free(info->program);
	free(info->command);
	free(info->cwd);
	free(info->damage);
	for (uint32_t i = 0; i < info->n_programs; i++)
		free(info->programs[i]);
	free(info->programs);
	memset(info, 0, sizeof *info);
}
