/* From the options to a finished recording. */
#include "tracer/state/tracer.h"
#include "tracer/turns/shared_memory_lock.h"

#include <errno.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char *read_link(const char *path)
{
	char buf[4096];
	ssize_t n = readlink(path, buf, sizeof(buf) - 1);

	return n < 0 ? strdup("") : strndup(buf, (size_t)n);
}

static char **copy_list(char **v)
{
	size_t n = 0;

	while (v[n])
		n++;
	char **copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++)
		copy[i] = strdup(v[i]);
	return copy;
}

/* `key : value` of the first CPU. */
static char *cpuinfo(const char *key)
{
	char *line = NULL, *found = NULL;
	size_t room = 0;
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && !found && getline(&line, &room, f) > 0) {
		char *colon = strchr(line, ':');
		if (strncmp(line, key, strlen(key)) != 0 || !colon)
			continue;
		colon += strspn(colon, ": ");
		colon[strcspn(colon, "\n")] = 0;
		found = strdup(colon);
	}
	free(line);
	if (f)
		fclose(f);
	return found ? found : strdup("");
}

/* Processor features as the program can see them: cpuid's, and what the kernel has enabled. */
static char *features(void)
{
	char *flags = cpuinfo("flags"), *all = NULL;
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	if (asprintf(&all, "%s xcr0=%#" PRIx64, flags ? flags : "", (uint64_t)high << 32 | low) < 0)
		all = NULL;
	free(flags);
	return all;
}

/* The path that was asked for if it is the executed file itself; a script's interpreter otherwise. */
static char *program_path(const char *exe, const char *argv0)
{
	struct stat a, b;
	char *dir, *path = NULL;

	if (!strchr(argv0, '/') || stat(exe, &a) < 0 || stat(argv0, &b) < 0 ||
	    a.st_ino != b.st_ino || a.st_dev != b.st_dev)
		return read_link(exe);
	if (argv0[0] == '/')
		return strdup(argv0);
	dir = getcwd(NULL, 0);
	if (!dir || asprintf(&path, "%s/%s", dir, argv0 + (strncmp(argv0, "./", 2) ? 0 : 2)) < 0)
		path = NULL;
	free(dir);
	return path;
}

int lz_describe(struct lz_tracer *t, char **argv, char **envp, char *cwd)
{
	struct lz_meta *m = &t->meta;
	struct utsname u;
	char path[64];

	uname(&u);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)t->p.pid);
	m->version = 1;
	m->state = LZ_REC_INCOMPLETE;
	m->program = program_path(path, argv[0] ? argv[0] : "");
	m->build_id = lz_build_id(path);
	if (!m->build_id)
		m->build_id = strdup("");
	m->cwd = cwd;
	if (!m->cwd)
		m->cwd = strdup("");
	m->argv = copy_list(argv);
	m->envp = copy_list(envp);
	m->host = strdup(u.nodename);
	m->kernel = strdup(u.release);
	m->cpu = cpuinfo("model name");
	m->features = features();
	m->cpu_number = (uint32_t)t->cpu;
	m->tid = t->tid;
	m->flow = strdup((const char *const[]){"auto", "full", "hash"}[t->opt->flow]);
	m->chaos_seed = t->opt->chaos_seed;
	m->start_time = (uint64_t)time(NULL);
	m->exit_status = -1;
	if (!m->program || !m->argv || !m->envp || !m->host || !m->kernel || !m->flow)
		return lz_fail("out of memory");
	return 0;
}

volatile sig_atomic_t lz_alarmed;

static void on_alarm(int signo)
{
	(void)signo;
	lz_alarmed = 1;
}

static volatile pid_t target;

static void pass_on(int signo)
{
	int saved = errno;

	kill(target, signo);
	errno = saved;
}

/* Who is in our process group, the program before all, will have sent it to the whole group. */
static void pass_on_from_outside(int signo, siginfo_t *info, void *context)
{
	int saved = errno;

	/* 0: it is in another PID namespace */
	if (info->si_code <= 0 && (!info->si_pid || getpgid(info->si_pid) != getpgrp()))
		kill(target, signo);
	errno = saved;
}

/* The terminal's signals are for the program: it decides what they do. Those that are sent to us are passed on: what asks
 * to end in any case, others if they are not for the group. */
void lz_set_signals(pid_t pid)
{
	struct sigaction wake = {.sa_handler = on_alarm}, ignore = {.sa_handler = SIG_IGN};
	struct sigaction pass = {.sa_handler = pass_on};
	struct sigaction outside = {.sa_sigaction = pass_on_from_outside,
	                            .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction waited = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	static const int others[] = {SIGINT,    SIGQUIT, SIGUSR1, SIGUSR2,
	                             SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};

	target = pid;
	sigaction(SIGCHLD, &waited, NULL); /* no signal for a stop: it is waited for */
	sigaction(SIGTERM, &pass, NULL);
	sigaction(SIGHUP, &pass, NULL);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		sigaction(others[i], &outside, NULL);
	for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++)
		sigaction(signo, &outside, NULL);

	sigaction(SIGALRM, &wake, NULL);
	sigaction(SIGPIPE, &ignore, NULL); /* nobody need read what we say */
	sigaction(SIGXFSZ, &ignore, NULL); /* what has no room in its file is an error */
}

/* What goes again need not be made smaller by leaving its markers out. */
int lz_what_to_keep(struct lz_tracer *t)
{
	const struct lz_trace_options *o = t->opt;
	bool last = o->keep_last && o->max_bytes;

	lz_writer_flow(t->w, last && o->flow == LZ_FLOW_AUTO ? LZ_FLOW_FULL : o->flow,
	               o->flow_limit);
	return last ? lz_writer_keep_last(t->w, o->max_bytes) : 0;
}

static int begin(struct lz_tracer *t)
{
	cpu_set_t cpus;

	if (lz_launch(t) < 0)
		return -1;
	lz_set_signals(t->p.pid);
	lz_jobs_begin();
	if (lz_describe(t, t->opt->argv, environ, getcwd(NULL, 0)) < 0)
		return -1;
	t->w = lz_writer_create(t->opt->dir, &t->meta);
	if (!t->w || lz_what_to_keep(t) < 0 || lz_follow_begin(t) < 0)
		return -1;
	lz_other_cpus(t, &cpus);
	lz_writer_pin(t->w, &cpus);
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
	bool drained = lz_writer_drain(t->w) == 0;
	if (!drained)
		tell_stopped(t, lz_error(), t->status);
	res->complete = drained && lz_tell_hash(t) == 0;
	res->bytes = lz_writer_size(t->w);
	res->duration_ns = m->duration_ns;
	res->n_events = m->n_events;
	res->n_checkpoints = m->n_checkpoints;
	res->marker_bytes = m->n_markers_bytes;
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
	lz_threads_free(t);
	lz_armed_forget(t);
	free(t->b.bytes);
	free(t->b.writes);
	free(t->b.ops);
	free(t->old_affinity);
	lz_meta_free(&t->meta);
	lz_proc_close(&t->p);
}

/* What has been recorded stays; the program need not suffer. */
static int go_on_alone(struct lz_tracer *t)
{
	lz_warn("recording ends here: %s", lz_error());
	t->meta.duration_ns = lz_elapsed(t);
	tell_stopped(t, lz_error(), -1);
	if (t->w && (lz_stream_push(t) < 0 || lz_writer_flush(t->w) < 0))
		lz_debug("the last moments are missing: %s", lz_error());
	lz_shared_lock_leave(t);
	if (t->ended)
		return 0;
	lz_warn("the program goes on unrecorded");
	int ret = lz_let_go(t);
	if (ret == 0 && !t->meta.parent) /* else only its own parent hears how it ends */
		tell_stopped(t, NULL, t->status);
	lz_follow_gone(t);
	if (ret < 0)
		return lz_fail_in("the program could not go on");
	return 0;
}

int lz_trace_to_end(struct lz_tracer *t, struct lz_trace_result *result)
{
	lz_counter_allow(false);
	int ret = lz_loop(t);
	lz_counter_allow(true);

	if (ret < 0)
		ret = go_on_alone(t);
	else if (finish(t, result) < 0)
		lz_warn("the end of the recording is missing: %s", lz_error());
	result->status = t->status;
	clean_up(t);
	lz_follow_end(t);
	return ret;
}

int lz_trace(const struct lz_trace_options *opt, struct lz_trace_result *result)
{
	static struct lz_tracer t;

	*result = (struct lz_trace_result){0};
	t = (struct lz_tracer){.opt = opt, .p = {.mem = -1}, .follow = {.in = -1, .out = -1}};
	lz_descriptors_reserve();
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
