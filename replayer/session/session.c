/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session: opening, closing, asking. */
#include "replayer/session/rebuild.h"
#include "replayer/session/session.h"
#include <common/base/clock.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static int start(struct lz_session *s)
{
	if (lz_host_check(lz_reader_meta(s->rp.reader)) < 0)
		return -1;
	lz_stub_pin(s->opt.any_cpu ? NULL : lz_reader_meta(s->rp.reader));
	s->e = lz_engine_new(&s->rp, 0);
	if (!s->e)
		return -1;
	lz_session_arrived(s, 1, true);
	return 0;
}

struct lz_session *lz_session_open(const char *dir, const struct lz_session_options *o)
{
	struct lz_session *s = calloc(1, sizeof *s);
	struct lz_reader *r = s ? lz_reader_open(dir) : NULL;

	if (!s)
		lz_fail("out of memory");
	if (!r) {
		free(s);
		return NULL;
	}
	s->opt = o ? *o : (struct lz_session_options){.echo_fd = -1};
	if (lz_replay_init(&s->rp, r) < 0) {
		lz_replay_free(&s->rp);
		lz_reader_close(r);
		free(s);
		return NULL;
	}
	if (lz_reader_markers_hashed(r, s->rp.tid) && !(s->rebuild = lz_rebuild_new(r))) {
		lz_session_close(s);
		return NULL;
	}
	if (s->rebuild)
		lz_rebuild_listen(s->rebuild, &s->rp.interrupted);
	if (start(s) < 0) {
		lz_session_close(s);
		return NULL;
	}
	lz_counter_allow(false);
	return s;
}

void lz_session_close(struct lz_session *s)
{
	if (!s)
		return;
	struct lz_reader *r = s->rp.reader;
	if (s->companion)
		s->free_companion(s->companion);
	lz_engine_free(s->e);
	for (int i = 0; i < LZ_SNAPSHOTS; i++)
		lz_engine_free(s->snap[i].e);
	for (size_t i = 0; i < s->n_watches; i++)
		free(s->watches[i].value);
	free(s->watches);
	free(s->breaks);
	free(s->trail.ips);
	free(s->latest.ips);
	lz_engine_free(s->trail.place);
	free(s->signals.v);
	free(s->remaps.v);
	lz_output_free(&s->passed);
	lz_rebuild_free(s->rebuild);
	lz_replay_free(&s->rp);
	lz_reader_close(r);
	free(s);
	lz_counter_allow(true);
}

struct lz_reader *lz_session_reader(struct lz_session *s)
{
	return s->rp.reader;
}

void lz_session_stop_at_programs(struct lz_session *s)
{
	s->by_program = true;
}

uint32_t lz_session_program(struct lz_session *s)
{
	return lz_reader_program_at(s->rp.reader, s->pos.event);
}

uint64_t lz_session_program_begin(struct lz_session *s)
{
	uint32_t n, i = lz_session_program(s);
	const struct lz_program *p = s->by_program ? lz_reader_programs(s->rp.reader, &n) : NULL;

	return p ? p[i].from : 0;
}

uint64_t lz_session_events(const struct lz_session *s)
{
	return s->rp.end.event;
}

void lz_session_where(struct lz_session *s, struct lz_pos *pos)
{
	if (lz_session_name(s) < 0)
		lz_debug("%s", lz_error());
	*pos = s->pos;
}

void lz_session_present(struct lz_session *s, struct lz_pos *pos)
{
	*pos = s->pos;
}

uint64_t lz_session_time(struct lz_session *s, uint64_t *total)
{
	if (total)
		*total = s->rp.stream_len;
	return s->pos.marker;
}

bool lz_session_at_start(struct lz_session *s)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, 0);

	return ck && s->pos.event == ck->pos.event && s->pos.marker == ck->pos.marker &&
	       s->pos.ip == ck->pos.ip && s->pos.n == 1;
}

bool lz_session_at_end(struct lz_session *s)
{
	const struct lz_end *end = &s->rp.end;

	return s->at_end || (s->pos.event == end->event && s->pos.marker == end->marker &&
	                     end->kind == LZ_END_CALL && s->pos.ip == end->ip);
}

void lz_session_interrupt(struct lz_session *s)
{
	enum lz_hearing hears = LZ_DEAF;

	if (atomic_compare_exchange_strong(&s->hearing, &hears, LZ_CALLED) || hears == LZ_CALLED)
		return;
	s->rp.interrupted = true;
	pid_t pid = s->rp.running;
	if (pid > 0)
		kill(pid, SIGSTOP);
	if (s->rebuild)
		lz_rebuild_interrupt(s->rebuild);
}

void lz_session_keep_interrupts(struct lz_session *s)
{
	s->nested++;
}

bool lz_session_take_interrupt(struct lz_session *s)
{
	if (!s->rp.interrupted)
		return false;
	s->rp.interrupted = false;
	s->signal_told = 0;
	return true;
}

void lz_session_begin(struct lz_session *s)
{
	if (!s->nested)
		s->rp.interrupted = false;
}

void lz_session_deafen(struct lz_session *s)
{
	atomic_store(&s->hearing, LZ_DEAF);
}

void lz_session_hear(struct lz_session *s)
{
	if (atomic_exchange(&s->hearing, LZ_HEARS) == LZ_CALLED)
		s->rp.interrupted = true;
}

static void show_progress(void *arg)
{
	lz_progress_show(arg, 0);
}

void lz_session_progress(struct lz_session *s, const char *what)
{
	if (what)
		lz_progress_begin(&s->progress, what, LZ_PROGRESS_TIME);
	else
		lz_progress_end(&s->progress);
	s->rp.tick_arg = &s->progress;
	s->rp.tick = what ? show_progress : NULL;
}

void lz_session_pass_signals(struct lz_session *s, uint64_t mask)
{
	s->pass_signals = mask;
}

void lz_session_skip(struct lz_session *s, const struct lz_skips *skips)
{
	s->skips = skips;
}

static int no_engine(void)
{
	return lz_fail("there is no replay process: only seeking is possible");
}

size_t lz_session_read(struct lz_session *s, uint64_t addr, void *buf, size_t len)
{
	if (!s->e)
		return 0;
	return lz_engine_read_allowed(s->e, addr, buf, len);
}

int lz_session_regs(struct lz_session *s, struct user_regs_struct *r)
{
	if (!s->e)
		return no_engine();
	*r = *lz_engine_regs(s->e);
	return 0;
}

int lz_session_xstate(struct lz_session *s, uint8_t *buf, uint32_t *len)
{
	return s->e ? lz_proc_xstate(&s->e->proc, buf, len) : no_engine();
}

int lz_session_vmas(struct lz_session *s, struct lz_vma **v, uint32_t *n)
{
	if (!s->e)
		return no_engine();
	const struct lz_space *sp = &s->e->space;
	if (lz_space_follow_stack(&s->e->space, s->e->proc.pid) < 0)
		return -1;
	*v = malloc((sp->n + 1) * sizeof **v);
	if (!*v)
		return lz_fail("out of memory");
	memcpy(*v, sp->vmas, sp->n * sizeof **v);
	*n = sp->n;
	return 0;
}

const struct lz_event *lz_session_event_before(struct lz_session *s, uint64_t event)
{
	return event > lz_reader_first_event(s->rp.reader)
	           ? lz_reader_event(s->rp.reader, event - 1)
	           : NULL;
}

const struct lz_event *lz_session_next_event(struct lz_session *s)
{
	if (s->pos.event >= lz_reader_n_events(s->rp.reader))
		return NULL;
	return lz_reader_event(s->rp.reader, s->pos.event);
}

const char *lz_session_divergence(struct lz_session *s)
{
	return s->rp.divergence;
}
