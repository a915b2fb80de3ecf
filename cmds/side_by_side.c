/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/side_by_side.h"

#include <common/base/bytes.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each may need as much memory as the recorded program; so many pieces may be ahead of the first that is not
 * done. */
enum { LANES = 8, AHEAD = 256 };

struct lane {
	int cpu, fd; /* fd -1: it is free */
	pid_t pid;
	size_t i;
};

struct piece {
	bool over, done;
	struct lz_buf printed;
};

struct all {
	const struct lz_side_by_side *s;
	struct lane lane[LANES];
	struct pollfd poll[LANES];
	unsigned n_lanes, running;
	struct piece *piece; /* number i is at i % AHEAD */
	size_t started, over;
};

static void find_cpus(struct all *a)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		CPU_ZERO(&set);
	for (int cpu = 0; cpu < CPU_SETSIZE && a->n_lanes < LANES; cpu++)
		if (CPU_ISSET(cpu, &set))
			a->lane[a->n_lanes++] = (struct lane){.cpu = cpu, .fd = -1};
}

static _Noreturn void work(const struct all *a, const struct lane *l, int out, pid_t parent)
{
	cpu_set_t one;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0)
		_exit(1);
	close(out);
	CPU_ZERO(&one);
	CPU_SET(l->cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	const int ret = a->s->work(a->s->arg, l->i);
	_exit(fflush(stdout) == 0 && ret == 0 ? 0 : 1);
}

/* False: there can be no process. */
static bool start(struct all *a, struct lane *l)
{
	const pid_t self = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	fflush(stdout);
	l->i = a->started;
	l->pid = fork();
	if (l->pid == 0)
		work(a, l, ends[1], self);
	close(ends[1]);
	if (l->pid < 0) {
		close(ends[0]);
		return false;
	}
	l->fd = ends[0];
	a->running++;
	a->started++;
	return true;
}

static void end(struct all *a, struct lane *l)
{
	struct piece *p = &a->piece[l->i % AHEAD];
	int status;

	close(l->fd);
	l->fd = -1;
	a->running--;
	p->over = true;
	p->done = waitpid(l->pid, &status, 0) == l->pid && status == 0 && !p->printed.failed;
}

static void read_some(struct all *a, struct lane *l)
{
	char some[4096];
	const ssize_t n = read(l->fd, some, sizeof(some));

	if (n > 0)
		lz_put(&a->piece[l->i % AHEAD].printed, some, (size_t)n);
	else if (n == 0 || errno != EINTR)
		end(a, l);
}

static void start_some(struct all *a)
{
	for (unsigned k = 0; k < a->n_lanes; k++)
		if (a->lane[k].fd < 0 && a->started < a->s->n && a->started - a->over < AHEAD &&
		    !start(a, &a->lane[k]))
			return;
}

static void wait_for_some(struct all *a)
{
	for (unsigned k = 0; k < a->n_lanes; k++)
		a->poll[k] = (struct pollfd){a->lane[k].fd, POLLIN, 0};
	if (poll(a->poll, a->n_lanes, -1) <= 0)
		return;
	for (unsigned k = 0; k < a->n_lanes; k++)
		if (a->poll[k].revents)
			read_some(a, &a->lane[k]);
}

/* Those in front, as far as they are over. */
static void take(struct all *a)
{
	while (a->over < a->started && a->piece[a->over % AHEAD].over) {
		struct piece *p = &a->piece[a->over % AHEAD];

		if (!p->done)
			a->s->again(a->s->arg, a->over);
		else if (p->printed.len)
			fwrite(p->printed.p, 1, p->printed.len, stdout);
		a->over++;
		lz_buf_free(&p->printed);
		*p = (struct piece){0};
	}
}

void lz_side_by_side(const struct lz_side_by_side *s)
{
	struct all a = {.s = s};

	find_cpus(&a);
	if (s->n > 1 && a.n_lanes > 1)
		a.piece = calloc(AHEAD, sizeof(*a.piece));
	while (a.over < s->n) {
		if (a.piece)
			start_some(&a);
		if (a.running) {
			wait_for_some(&a);
			take(&a);
		} else {
			s->again(s->arg, a.over++);
			a.started = a.over;
		}
	}
	free(a.piece);
}
