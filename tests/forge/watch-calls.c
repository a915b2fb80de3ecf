/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a command and watches what replayed processes do:
 *
 *   watch-calls [-t SECONDS] [-o FILE] -r RECORDING COMMAND [ARG...]
 *
 * A filter that everything inherits asks about their system calls. Those that a tracer emulates
 * never come to a filter, so what it sees is real. A call that is not in tests/forge/calls.h, that
 * touches the stub or does not come from its one instruction is refused. So is a socket that
 * anybody makes. After SECONDS all is killed; time in which it waits for a CPU does not count.
 *
 * Prints a line for each of these, for each process that is left when the command has ended, and
 * for the end by a signal. Exit status: the command's; 100 if a line was printed. */
#include "tests/forge/calls.h"
#include "tests/forge/watch.h"

#include <lizard/recording.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BROKEN = 100, FAILED = 101, TICK_MS = 100, GRACE_MS = 1000, MOST_LINES = 20 };

static FILE *out;
static unsigned lines;

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *fmt, ...)
{
	va_list ap;

	if (++lines > MOST_LINES)
		return;
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
	fflush(out);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Waits for a question for a moment, and answers it. */
static void answer(int listener, const struct stub *stub)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};
	struct seccomp_notif n = {0};
	struct seccomp_notif_resp r = {0};

	if (poll(&p, 1, TICK_MS) <= 0)
		return;
	if (!(p.revents & POLLIN)) {
		usleep(1000); /* nobody is left */
		return;
	}
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		return;
	const char *why = watch_judge(&n, stub);
	r.id = n.id;
	r.error = why ? -EPERM : 0;
	r.flags = why ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (why)
		say("%s", why);
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

static void kill_one(void *arg, pid_t pid)
{
	kill(pid, SIGKILL);
}

static void say_left(void *arg, pid_t pid)
{
	char path[64], name[64] = "?";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = 0;
	if (f)
		fclose(f);
	say("process %d (%s) is left", (int)pid, name);
}

static void kill_all(void)
{
	while (watch_each_below(kill_one, NULL) > 0) {
		while (waitpid(-1, NULL, __WALL | WNOHANG) > 0)
			;
		usleep(1000);
	}
}

/* False: all children are gone. *status: the command's, when it ends. */
static bool reap(pid_t command, int *status)
{
	pid_t got;
	int s;

	while ((got = waitpid(-1, &s, __WALL | WNOHANG)) > 0)
		if (got == command)
			*status = s;
	return got == 0;
}

/* Ms that it has taken so far. SINCE: those since the last question. */
static uint64_t taken_ms(uint64_t since)
{
	static uint64_t idle;
	bool busy;
	uint64_t cpu = watch_cpu_ms(&busy);

	idle += busy ? 0 : since;
	return cpu + idle;
}

/* The command's status. */
static int watch(pid_t command, int listener, const struct stub *stub, uint64_t limit_ms)
{
	uint64_t looked = now_ms(), ended = 0;
	int status = -1;

	while (reap(command, &status)) {
		uint64_t now = now_ms();
		if (status >= 0 && !ended)
			ended = now;
		if (ended && now - ended > GRACE_MS) {
			watch_each_below(say_left, NULL);
			break;
		}
		if (now - looked > TICK_MS) {
			bool late = taken_ms(now - looked) > limit_ms;
			looked = now;
			if (late) {
				say("still running after %" PRIu64 " s", limit_ms / 1000);
				break;
			}
		}
		answer(listener, stub);
	}
	kill_all();
	return status;
}

/* As restorer/stub.c chooses it. */
static struct stub stub_of(const char *recording)
{
	struct stub s = {STUB_ELSEWHERE, LZ_PAGE};
	struct lz_meta m;

	if (lz_meta_read(recording, &m) < 0)
		return s;
	if (m.stub_addr)
		s.addr = m.stub_addr;
	if (m.stub_len > s.len)
		s.len = m.stub_len;
	lz_meta_free(&m);
	return s;
}

static int usage(void)
{
	fprintf(stderr,
	        "usage: watch-calls [-t SECONDS] [-o FILE] -r RECORDING COMMAND [ARG...]\n");
	return FAILED;
}

int main(int argc, char **argv)
{
	struct stub stub = {STUB_ELSEWHERE, LZ_PAGE};
	uint64_t limit_ms = 20000;
	int opt, listener = -1;

	out = stderr;
	while ((opt = getopt(argc, argv, "+t:o:r:")) != -1) {
		switch (opt) {
		case 't': limit_ms = strtoull(optarg, NULL, 10) * 1000; break;
		case 'o': out = fopen(optarg, "ae"); break;
		case 'r': stub = stub_of(optarg); break;
		default: return usage();
		}
	}
	if (optind == argc || !out)
		return usage();
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	pid_t command = watch_start(argv + optind, &stub, &listener);
	if (command < 0) {
		fprintf(stderr, "watch-calls: cannot watch %s: %s\n", argv[optind],
		        strerror(errno));
		kill_all();
		return FAILED;
	}
	int status = watch(command, listener, &stub, limit_ms);
	if (WIFSIGNALED(status) && !lines)
		say("ended by signal %d", WTERMSIG(status));
	return lines ? BROKEN : WEXITSTATUS(status);
}
