/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/repeat.h"
#include "cmds/base/catalog.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <errno.h>
#include <lizard/error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- signals that end it ---- */

static volatile sig_atomic_t told;
static volatile pid_t tracer;

/* The terminal's reach the program by themselves. */
static void on_signal(int signo)
{
	told = signo;
	if (signo != SIGINT && tracer > 0)
		kill(tracer, signo);
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof(ending) / sizeof(*ending) };

static void catch_signals(struct sigaction old[N_ENDING])
{
	struct sigaction sa = {.sa_handler = on_signal};

	for (int i = 0; i < N_ENDING; i++) {
		sigaction(ending[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(ending[i], &sa, NULL);
	}
}

static void let_signals(const struct sigaction old[N_ENDING])
{
	for (int i = 0; i < N_ENDING; i++)
		sigaction(ending[i], &old[i], NULL);
}

/* ---- one run ---- */

static int wait_for(pid_t pid)
{
	int status = 0;

	tracer = pid;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	tracer = 0;
	return status;
}

/* The summary that the file FACTS has. */
static json_t *read_summary(int facts)
{
	lz_auto_close int fd = dup(facts);
	FILE *from = fd < 0 ? NULL : fdopen(dup(fd), "r");
	json_t *v;

	if (!from) {
		lz_fail_errno("cannot read the summary of lizard-trace");
		return NULL;
	}
	rewind(from);
	v = json_loadf(from, 0, NULL);
	fclose(from);
	if (!v)
		lz_fail("lizard-trace has written no summary");
	return v;
}

/* Its summary; NULL: there is none. */
static json_t *run_once(struct lz_repeat *r, const struct sigaction old[N_ENDING])
{
	/* the program must not inherit it */
	lz_auto_close int facts = memfd_create("summary", MFD_CLOEXEC);
	pid_t pid = -1;

	r->status = 0;
	fflush(NULL);
	if (facts >= 0)
		pid = fork();
	if (pid < 0) {
		lz_fail_errno("cannot start a run");
		return NULL;
	}
	if (pid == 0) {
		let_signals(old);
		exit(r->record(r->arg, r->runs, facts));
	}
	r->status = wait_for(pid);
	r->runs++;
	return read_summary(facts);
}

/* ---- all of them ---- */

static bool shows(const struct lz_repeat *r)
{
	return r->progress && isatty(STDERR_FILENO);
}

static const char *text_of(const json_t *run, const char *key)
{
	return json_string_value(json_object_get(run, key));
}

/* A run that was ended together with the others is none that failed. */
static void forget(const json_t *run)
{
	const char *dir = text_of(run, "recording"), *pack = text_of(run, "pack");

	if (dir && lz_recording_remove(dir) < 0)
		lz_warn("the last recording was to be removed: %s", lz_error());
	if (pack && unlink(pack) < 0)
		lz_debug("%s is left", pack);
}

/* 1: that was the last one. */
static int look_at(struct lz_repeat *r)
{
	const char *error = text_of(r->run, "error");

	if (told)
		forget(r->run);
	else if (error)
		return lz_fail("%s", error);
	else
		r->failed = text_of(r->run, "recording") != NULL;
	return told || r->failed;
}

int lz_repeat(struct lz_repeat *r)
{
	struct sigaction old[N_ENDING];
	int rc = 0;

	told = 0;
	catch_signals(old);
	while (rc == 0 && !told && r->runs < r->most) {
		if (shows(r))
			lz_print(stderr, "\rlizard: hunting: run %lu of %lu ", r->runs + 1,
			         r->most);
		json_decref(r->run);
		r->run = run_once(r, old);
		rc = r->run ? look_at(r) : told ? 1 : -1;
	}
	if (shows(r))
		lz_print(stderr, "\r%*s\r", 60, "");
	let_signals(old);
	r->signo = told;
	return rc < 0 ? -1 : 0;
}

static bool has_threads(const json_t *run)
{
	return json_integer_value(json_object_get(run, "most_threads")) > 1;
}

static bool has_seed(const json_t *run)
{
	return json_is_integer(json_object_get(run, "seed"));
}

void lz_repeat_say_none(const struct lz_repeat *r)
{
	if (r->signo)
		lz_print(stderr, "lizard: ended by a signal; %lu runs did not fail\n",
		         r->runs ? r->runs - 1 : 0);
	else
		lz_print(stderr, "lizard: none of %lu runs failed%s\n", r->runs,
		         !has_threads(r->run) ? ""
		         : has_seed(r->run)
		             ? "; more runs (-n) try more ways in which the threads take turns"
		             : "; with --chaos its threads take turns by chance");
}
