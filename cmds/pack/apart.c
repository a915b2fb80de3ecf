/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/pack/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <common/base/text.h>
#include <common/base/thread.h>
#include <lizard/error.h>

/* What the process says comes at once: how it ended, and a text. */
enum { DONE = 'd', FAILED = 'f', MAX_TEXT = 4 * PATH_MAX };

/* ---- in the process ---- */

struct work {
	char *(*fn)(const void *arg);
	const void *arg;
	char *text;
	bool done;
};

static void *work(void *arg)
{
	struct work *w = arg;

	w->text = w->fn(w->arg);
	w->done = w->text;
	if (!w->done)
		w->text = strdup(lz_error());
	return NULL;
}

static void say(int fd, bool done, const char *text)
{
	char kind = done ? DONE : FAILED;
	struct iovec v[] = {{&kind, 1}, {(void *)(text ? text : "no memory"), 0}};

	v[1].iov_len = strnlen(v[1].iov_base, MAX_TEXT - 2);
	if (writev(fd, v, 2) < 0)
		_exit(1);
}

/* SEEN: the signals as whoever waits has them. */
static void be_process(int fd, struct work *w, pid_t parent, const sigset_t *seen)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* it may have ended before that */
	if (getppid() != parent)
		_exit(1);
	sigprocmask(SIG_SETMASK, seen, NULL);
	/* the stack that the program was given may be too small for libraries */
	if (lz_thread_start(&thread, "apart", work, w) < 0) {
		say(fd, false, lz_error());
	} else {
		pthread_join(thread, NULL);
		say(fd, w->done, w->text);
	}
	_exit(0);
}

/* ---- whoever waits for it ---- */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof(ending) / sizeof(*ending) };

static volatile sig_atomic_t process, came;

static void pass_on(int signo)
{
	came = signo;
	if (process > 0)
		kill(process, signo);
}

/* Those that end a process wait until it is known to whom they go. */
static void hold_back(sigset_t *old)
{
	sigset_t held;

	sigemptyset(&held);
	for (int i = 0; i < N_ENDING; i++)
		sigaddset(&held, ending[i]);
	sigprocmask(SIG_BLOCK, &held, old);
}

static void listen(struct sigaction old[N_ENDING])
{
	struct sigaction mine = {.sa_handler = pass_on};

	came = 0;
	for (int i = 0; i < N_ENDING; i++) {
		sigaction(ending[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(ending[i], &mine, NULL);
	}
}

static void listen_no_more(const struct sigaction old[N_ENDING])
{
	for (int i = 0; i < N_ENDING; i++)
		sigaction(ending[i], &old[i], NULL);
	if (came)
		raise(came);
}

static void read_all(int fd, char *text)
{
	size_t n = 0;
	ssize_t got;

	while ((got = read(fd, text + n, MAX_TEXT - 1 - n)) != 0) {
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			break;
	}
	text[n] = 0;
}

/* TEXT: what it said. */
static int wait_for(pid_t pid, const char *what, const char *text)
{
	char how[LZ_TEXT];
	siginfo_t ended;
	int status;

	/* from when on its number may be another's */
	while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	process = 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			status = 0; /* whoever ignores SIGCHLD is not told */
			break;
		}
	if (*text == DONE)
		return 0;
	if (*text == FAILED)
		return lz_fail("%s", text + 1);
	return lz_fail("%s has ended early, with %s: memory may be short", what,
	               lz_text_status(status, how));
}

static int run(const char *what, struct work *w, char *text)
{
	struct sigaction old[N_ENDING];
	const pid_t parent = getpid();
	sigset_t seen;
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return lz_fail_errno("cannot make a pipe");
	fflush(NULL);
	hold_back(&seen);
	const pid_t pid = fork();
	if (pid == 0)
		be_process(fds[1], w, parent, &seen);
	close(fds[1]);
	if (pid < 0) {
		sigprocmask(SIG_SETMASK, &seen, NULL);
		close(fds[0]);
		return lz_fail_errno("cannot make a process for %s", what);
	}
	process = pid;
	listen(old);
	sigprocmask(SIG_SETMASK, &seen, NULL);
	read_all(fds[0], text);
	close(fds[0]);
	rc = wait_for(pid, what, text);
	listen_no_more(old);
	return rc;
}

char *lz_apart(const char *what, char *(*fn)(const void *arg), const void *arg)
{
	struct work w = {.fn = fn, .arg = arg};
	lz_auto_free char *text = malloc(MAX_TEXT);
	char *result = NULL;

	if (!text)
		lz_fail("no memory");
	else if (run(what, &w, text) == 0 && !(result = strdup(text + 1)))
		lz_fail("no memory");
	return result;
}
