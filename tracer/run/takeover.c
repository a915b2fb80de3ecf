/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The next tracer's side of a handover: takes the parked process and records it. */
#include "tracer/calls/calls.h"
#include "tracer/calls/filter.h"
#include "tracer/calls/rseq.h"
#include "tracer/filters/filters.h"
#include "tracer/checkpoint/checkpoint.h"
#include "tracer/code/code.h"
#include "tracer/follow/follow.h"
#include "tracer/follow/handover.h"
#include "tracer/follow/spawner.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/shared_lock_page.h"
#include "tracer/run/ahead.h"
#include "tracer/run/run.h"
#include "tracer/state/process.h"
#include "tracer/state/state.h"
#include "tracer/turns/shared_memory_lock.h"
#include "tracer/turns/turns.h"

#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <common/recording/recdir.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <lizard/error.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the one process that is traced. */
static struct {
	struct lz_tracer tracer;
	struct lz_handover handover;
} self;

/* ---- before it is there ---- */

static void have_pages(const void *at, size_t len, int how)
{
	const uintptr_t from = lz_page_down((uintptr_t)at);

	madvise((void *)from, (uintptr_t)at + len - from, how);
}

/* Where what the dynamic linker has made read-only ends; 0: nothing is. */
static uintptr_t relro_end(const struct dl_phdr_info *info)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
			return info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
			       info->dlpi_phdr[i].p_memsz;
	return 0;
}

/* The kernel maps those beside a page of a file with it, so far. */
static void have_code(uintptr_t from, uintptr_t end)
{
	enum { AROUND = 64 << 10 };

	for (uintptr_t at = from; at < end; at = (at + AROUND) & ~(uintptr_t)(AROUND - 1))
		have_pages((const void *)at, 1, MADV_POPULATE_READ);
}

/* Code and data of one of our files. */
static int have_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t writable = relro_end(info);

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + h->p_vaddr;
		const uintptr_t end = from + h->p_filesz;

		if (h->p_type != PT_LOAD)
			continue;
		if (!(h->p_flags & PF_W)) {
			have_code(from, end);
			continue;
		}
		if (from < writable)
			from = writable;
		if (from < end)
			have_pages((const void *)from, end - from, MADV_POPULATE_WRITE);
	}
	return 0;
}

/* The pages of a process that has been forked come one by one as they are wanted, for 2 us each. */
static void prepare(void)
{
	enum { HEAP = 640 << 10, LARGEST = 768 << 10, KEPT = 8 << 20, STACK = 64 << 10 };

	/* so the C library does not give the heap's end back, and takes large blocks from it */
	mallopt(M_MMAP_THRESHOLD, LARGEST);
	mallopt(M_TRIM_THRESHOLD, KEPT);
	void *heap = malloc(HEAP);
	if (heap)
		have_pages(heap, HEAP, MADV_POPULATE_WRITE);
	free(heap);
	have_pages(&self, sizeof(self), MADV_POPULATE_WRITE);
	dl_iterate_phdr(have_file, NULL);
	have_pages((uint8_t *)__builtin_frame_address(0) - STACK, STACK, MADV_POPULATE_WRITE);
	/* else it is asked when the process is there, and says what is wrong */
	lz_proc_mine();
	lz_ahead_make();
}

/* ---- taking it ---- */

/* It stands, and is itself again. */
static int take(struct lz_tracer *t, const struct lz_handover *h)
{
	t->follow.root = strdup(h->root);
	if (!t->follow.root || lz_shared_lock_map(&t->shared_lock, h->shared_lock) < 0 ||
	    lz_proc_open(&t->p, h->pid) < 0)
		return -1;
	t->p.syscall_insn = h->was.syscall_insn;
	t->borrowed.personality = h->old_personality;
	t->borrowed.personality_set = h->personality_set;
	lz_cpuid_cache_set(&h->cpuid);
	lz_machine_set(&h->machine);
	t->fast.counter_first = h->counter_first;
	t->fast.counter = h->counter;
	return lz_threads_begin(t) < 0 ? -1 : lz_tracers_forget(&t->p, &h->was);
}

/* ---- its recording ---- */

/* A file of /proc/PID that holds texts, each ended by a 0. */
static char **texts_of(pid_t pid, const char *name)
{
	char path[64];
	lz_auto_free char *line = NULL;
	size_t room = 0, n = 0;
	char **v = calloc(1, sizeof(*v));

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	FILE *f = fopen(path, "re");
	while (f && v && getdelim(&line, &room, 0, f) > 0 && lz_extend(v, n + 1) == 0) {
		v[n++] = strdup(line);
		v[n] = NULL;
	}
	if (f)
		fclose(f);
	return v;
}

static void free_texts(char **v)
{
	for (char **s = v; s && *s; s++)
		free(*s);
	free(v);
}

/* Its argc, argv, ...: proc_pid_stat(5), startstack. */
static uint64_t stack_start(pid_t pid)
{
	char path[64], line[1024] = "";
	uint64_t at = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	const char *p = strrchr(line, ')'); /* behind the second field */
	for (int field = 2; p && field < 28; field++) {
		p = strchr(p + 1, ' ');
		if (p && field == 27)
			at = strtoull(p, NULL, 10);
	}
	return at;
}

static int describe(struct lz_tracer *t, const struct lz_handover *h)
{
	char path[64], cwd[PATH_MAX];
	char **argv = texts_of(h->pid, "cmdline"), **envp = texts_of(h->pid, "environ");
	int ret = argv && envp ? 0 : lz_fail("out of memory");

	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)h->pid);
	ssize_t n = readlink(path, cwd, sizeof(cwd) - 1);
	cwd[n < 0 ? 0 : n] = 0;
	if (ret == 0)
		ret = lz_describe(t, argv, envp, strdup(cwd));
	t->meta.parent = (uint32_t)h->parent;
	t->meta.parent_event = h->parent_event;
	t->meta.parent_marker = h->parent_marker;
	free_texts(argv);
	free_texts(envp);
	return ret;
}

/* ROOT/processes/PID; another one if that process id comes for the second time. */
static int name_recording(struct lz_tracer *t, char path[PATH_MAX + 64])
{
	/* the first process's first one is ROOT itself */
	for (int i = t->follow.in >= 0 ? 2 : 1; i < 1000; i++) {
		snprintf(path, PATH_MAX + 64, i > 1 ? "%s/processes/%u.%d" : "%s/processes/%u",
		         t->follow.root, t->tid, i);
		if (access(path, F_OK) < 0)
			return 0;
	}
	return lz_fail("there are too many recordings of a process %u", t->tid);
}

static struct lz_writer *create_writer(const struct lz_tracer *t, const char *path)
{
	char below[PATH_MAX + 64];
	struct lz_writer *w = NULL;

	snprintf(below, sizeof(below), "%s/processes", t->follow.root);
	if (lz_make_spread(below) < 0 && errno != EEXIST)
		lz_fail_errno("cannot make the directory %s", below);
	else
		w = lz_writer_create(path, &t->meta);
	snprintf(below, sizeof(below), "%s/processes/" LZ_RUN_COPIES, t->follow.root);
	if (w)
		lz_writer_share_copies(w, below);
	return w;
}

static int make_recording(struct lz_tracer *t)
{
	char path[PATH_MAX + 64];

	if (name_recording(t, path) < 0)
		return -1;
	t->w = lz_ahead_take(path, &t->meta);
	if (!t->w && !(t->w = create_writer(t, path)))
		return -1;
	t->hash_told = false;
	lz_writer_beside(t);
	return lz_what_to_keep(t);
}

int lz_next_recording(struct lz_tracer *t)
{
	struct lz_handover h = {.pid = (pid_t)t->tid};
	struct lz_meta old = t->meta;
	struct lz_writer *w = t->w;

	t->w = NULL;
	t->meta = (struct lz_meta){0};
	int ret = describe(t, &h);
	t->meta.parent = old.parent;
	t->meta.parent_event = old.parent_event;
	t->meta.parent_marker = old.parent_marker;
	if (ret == 0)
		ret = make_recording(t);
	if (ret == 0) {
		old.became = strdup(strrchr(lz_writer_dir(t->w), '/') + 1);
		old.duration_ns = lz_elapsed(t);
		ret = lz_writer_finish(w, &old);
	} else {
		lz_writer_abandon(w);
	}
	lz_meta_free(&old);
	t->next_event = t->map_id = t->s.start = t->last_marker = 0;
	t->n_checkpoints = t->since_full = 0;
	t->t0 = lz_now();
	return ret;
}

/* ---- where a fork's child begins ---- */

/* The parent's ring, by now a private sink, makes room for its own. */
static int unmap_ring(struct lz_tracer *t, const struct lz_handover *h)
{
	int64_t ret;

	if (!h->ring)
		return 0;
	return lz_proc_syscall(&t->p, &ret, SYS_munmap, h->ring, LZ_RING_LEN, 0, 0, 0, 0);
}

/* The hello call was its parent's; the recording begins as if it had made its own. */
static int say_hello(struct lz_tracer *t, const struct lz_handover *h)
{
	struct lz_call *c = &t->cur->call;
	const uint64_t greeting = LZ_HELLO_MAGIC << 16 | LZ_HELLO_VERSION << 8;

	if (!h->ring)
		return 0;
	*c = (struct lz_call){
	    .nr = LZ_HELLO_NR,
	    .args = {0, h->sink, h->pos_addr, h->pos_off, h->traced_addr, greeting}};
	if (lz_build(t, LZ_EV_SYSCALL, h->was.regs.rip) < 0)
		return -1;
	t->b.ev.nr = c->nr;
	memcpy(t->b.ev.args, c->args, sizeof(c->args));
	int ret = lz_call_hello(t);
	*c = (struct lz_call){0};
	t->b.ev.result = (int64_t)t->brk;
	return ret < 0 ? -1 : lz_build_commit(t);
}

static int forked(struct lz_tracer *t, const struct lz_handover *h)
{
	struct user_regs_struct r;

	t->meta.stub_addr = h->stub_addr;
	t->meta.stub_len = LZ_STUB_LEN;
	t->stack_start = stack_start(h->pid);
	if (unmap_ring(t, h) < 0 || lz_forked_image(t, h->act) < 0 || say_hello(t, h) < 0)
		return -1;
	t->borrowed.undumpable = h->undumpable;
	t->cur->rseq = h->rseq;
	lz_share_with_others(t); /* its parent may write what they share */
	if (lz_proc_regs(&t->p, &r) < 0 || lz_instant_here(t, &r) < 0)
		return -1;
	if (lz_shared_lock_enter(t) < 0 || lz_writer_meta(t->w, &t->meta) < 0)
		return -1;
	const int ret = lz_checkpoint(t, &r, true);
	lz_outside_looked_for(t, h->looked);
	return ret;
}

/* ---- the whole of it ---- */

static int begin(struct lz_tracer *t, const struct lz_handover *h)
{
	cpu_set_t believed, cpus;

	if (sched_setaffinity(0, sizeof(h->affinity), &h->affinity) < 0)
		lz_debug("the tracer stays where it is");
	lz_pin(t);
	if (sched_getaffinity(h->pid, sizeof(believed), &believed) == 0)
		t->borrowed.affinity = believed;
	CPU_ZERO(&cpus);
	CPU_SET(t->borrowed.cpu, &cpus);
	sched_setaffinity(h->pid, sizeof(cpus), &cpus);
	if (describe(t, h) < 0 || make_recording(t) < 0)
		return -1;
	t->t0 = lz_now();
	return h->kind == LZ_HANDOVER_FORK ? forked(t, h) : lz_new_image(t);
}

/* Only what kills it takes it out of its stop; it may take a while. */
static bool is_killed(pid_t pid)
{
	struct user_regs_struct r;

	return ptrace(PTRACE_GETREGS, pid, 0, &r) < 0 && errno == ESRCH;
}

/* Before it did anything. */
static int killed_early(struct lz_tracer *t)
{
	lz_follow_gone(t);
	if (t->w)
		lz_writer_discard(t->w);
	return 0;
}

/* If it has been brought to where its tracer is. */
static void set_affinity_back(const struct lz_tracer *t)
{
	const cpu_set_t *cpus = &t->borrowed.affinity;

	if (t->borrowed.tracer && sched_setaffinity((pid_t)t->tid, sizeof(*cpus), cpus) < 0)
		lz_debug("process %u stays on its CPU", t->tid);
}

/* Its tracer has failed: the process goes on. */
static int give_up(struct lz_tracer *t, const struct lz_handover *h,
                   const struct lz_stopped *stopped)
{
	if (h->kind != LZ_HANDOVER_WATCH && is_killed(h->pid))
		return killed_early(t);
	lz_warn("process %d goes on unrecorded: %s", (int)h->pid, lz_error());
	if (t->cur && t->p.mem >= 0 && h->kind != LZ_HANDOVER_WATCH) {
		if (h->kind == LZ_HANDOVER_FORK && h->ring)
			lz_private_ring(&t->p, h->ring, h->traced_addr);
		lz_proc_close_now(&t->p);
		lz_detours_release(t, &t->p);
		lz_armed_release(t, &t->p);
		t->borrowed.undumpable = h->kind == LZ_HANDOVER_FORK && h->undumpable;
		lz_set_undumpable(t, &t->p);
		if (h->kind == LZ_HANDOVER_FORK)
			lz_rseq_release(&h->rseq, &t->p);
		lz_insn_release(t, &t->p);
		lz_set_randomized(t, &t->p);
		lz_filters_release(t, t->cur, &t->p);
	}
	set_affinity_back(t);
	lz_stop_again(h->pid, stopped);
	ptrace(PTRACE_DETACH, h->pid, 0, 0);
	lz_follow_gone(t);
	if (t->w)
		lz_writer_abandon(t->w);
	return -1;
}

/* 0: there is nothing to take after all. */
static int read_handover(int fd, struct lz_handover *h, struct lz_thread *th)
{
	ssize_t n = recv(fd, h, sizeof(*h), MSG_WAITALL);
	char end;

	if (n == (ssize_t)sizeof(*h) && lz_filters_take(th, fd) < 0)
		return -1;
	/* Then its tracer lets it go. */
	while (n == (ssize_t)sizeof(*h) && recv(fd, &end, 1, 0) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof(*h))
		return 0;
	h->follow[sizeof(h->follow) - 1] = h->root[sizeof(h->root) - 1] = 0;
	h->opt.follow = h->follow;
	return 1;
}

/* 1: what it has become is to be recorded; 0: it is gone. */
static int watch_first(struct lz_tracer *t, struct lz_handover *h)
{
	/* its own children need the affinity that Lizard was given */
	if (sched_getaffinity(h->pid, sizeof(cpu_set_t), &t->borrowed.affinity) < 0)
		t->borrowed.affinity = h->affinity;
	t->borrowed.undumpable = h->undumpable;
	if (lz_set_undumpable(t, &t->p) < 0 || lz_rseq_release(&h->rseq, &t->p) < 0)
		return -1;
	int ret = lz_watch_until_exec(t);
	if (ret < 0)
		return -1;
	if (ret == 0)
		lz_follow_gone(t);
	h->kind = LZ_HANDOVER_EXEC;
	return ret;
}

/* The last tracer knows that it need not look after the process any more. */
static void tell_taken(int state)
{
	if (send(state, "", 1, MSG_NOSIGNAL) != 1)
		lz_debug("nobody waits for this tracer");
	close(state);
}

static int take_and_trace(const struct lz_spawned *given)
{
	struct lz_tracer *const t = &self.tracer;
	struct lz_handover *const h = &self.handover;
	struct lz_thread filtered = {0};
	struct lz_trace_result result;
	struct lz_stopped stopped = {0};

	int got = read_handover(given->state, h, &filtered);
	if (got <= 0)
		return got;
	signal(SIGPIPE, SIG_IGN); /* the first tracer need not live as long */
	*t =
	    (struct lz_tracer){.opt = &h->opt,
	                       .p = {.pid = h->pid, .mem = -1},
	                       .follow = {.in = -1, .out = given->news, .spawner = given->spawner}};
	t->tid = (uint32_t)h->pid;
	lz_sched_begin(t);
	if (lz_take_parked(&t->p, &h->was, &stopped) < 0) {
		lz_kill_parked(h->pid);
		lz_follow_gone(t);
		return -1;
	}
	tell_taken(given->state);
	if (take(t, h) < 0)
		return give_up(t, h, &stopped);
	lz_filters_inherit(t->cur, &filtered);
	lz_set_signals(h->pid, false);
	if (h->kind == LZ_HANDOVER_WATCH) {
		lz_stop_again(h->pid, &stopped);
		stopped = (struct lz_stopped){0};
		int ret = watch_first(t, h);
		if (ret <= 0)
			return ret < 0 ? give_up(t, h, &stopped) : 0;
	}
	if (begin(t, h) < 0)
		return give_up(t, h, &stopped);
	lz_stop_again(h->pid, &stopped);
	return lz_trace_to_end(t, &result);
}

static int trace_it(const struct lz_spawned *given)
{
	const int ret = take_and_trace(given);

	lz_ahead_drop();
	return ret;
}

const struct lz_next_tracer lz_followed_tracer = {prepare, lz_ahead_drop, trace_it};
