/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/hunt.h"
#include "cmds/base/catalog.h"
#include "cmds/base/cmds.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- signals that end the hunt ---- */

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

enum { MOST_WORDS = 16 };

/* The command line of lizard-trace. TEXT: room for words that are made. */
static char **trace_words(const struct lz_hunt *h, int facts, char text[2][64])
{
	size_t n = 0, k = 0;

	while (h->argv[n])
		n++;
	const char **v = calloc(n + MOST_WORDS, sizeof(*v));

	if (!v)
		return NULL;
	snprintf(text[0], 64, "/proc/self/fd/%d", facts);
	snprintf(text[1], 64, h->seed ? "--chaos=%" PRIu64 : "--chaos", h->seed + h->runs);
	v[k++] = "lizard-trace";
	v[k++] = "-q";
	v[k++] = "--summary";
	v[k++] = text[0];
	v[k++] = "--keep";
	v[k++] = h->keep;
	if (h->chaos)
		v[k++] = text[1];
	if (h->output)
		v[k++] = "--output", v[k++] = h->output;
	if (h->follow)
		v[k++] = "--follow", v[k++] = h->follow;
	if (h->pack)
		v[k++] = "--pack", v[k++] = h->pack;
	v[k++] = "--";
	memcpy(v + k, h->argv, n * sizeof(*v));
	return (char **)v;
}

static void redirect(bool echo)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		_exit(125);
	dup2(null, STDIN_FILENO);
	dup2(echo ? STDERR_FILENO : null, STDOUT_FILENO);
	if (!echo)
		dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

/* In the child: as lizard-trace would be, but for the file of the summary, which the program must
 * not inherit. */
static void be_tracer(const struct lz_hunt *h, int facts)
{
	char text[2][64], **argv = trace_words(h, facts, text);
	int argc = 0;

	while (argv && argv[argc])
		argc++;
	redirect(h->echo);
	optind = 0;
	exit(argv ? lz_cmd_trace(argc, argv) : 125);
}

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
		lz_fail("lizard-trace has written no summary: --echo shows what it says");
	return v;
}

static json_t *run_once(struct lz_hunt *h, const struct sigaction old[N_ENDING])
{
	lz_auto_close int facts = memfd_create("summary", MFD_CLOEXEC);
	pid_t pid = -1;

	fflush(NULL);
	if (facts >= 0)
		pid = fork();
	if (pid < 0) {
		lz_fail_errno("cannot start a run");
		return NULL;
	}
	if (pid == 0) {
		let_signals(old);
		be_tracer(h, facts);
	}
	wait_for(pid);
	h->runs++;
	return read_summary(facts);
}

/* ---- all of them ---- */

static void show(const struct lz_hunt *h)
{
	if (isatty(STDERR_FILENO) && !h->echo)
		lz_print(stderr, "\rlizard: hunting: run %lu of %lu ", h->runs + 1, h->most);
}

static void hide(const struct lz_hunt *h)
{
	if (isatty(STDERR_FILENO) && !h->echo)
		lz_print(stderr, "\r%*s\r", 60, "");
}

static const char *text_of(const json_t *run, const char *key)
{
	return json_string_value(json_object_get(run, key));
}

/* A run that was ended together with the hunt is none that failed. */
static void forget(const json_t *run)
{
	const char *dir = text_of(run, "recording"), *pack = text_of(run, "pack");

	if (dir && lz_recording_remove(dir) < 0)
		lz_warn("the last recording was to be removed: %s", lz_error());
	if (pack && unlink(pack) < 0)
		lz_debug("%s is left", pack);
}

/* 1: the hunt is over. */
static int look_at(struct lz_hunt *h, json_t *run)
{
	const char *error = text_of(run, "error");

	if (told)
		forget(run);
	else if (error)
		return lz_fail("%s", error);
	else if (text_of(run, "recording"))
		h->run = json_incref(run);
	return told || h->run;
}

int lz_hunt(struct lz_hunt *h)
{
	struct sigaction old[N_ENDING];
	int rc = 0;

	told = 0;
	catch_signals(old);
	while (rc == 0 && !told && h->runs < h->most) {
		show(h);
		json_t *run = run_once(h, old);

		rc = run ? look_at(h, run) : told ? 1 : -1;
		json_decref(run);
	}
	hide(h);
	let_signals(old);
	h->signo = told;
	return rc < 0 ? -1 : 0;
}
