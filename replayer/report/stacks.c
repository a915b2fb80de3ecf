/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Backtraces and the last lines: by GDB, which lizard_gdb/report.py has write a JSON object per
 * line into a file. What it has written by the end of its time counts. */
#include "replayer/answers/gdb_batch.h"
#include "replayer/report/report.h"

#include <common/base/cleanup.h>
#include <common/base/clock.h>
#include <common/base/text.h>
#include <lizard/error.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_LINES = 4000, MOST_BYTES = 1 << 16, GRACE_MS = 5000, LOOK_EVERY_US = 10000 };

/* ---- GDB ---- */

/* In the child. FACTS and SAID, its errors, are files. */
static void start_gdb(const char *dir, int facts, int said, unsigned lines)
{
	char command[100];

	snprintf(command, sizeof(command),
	         "python import lizard_gdb; lizard_gdb.report.write(%d, %u)", facts, lines);
	lz_gdb_batch(dir, command, &facts, 1, said);
}

/* 1: it took longer. */
static int wait_for(pid_t pid, unsigned ms)
{
	uint64_t end = lz_now() + (uint64_t)ms * 1000000;
	siginfo_t si = {0};

	while (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && !si.si_pid) {
		if (lz_now() >= end)
			return 1;
		usleep(LOOK_EVERY_US);
	}
	return 0;
}

/* 1: it was ended, since it took longer than SECONDS. */
static int run_gdb(const char *dir, int facts, int said, const struct lz_report_options *o)
{
	pid_t pid;
	int late;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return lz_fail_errno("cannot start GDB");
	if (pid == 0)
		start_gdb(dir, facts, said, o->lines);
	late = wait_for(pid, o->seconds * 1000);
	if (late) {
		kill(-pid, SIGTERM);
		wait_for(pid, GRACE_MS);
	}
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return late;
}

/* ---- what it wrote ---- */

/* Source text is added here: GDB would show any file of this machine. */
static void add_line(json_t *lines, json_t *line, const struct lz_report_options *o)
{
	const char *path = json_string_value(json_object_get(line, "path"));
	json_int_t number = json_integer_value(json_object_get(line, "line"));
	lz_auto_free char *text = NULL;

	if (path && number > 0 && number < 1 << 30 && o->shows && o->shows(o->arg, path))
		text = lz_report_source(path, (unsigned)number);
	json_object_set_new(line, "source", text ? lz_json_text(text) : json_null());
	json_object_del(line, "path");
	json_array_insert(lines, 0, line);
}

/* True: it was all. *PART: what comes next. */
static bool take_fact(json_t *facts, json_t *fact, const struct lz_report_options *o,
                      const char **part)
{
	json_t *thread = json_object_get(fact, "thread"), *line = json_object_get(fact, "at");

	if (json_is_object(thread))
		json_array_append(json_object_get(facts, "threads"), thread);
	else if (json_is_object(line))
		add_line(json_object_get(facts, "lines"), line, o);
	if (json_is_true(json_object_get(fact, "all_threads")))
		*part = "lines";
	return json_is_true(json_object_get(fact, "done"));
}

static bool take_facts(json_t *facts, FILE *from, const struct lz_report_options *o,
                       const char **part)
{
	char *text = malloc(MOST_BYTES);
	bool done = false;

	for (int i = 0; text && !done && i < MOST_LINES && fgets(text, MOST_BYTES, from); i++) {
		json_t *fact = json_loads(text, 0, NULL);

		done = fact && take_fact(facts, fact, o, part);
		json_decref(fact);
	}
	free(text);
	return done;
}

static int explain(const json_t *facts, FILE *said, int late, const struct lz_report_options *o)
{
	size_t n = json_array_size(json_object_get(facts, "threads"));
	lz_auto_free char *why = late ? NULL : lz_gdb_batch_reason(said);

	if (late)
		return lz_fail("GDB was ended after %u seconds; --seconds gives it more%s",
		               o->seconds, n ? "" : " (it told nothing yet)");
	return lz_fail("GDB %s: %s", n ? "did not tell all" : "did not tell",
	               why ? why : "no reason given");
}

int lz_report_stacks(json_t *facts, const char *dir, const struct lz_report_options *o,
                     const char **part)
{
	FILE *told = lz_gdb_batch_file("facts"), *said = told ? lz_gdb_batch_file("said") : NULL;
	int rc = said ? run_gdb(dir, fileno(told), fileno(said), o) : -1;

	*part = "threads";
	json_object_set_new(facts, "threads", json_array());
	json_object_set_new(facts, "lines", json_array());
	if (rc >= 0) {
		rewind(told);
		rc = take_facts(facts, told, o, part) ? 0 : explain(facts, said, rc, o);
	}
	if (told)
		fclose(told);
	if (said)
		fclose(said);
	return rc;
}
