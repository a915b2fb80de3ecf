/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tracer and program share a CPU, which the kernel therefore cannot choose for them. Where they wait
 * for it they move together: at once to a CPU that is idle, else they try another one for a second
 * and see whether they wait less there. The threads that pack what is recorded keep to the other
 * CPUs, but take any while those are crowded.
 *
 * How long a thread waited for a CPU is the second number of its schedstat (proc(5)). */
#include "tracer/run/run.h"
#include "tracer/state/pair.h"
#include "tracer/state/process.h"

#include <common/base/clock.h>
#include <common/base/thread.h>
#include <dirent.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A look costs some 50 us. */
enum {
	LOOK_MS = 100,
	TRIAL_LOOKS = 10,
	CROWDED_PERCENT = 20,
	IDLE_PERCENT = 50,
	CALM_LOOKS = 20,
	PATIENCE_MAX = 32, /* trials */
};

struct waiting {
	uint32_t tid;
	uint64_t ns; /* so far */
};

struct lz_mover {
	struct lz_tracer *t;
	pid_t own; /* the mover's thread */
	cpu_set_t given;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	uint64_t looked; /* ns, the last time */
	struct waiting pair[2];
	uint64_t packers;           /* ns, all of them together */
	unsigned calm;              /* looks without a crowd among the packers */
	uint64_t idle[CPU_SETSIZE]; /* ticks so far */
	/* Since the pair came here, or since the last trial of TRIAL_LOOKS. */
	unsigned looks;
	uint64_t waited, passed; /* ns */
	unsigned before; /* it moved because it had waited for so many percent, 0: it did not */
	unsigned patience, left; /* so many trials between moves; so many to come */
};

static uint64_t waited(pid_t pid, uint32_t tid)
{
	char path[64];
	uint64_t ns = 0;

	snprintf(path, sizeof path, "/proc/%d/task/%u/schedstat", (int)pid, tid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*u %" SCNu64, &ns) != 1)
		ns = 0;
	fclose(f);
	return ns;
}

/* Calls TELL for each of our threads that packs. */
static void each_packer(struct lz_mover *m, void (*tell)(struct lz_mover *m, pid_t tid, void *arg),
                        void *arg)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d))) {
		pid_t tid = atoi(e->d_name);
		if (tid > 0 && tid != m->t->borrowed.tracer && tid != m->own)
			tell(m, tid, arg);
	}
	closedir(d);
}

static void add_waited(struct lz_mover *m, pid_t tid, void *sum)
{
	(void)m;
	*(uint64_t *)sum += waited(getpid(), (uint32_t)tid);
}

static void allow(struct lz_mover *m, pid_t tid, void *cpus)
{
	(void)m;
	sched_setaffinity(tid, sizeof(cpu_set_t), cpus);
}

/* How much more the pair has waited than at the last look, ns. A thread that has just got the turn
 * counts from the next look on. */
static uint64_t pair_waited(struct lz_mover *m)
{
	const uint32_t tid[2] = {(uint32_t)m->t->borrowed.tracer, m->t->running};
	const pid_t pid[2] = {getpid(), (pid_t)m->t->tid};
	uint64_t more = 0;

	for (int i = 0; i < 2; i++) {
		struct waiting *w = &m->pair[i], now = {tid[i], waited(pid[i], tid[i])};
		if (now.tid == w->tid && now.ns > w->ns)
			more += now.ns - w->ns;
		*w = now;
	}
	return more;
}

static uint64_t packers_waited(struct lz_mover *m)
{
	uint64_t sum = 0;

	each_packer(m, add_waited, &sum);
	/* one of them may have ended */
	uint64_t more = sum > m->packers ? sum - m->packers : 0;
	m->packers = sum;
	return more;
}

/* *BEST: the CPU that was idle for the most ticks since the last look, other than the pair's.
 * Returns them. */
static uint64_t most_idle(struct lz_mover *m, int *best)
{
	FILE *f = fopen("/proc/stat", "re");
	uint64_t idle, wait, most = 0;
	char line[512];
	unsigned cpu;

	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "cpu%u %*u %*u %*u %" SCNu64 " %" SCNu64, &cpu, &idle, &wait) !=
		        3 ||
		    cpu >= CPU_SETSIZE)
			continue;
		idle += wait;
		bool may = m->idle[cpu] && CPU_ISSET(cpu, &m->given) && idle > m->idle[cpu] &&
		           (int)cpu != m->t->borrowed.cpu;
		if (may && idle - m->idle[cpu] > most) {
			most = idle - m->idle[cpu];
			*best = (int)cpu;
		}
		m->idle[cpu] = idle;
	}
	if (f)
		fclose(f);
	return most;
}

static int next_cpu(const struct lz_mover *m)
{
	int cpu = m->t->borrowed.cpu;

	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, &m->given));
	return cpu;
}

static void begin_trial(struct lz_mover *m)
{
	m->looks = 0;
	m->waited = m->passed = 0;
}

static void move_pair(struct lz_mover *m, int cpu)
{
	lz_pair_move(m->t, cpu);
	memset(m->pair, 0, sizeof m->pair);
	begin_trial(m);
}

/* Two recordings that share a CPU must not go and come back together. */
static unsigned chance(unsigned n)
{
	return (unsigned)(lz_now() / 64 % n);
}

/* The pair has waited for PERCENT of a trial. A move that did not help makes it more patient. */
static void end_trial(struct lz_mover *m, unsigned percent)
{
	if (m->before)
		m->patience = percent * 4 < m->before * 3 ? 1 : m->patience * 2;
	if (m->patience > PATIENCE_MAX)
		m->patience = PATIENCE_MAX;
	if (m->before)
		m->left = m->patience - 1 + chance(m->patience + 1);
	m->before = 0;
	begin_trial(m);
	if (percent <= CROWDED_PERCENT || m->left-- > 0)
		return;
	m->left = 0;
	m->before = percent;
	move_pair(m, next_cpu(m));
}

/* The other CPU that is idle most of the time, -1: none is. */
static int idle_cpu(struct lz_mover *m, uint64_t ns)
{
	const uint64_t ticks = ns * (uint64_t)sysconf(_SC_CLK_TCK) / 1000000000;
	int cpu = -1;

	return most_idle(m, &cpu) * 100 > ticks * IDLE_PERCENT ? cpu : -1;
}

static void place_pair(struct lz_mover *m, uint64_t waited, uint64_t ns, int idle)
{
	m->looks++;
	m->waited += waited;
	m->passed += ns;
	if (idle >= 0 && waited * 100 > ns * CROWDED_PERCENT && chance(2))
		move_pair(m, idle);
	else if (m->looks >= TRIAL_LOOKS)
		end_trial(m, (unsigned)(m->waited * 100 / m->passed));
}

static void place_packers(struct lz_mover *m, bool crowded)
{
	cpu_set_t cpus;

	m->calm = crowded ? 0 : m->calm + 1;
	m->t->crowded = m->calm < CALM_LOOKS;
	lz_other_cpus(m->t, &cpus);
	each_packer(m, allow, m->t->crowded ? &m->given : &cpus);
}

static void look(struct lz_mover *m)
{
	const uint64_t now = lz_now(), ns = now - m->looked;

	const int idle = idle_cpu(m, ns);
	const bool waits = packers_waited(m) * 100 > ns * CROWDED_PERCENT;

	m->looked = now;
	place_pair(m, pair_waited(m), ns, idle);
	/* Who has given up packing waits for nobody: then an idle CPU tells that there is room. */
	place_packers(m, waits || (m->t->crowded && idle < 0));
}

static void *work(void *arg)
{
	struct lz_mover *m = arg;

	m->own = gettid();
	sched_setaffinity(0, sizeof m->given, &m->given);
	m->looked = lz_now();
	pthread_mutex_lock(&m->lock);
	while (!m->stop) {
		lz_thread_rest(&m->wake, &m->lock, LOOK_MS * 1000);
		if (!m->stop)
			look(m);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

static void destroy(struct lz_mover *m)
{
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

void lz_mover_begin(struct lz_tracer *t)
{
	t->crowded = CPU_COUNT(&t->borrowed.given) < 2;
	t->mover_due = t->crowded ? 0 : lz_now() + LOOK_MS * 1000000ULL;
}

static int start(struct lz_tracer *t)
{
	struct lz_mover *m = calloc(1, sizeof *m);

	if (!m)
		return lz_fail("no memory");
	m->t = t;
	m->given = t->borrowed.given;
	m->calm = CALM_LOOKS;
	m->patience = 1;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->wake, NULL);
	if (lz_thread_start(&m->thread, "lizard-mover", work, m) < 0) {
		destroy(m);
		return -1;
	}
	t->mover = m;
	return 0;
}

/* Before its first look it would do nothing. */
void lz_mover_tick(struct lz_tracer *t)
{
	if (!t->mover_due || lz_now() < t->mover_due)
		return;
	t->mover_due = 0;
	if (start(t) < 0)
		lz_debug("the program stays on its CPU: %s", lz_error());
}

long lz_mover_timer(const struct lz_tracer *t, long ms)
{
	return t->mover_due && ms > LOOK_MS ? LOOK_MS : ms;
}

void lz_mover_stop(struct lz_tracer *t)
{
	struct lz_mover *m = t->mover;

	t->mover_due = 0;
	if (!m)
		return;
	t->mover = NULL;
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	destroy(m);
}
