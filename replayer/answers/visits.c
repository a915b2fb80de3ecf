/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/visits.h"

#include "replayer/answers/gdb_batch.h"
#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <errno.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_EVERY_MS = 100, PIECE = 1 << 16, LONGEST_LINE = 1 << 20 };

struct visiting {
	struct lz_asked *a;
	const struct lz_activation *v;
	size_t n, done;
	lz_visit_fn *fn;
	void *arg;
	FILE *wanted, *said; /* files: where GDB is to go; its errors */
	pid_t gdb;
	int from;   /* a pipe: what it sees, an object a line */
	char *line; /* as far as it has come */
	size_t len, room;
};

/* ---- GDB ---- */

/* lizard_gdb/visited.py reads this. */
static int write_wanted(struct visiting *w)
{
	char from[LZ_INSTANT_TEXT], to[LZ_INSTANT_TEXT];

	for (size_t i = 0; i < w->n; i++) {
		const struct lz_activation *one = &w->v[i];
		const uint32_t tid = lz_asked_tid(w->a, one->thread);
		lz_print(w->wanted, "%s %s %d\n", lz_asked_instant(tid, one->from, from),
		         lz_asked_instant(tid, one->to, to), one->ended == LZ_ENDED_RETURN);
	}
	rewind(w->wanted);
	return ferror(w->wanted) ? lz_fail_errno("no memory for %zu calls", w->n) : 0;
}

static int start(struct visiting *w)
{
	int ends[2];
	char command[100];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return lz_fail_errno("cannot start GDB");
	fflush(NULL);
	w->gdb = fork();
	if (w->gdb == 0) {
		const int kept[] = {fileno(w->wanted), ends[1]};
		snprintf(command, sizeof(command),
		         "python import lizard_gdb; lizard_gdb.visited.write(%d, %d)", kept[0],
		         kept[1]);
		lz_gdb_batch(lz_reader_dir(w->a->reader), command, kept, 2, fileno(w->said));
	}
	close(ends[1]);
	w->from = ends[0];
	if (w->gdb > 0)
		return 0;
	lz_fail_errno("cannot start GDB");
	close(w->from);
	return -1;
}

static void end(struct visiting *w)
{
	close(w->from);
	kill(-w->gdb, SIGKILL);
	kill(w->gdb, SIGKILL);
	while (waitpid(w->gdb, NULL, 0) < 0 && errno == EINTR) {
	}
}

/* ---- what it sees ---- */

static int take(struct visiting *w, const char *line)
{
	json_t *seen = w->done < w->n ? json_loads(line, 0, NULL) : NULL;

	if (!json_is_object(seen)) {
		json_decref(seen);
		return lz_fail("GDB tells something else than what it was asked for");
	}
	int rc = w->fn(w->arg, &w->v[w->done++], seen);
	json_decref(seen);
	return rc;
}

/* Each whole line. */
static int take_lines(struct visiting *w)
{
	char *at = w->line, *newline;
	int rc = 0;

	while (!rc && (newline = memchr(at, '\n', w->len - (size_t)(at - w->line)))) {
		*newline = 0;
		rc = take(w, at);
		at = newline + 1;
	}
	w->len -= (size_t)(at - w->line);
	memmove(w->line, at, w->len);
	return !rc && w->len > LONGEST_LINE ? lz_fail("GDB tells too much of one call") : rc;
}

/* 1: there is no more. */
static int read_more(struct visiting *w)
{
	if (lz_reserve(w->line, w->room, w->len + PIECE) < 0)
		return -1;
	ssize_t got = read(w->from, w->line + w->len, PIECE);
	if (got < 0)
		return errno == EINTR ? 0 : lz_fail_errno("GDB cannot be heard");
	w->len += (size_t)got;
	return got ? take_lines(w) : 1;
}

/* 0: all is done, or a signal has ended it. */
static int listen(struct visiting *w)
{
	struct pollfd from = {.fd = w->from, .events = POLLIN};
	int rc = 0;

	while (!rc && !w->a->partial) {
		const size_t before = w->done;
		if (poll(&from, 1, LOOK_EVERY_MS) > 0)
			rc = read_more(w);
		w->a->partial = lz_work_done(&w->a->work, w->done - before) < 0;
	}
	if (rc == 1 && w->done < w->n) {
		lz_auto_free char *why = lz_gdb_batch_reason(w->said);
		return lz_fail("GDB has visited %zu of %zu calls: %s", w->done, w->n,
		               why ? why : "no reason given");
	}
	return rc == 1 || w->a->partial ? 0 : rc;
}

int lz_visits(struct lz_asked *a, const struct lz_activation *v, size_t n, lz_visit_fn *fn,
              void *arg)
{
	struct visiting w = {.a = a, .v = v, .n = n, .fn = fn, .arg = arg};
	int rc = -1;

	if (!n || a->partial)
		return 0;
	w.wanted = lz_gdb_batch_file("wanted");
	w.said = w.wanted ? lz_gdb_batch_file("said") : NULL;
	if (w.said && write_wanted(&w) == 0 && start(&w) == 0) {
		lz_work_begin(&a->work, "visiting calls", n);
		rc = listen(&w);
		lz_progress_end(&a->work.progress);
		end(&w);
		if (!a->partial)
			lz_work_end(&a->work);
	}
	if (w.said)
		fclose(w.said);
	if (w.wanted)
		fclose(w.wanted);
	free(w.line);
	return rc;
}
