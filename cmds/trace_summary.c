/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/trace_summary.h"
#include "cmds/base/catalog.h"
#include "common/base/text.h"
#include "common/base/print.h"

#include <common/base/cleanup.h>
#include <common/base/secrets.h>
#include <common/base/shell.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *markers_of(const struct lz_trace_result *r, char buf[2 * LZ_TEXT])
{
	double s = (double)r->duration_ns / 1e9;
	char size[LZ_TEXT];

	if (!r->instrumented)
		return "no markers (not built with lizard-cc)";
	snprintf(buf, 2 * LZ_TEXT, "%s of markers (%.1f MB/s)", lz_text_size(r->marker_bytes, size),
	         s > 0 ? (double)r->marker_bytes / 1e6 / s : 0.0);
	return buf;
}

static void say_recorded(const struct lz_trace_result *r)
{
	char ended[LZ_TEXT], took[LZ_TEXT], total[LZ_TEXT], markers[2 * LZ_TEXT];

	lz_print(stderr,
	         "lizard: recorded %s: %s after %s, %s on disk; %" PRIu64
	         " events, %u checkpoint%s, %s\n",
	         r->dir, lz_text_ending(r->status, ended), lz_text_duration(r->duration_ns, took),
	         lz_text_size(lz_recording_bytes(r->dir), total), r->n_events, r->n_checkpoints,
	         r->n_checkpoints == 1 ? "" : "s", markers_of(r, markers));
}

static void say_unfollowed(const struct lz_trace_result *r)
{
	if (r->n_unfollowed)
		lz_print(stderr, "lizard: %u %s not recorded: %s (--follow all records children)\n",
		         r->n_unfollowed, r->n_unfollowed == 1 ? "child was" : "children were",
		         r->unfollowed ? r->unfollowed : "");
}

/* What is not kept of the environment: nobody shall miss it, or believe that it is nowhere. */
static void say_masked(void)
{
	static const char text[] =
	    "lizard: variables that look secret are listed without their values (--env=all: with "
	    "them), but the program's memory, which is recorded, holds them:";
	size_t n = 0;

	for (char **v = environ; v && *v; v++) {
		if (!lz_env_is_secret(*v))
			continue;
		lz_print(stderr, "%s %.*s", n++ ? "" : text, (int)strcspn(*v, "="), *v);
	}
	if (n)
		lz_print(stderr, "\n");
}

const char *lz_trace_name(const char *dir)
{
	lz_auto_free char *all = lz_recordings_dir();
	const char *slash = strrchr(dir, '/');
	size_t n = slash ? (size_t)(slash - dir) : 0;
	bool below = all && n == strlen(all) && strncmp(dir, all, n) == 0;

	return below && access(slash + 1, F_OK) < 0 ? slash + 1 : dir;
}

static void say_next(const struct lz_trace_options *o, const struct lz_trace_result *r)
{
	lz_auto_free char *name = lz_shell_word(lz_trace_name(r->dir));

	if (!name)
		return;
	lz_print(stderr, "lizard: next: lizard-gdb %s%s", WIFSIGNALED(r->status) ? "-e " : "",
	         name);
	if (o->follow)
		lz_print(stderr, "  (its processes: lizard ps %s)", name);
	fputc('\n', stderr);
}

static void say_chaos(const struct lz_trace_options *o, const struct lz_trace_result *r)
{
	const uint64_t all = r->turns_points + r->turns_steps + r->turns_locks + r->turns_calls;

	fprintf(stderr,
	        "lizard: %" PRIu64 " turns were ended: %" PRIu64 " at a marker or a call, %" PRIu64
	        " some instructions behind one, %" PRIu64 " behind a lock, %" PRIu64
	        " behind a function's call\n",
	        all, r->turns_points, r->turns_steps, r->turns_locks, r->turns_calls);
	fprintf(stderr, "lizard: the threads' turns come again with --chaos=%" PRIu64 "\n",
	        o->chaos_seed);
}

void lz_trace_summary(const struct lz_trace_options *o, const struct lz_trace_result *r)
{
	if (r->complete) {
		say_recorded(r);
		say_unfollowed(r);
	}
	if (r->complete && o->chaos_seed)
		say_chaos(o, r);
	if (!o->all_env)
		say_masked();
	say_next(o, r);
}
