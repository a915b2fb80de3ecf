/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the options to a finished recording. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/code/code.h"
#include "tracer/follow/follow.h"
#include "tracer/follow/spawner.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/run/ahead.h"
#include "tracer/run/run.h"
#include "tracer/state/process.h"
#include "tracer/state/state.h"
#include "tracer/turns/shared_memory_lock.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What goes again need not be made smaller by leaving its markers out. */
int lz_what_to_keep(struct lz_tracer *t)
{
	const struct lz_trace_options *o = t->opt;
	bool last = o->keep_last && o->max_bytes;

	lz_writer_flow(t->w, last && o->flow == LZ_FLOW_AUTO ? LZ_FLOW_FULL : o->flow,
	               o->flow_limit);
	return last ? lz_writer_keep_last(t->w, o->max_bytes) : 0;
}

void lz_writer_beside(struct lz_tracer *t)
{
	cpu_set_t cpus;

	lz_other_cpus(t, &cpus);
	lz_writer_pin(t->w, &cpus);
}

static int begin(struct lz_tracer *t)
{
	lz_counter_begin(t);
	if (lz_launch(t) < 0)
		return -1;
	lz_set_signals(t->p.pid, true);
	lz_jobs_begin();
	if (lz_describe(t, t->opt->argv, environ, getcwd(NULL, 0)) < 0)
		return -1;
	t->w = lz_writer_create(t->opt->dir, &t->meta);
	if (!t->w || lz_what_to_keep(t) < 0 || lz_follow_begin(t) < 0)
		return -1;
	if (t->opt->follow && strcmp(t->opt->follow, "all") == 0)
		lz_ahead_root(lz_writer_dir(t->w));
	lz_writer_share_copies(t->w, NULL);
	lz_writer_beside(t);
	t->t0 = lz_now();
	return lz_new_image(t);
}

/* That it was we who ended the recording, and why; STATUS as waitpid gives it, -1: not known. */
static void tell_stopped(struct lz_tracer *t, const char *why, int status)
{
	if (!t->w)
		return;
	if (why)
		t->meta.stopped = strdup(why);
	t->meta.exit_status = status;
	if (lz_writer_meta(t->w, &t->meta) < 0)
		lz_debug("%s", lz_error());
}

static int finish(struct lz_tracer *t, struct lz_trace_result *res)
{
	struct lz_meta *m = &t->meta;

	m->state = LZ_REC_COMPLETE;
	m->duration_ns = lz_elapsed(t);
	m->exit_status = t->status;
	m->n_events = t->next_event;
	m->n_markers_bytes = lz_stream_offset(t);
	m->n_checkpoints = t->n_checkpoints;
	lz_writer_ending(t->w);
	bool drained = lz_writer_drain(t->w) == 0;
	if (!drained)
		tell_stopped(t, lz_error(), t->status);
	res->complete = drained && lz_tell_hash(t) == 0;
	res->bytes = lz_writer_size(t->w);
	res->duration_ns = m->duration_ns;
	res->n_events = m->n_events;
	res->n_checkpoints = m->n_checkpoints;
	res->marker_bytes = m->n_markers_bytes;
	res->bare = !lz_writer_has_debug(t->w);
	int ret = lz_writer_finish(t->w, m);
	t->w = NULL;
	return ret;
}

static void put_down(struct lz_tracer *t)
{
	pid_t pid = (pid_t)t->tid, got;

	kill(pid, SIGKILL);
	while ((got = waitpid(-1, &t->status, __WALL)) != pid || WIFSTOPPED(t->status)) {
		if (got < 0 && errno != EINTR)
			return;
		if (got > 0 && WIFSTOPPED(t->status))
			ptrace(PTRACE_CONT, got, 0, 0);
	}
}

static void clean_up(struct lz_tracer *t)
{
	if (!t->ended && t->tid)
		put_down(t);
	lz_stream_forget(t);
	if (t->w)
		lz_writer_abandon(t->w);
	lz_pages_free(t->pages);
	lz_vmas_clear(&t->vmas);
	lz_shared_free(t);
	lz_fast_forget(t);
	lz_threads_free(t);
	lz_armed_forget(t);
	lz_marked_forget();
	free(t->named.a);
	free(t->b.bytes);
	free(t->b.writes);
	free(t->b.ops);
	lz_meta_free(&t->meta);
	lz_proc_close(&t->p);
}

/* What cannot be had any more does not take along what is there. */
static void save_rest(struct lz_tracer *t)
{
	if (lz_fast_drain(t) < 0 || lz_stream_push(t) < 0)
		lz_debug("the last moments are missing: %s", lz_error());
	if (lz_writer_flush(t->w) < 0)
		lz_debug("and those before: %s", lz_error());
}

/* What has been recorded stays; the program need not suffer. */
static int go_on_alone(struct lz_tracer *t)
{
	lz_warn("recording ends here: %s", lz_error());
	t->meta.duration_ns = lz_elapsed(t);
	tell_stopped(t, lz_error(), -1);
	if (t->w)
		save_rest(t);
	lz_shared_lock_leave(t);
	if (t->ended)
		return 0;
	lz_warn("the program goes on unrecorded");
	int ret = lz_detach(t);
	if (ret == 0 && !t->meta.parent) /* else only its own parent hears how it ends */
		tell_stopped(t, NULL, t->status);
	lz_follow_gone(t);
	if (ret < 0)
		return lz_fail_in("the program could not go on");
	return 0;
}

/* The process is gone: its parent goes on where both were traced, and need not wait for the rest, which may
 * be done wherever there is time. */
static void make_way(const struct lz_tracer *t)
{
	if (!t->meta.parent)
		return;
	sched_setaffinity(0, sizeof(t->borrowed.given), &t->borrowed.given);
	/* at real-time priority the parent would wait for as long as nobody else takes this one away */
	sched_yield();
}

int lz_trace_to_end(struct lz_tracer *t, struct lz_trace_result *result)
{
	lz_counter_allow(false);
	lz_mover_begin(t);
	int ret = lz_loop(t);
	lz_mover_stop(t);
	lz_counter_allow(true);

	if (ret == 0)
		make_way(t);
	if (ret < 0)
		ret = go_on_alone(t);
	else if (finish(t, result) < 0)
		lz_warn("the end of the recording is missing: %s", lz_error());
	result->status = t->status;
	result->instrumented = t->meta.instrumented;
	result->most_threads = t->most_threads;
	result->turns_points = t->sched.chaos.n_points;
	result->turns_steps = t->sched.chaos.n_steps;
	result->turns_locks = t->sched.chaos.n_locks;
	result->turns_calls = t->sched.chaos.n_calls;
	lz_unfollowed_tell(t, result);
	clean_up(t);
	lz_follow_end(t);
	return ret;
}

int lz_trace(const struct lz_trace_options *opt, struct lz_trace_result *result)
{
	static struct lz_tracer t;

	*result = (struct lz_trace_result){0};
	t = (struct lz_tracer){
	    .opt = opt, .p = {.mem = -1}, .follow = {.in = -1, .out = -1, .spawner = -1}};
	lz_descriptors_reserve();
	lz_descriptors_most();
	if (opt->follow)
		lz_ahead_begin();
	if (opt->follow &&
	    (t.follow.spawner = lz_spawner_begin(&lz_followed_tracer, &t.follow.spawner_pid)) < 0)
		return -1;
	lz_sched_begin(&t);
	int ret = begin(&t);
	if (t.w)
		result->dir = strdup(lz_writer_dir(t.w));
	if (ret == 0)
		return lz_trace_to_end(&t, result);
	result->empty = true;
	result->status = t.status;
	clean_up(&t);
	lz_follow_end(&t);
	return ret;
}
