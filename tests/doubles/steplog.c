/* A test double of the session: a small program single-stepped once, with all registers and every
 * change of its memory logged, so that every instant can be looked at. It knows no recording; the
 * server and the front end are tried out on it without the replay engine.
 *
 * Usage: steplog PROG MAIN-OFFSET [ARGS]     speaks the protocol on stdin and stdout */
#include "replayer/rsp.h"

#include <lizard/error.h>
#include <lizard/proc.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

struct change {
	uint64_t addr, old, new;
};
struct instant {
	struct user_regs_struct regs;
	size_t n_changes; /* changes made before this instant */
};
struct region {
	uint64_t start, len;
	uint8_t *now;
};
struct point {
	uint64_t addr, len;
	char kind; /* 'b' or a watch kind */
};

struct lz_session {
	struct lz_proc proc;
	struct instant *at;
	struct change *changes;
	size_t n, now, n_changes, n_regions, n_points, applied;
	struct region regions[64];
	struct point points[256];
	struct lz_vma vmas[128];
	uint32_t n_vmas;
	volatile bool interrupt;
};
struct lz_diversion {
	struct lz_session *s;
};

static struct lz_session self;
static struct lz_meta meta;
static char *program;
static uint64_t base, first_sp;

enum { MAX_STEPS = 60000 };

/* ---- recording ---- */

static int note_region(void *arg, const struct lz_maps_entry *e)
{
	struct lz_vma *v = &self.vmas[self.n_vmas++];

	v->start = e->start;
	v->end = e->end;
	v->prot = e->prot;
	v->flags = MAP_PRIVATE;
	v->file = LZ_NO_FILE;
	if (!base && strcmp(e->path, program) == 0)
		base = e->start;
	if (!(e->prot & PROT_WRITE))
		return 0;
	struct region *r = &self.regions[self.n_regions++];

	r->start = e->start;
	r->len = e->end - e->start;
	r->now = malloc(r->len);
	lz_proc_read_some(&self.proc, r->start, r->now, r->len);
	return 0;
}

static void find_regions(void)
{
	self.n_regions = self.n_vmas = 0;
	lz_proc_maps(self.proc.pid, note_region, NULL);
}

static void log_changes(void)
{
	static uint8_t fresh[1 << 22];

	for (size_t i = 0; i < self.n_regions; i++) {
		struct region *r = &self.regions[i];

		lz_proc_read_some(&self.proc, r->start, fresh, r->len);
		for (size_t pg = 0; pg < r->len; pg += 4096) {
			if (memcmp(fresh + pg, r->now + pg, 4096) == 0)
				continue;
			for (size_t w = pg; w < pg + 4096; w += 8) {
				struct change c = {.addr = r->start + w};

				memcpy(&c.old, r->now + w, 8);
				memcpy(&c.new, fresh + w, 8);
				if (c.old != c.new)
					self.changes[self.n_changes++] = c;
			}
			memcpy(r->now + pg, fresh + pg, 4096);
		}
	}
}

static void wait_stop(void)
{
	int status;

	waitpid(self.proc.pid, &status, 0);
	if (WIFEXITED(status) || WIFSIGNALED(status)) {
		fprintf(stderr, "steplog: the program ended\n");
		exit(1);
	}
}

static void run_to(uint64_t addr)
{
	struct user_regs_struct r;
	uint64_t old;

	lz_proc_read(&self.proc, addr, &old, 8);
	lz_proc_write(&self.proc, addr, "\xcc", 1);
	ptrace(PTRACE_CONT, self.proc.pid, 0, 0);
	wait_stop();
	lz_proc_write(&self.proc, addr, &old, 8);
	lz_proc_regs(&self.proc, &r);
	r.rip = addr;
	lz_proc_set_regs(&self.proc, &r);
}

static bool at_exit_call(const struct user_regs_struct *r)
{
	uint16_t insn = 0;

	if (r->rax != 231)
		return false;
	lz_proc_read(&self.proc, r->rip, &insn, 2);
	return insn == 0x050f;
}

static void record(uint64_t main_offset, char **argv)
{
	pid_t pid = fork();
	struct user_regs_struct r;

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[0], argv);
		_exit(1);
	}
	self.proc.pid = pid;
	wait_stop();
	lz_proc_open(&self.proc, pid);
	lz_proc_regs(&self.proc, &r);
	first_sp = r.rsp;
	find_regions();
	run_to(base + main_offset);
	find_regions();
	self.at = calloc(MAX_STEPS, sizeof *self.at);
	self.changes = calloc(MAX_STEPS * 16, sizeof *self.changes);
	for (self.n = 0; self.n < MAX_STEPS;) {
		struct instant *i = &self.at[self.n++];

		lz_proc_regs(&self.proc, &i->regs);
		i->n_changes = self.n_changes;
		if (at_exit_call(&i->regs))
			break;
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		wait_stop();
		log_changes();
	}
	self.applied = self.n_changes;
}

/* ---- memory ---- */

static void apply(uint64_t addr, uint64_t word)
{
	for (size_t i = 0; i < self.n_regions; i++) {
		struct region *r = &self.regions[i];

		if (addr >= r->start && addr < r->start + r->len)
			memcpy(r->now + (addr - r->start), &word, 8);
	}
}

static void go(size_t to)
{
	size_t want = self.at[to].n_changes;

	while (self.applied > want) {
		self.applied--;
		apply(self.changes[self.applied].addr, self.changes[self.applied].old);
	}
	while (self.applied < want) {
		apply(self.changes[self.applied].addr, self.changes[self.applied].new);
		self.applied++;
	}
	self.now = to;
}

size_t lz_session_read(struct lz_session *s, uint64_t addr, void *buf, size_t len)
{
	size_t n = lz_proc_read_some(&s->proc, addr, buf, len);

	for (size_t i = 0; i < s->n_regions; i++) {
		struct region *r = &s->regions[i];

		for (size_t k = 0; k < n; k++)
			if (addr + k >= r->start && addr + k < r->start + r->len)
				((uint8_t *)buf)[k] = r->now[addr + k - r->start];
	}
	return n;
}

int lz_session_regs(struct lz_session *s, struct user_regs_struct *r)
{
	*r = s->at[s->now].regs;
	return 0;
}

int lz_session_xstate(struct lz_session *s, uint8_t *buf, uint32_t *len)
{
	return lz_proc_xstate(&s->proc, buf, len);
}

int lz_session_vmas(struct lz_session *s, struct lz_vma **v, uint32_t *n)
{
	*v = malloc(sizeof s->vmas);
	memcpy(*v, s->vmas, sizeof s->vmas);
	*n = s->n_vmas;
	return 0;
}

/* ---- where and moving ---- */

void lz_session_where(struct lz_session *s, struct lz_pos *pos)
{
	*pos = (struct lz_pos){
	    .tid = (uint32_t)s->proc.pid, .n = 1, .marker = s->now, .ip = s->at[s->now].regs.rip};
}

uint64_t lz_session_time(struct lz_session *s, uint64_t *total)
{
	*total = s->n - 1;
	return s->now;
}

bool lz_session_at_start(struct lz_session *s)
{
	return s->now == 0;
}

bool lz_session_at_end(struct lz_session *s)
{
	return s->now == s->n - 1;
}

int lz_session_seek_time(struct lz_session *s, uint64_t time)
{
	go(time < s->n ? time : s->n - 1);
	return 0;
}

int lz_session_seek_start(struct lz_session *s)
{
	go(0);
	return 0;
}

int lz_session_seek_end(struct lz_session *s)
{
	go(s->n - 1);
	return 0;
}

int lz_session_seek(struct lz_session *s, const struct lz_pos *pos)
{
	if (pos->marker >= s->n || s->at[pos->marker].regs.rip != pos->ip)
		return lz_fail("no such position in this recording");
	go(pos->marker);
	return 0;
}

static int stopped(struct lz_session *s, struct lz_stop *stop, enum lz_stop_reason why)
{
	stop->reason = why;
	lz_session_where(s, &stop->pos);
	return 0;
}

static const struct point *changed(struct lz_session *s, size_t from, size_t to)
{
	for (size_t c = s->at[from].n_changes; c < s->at[to].n_changes; c++)
		for (size_t i = 0; i < s->n_points; i++) {
			const struct point *w = &s->points[i];

			for (size_t k = 0; k < 8 && w->kind != 'b'; k++) {
				uint64_t a = s->changes[c].addr + k;

				if (a >= w->addr && a < w->addr + w->len &&
				    (s->changes[c].old ^ s->changes[c].new) >> 8 * k & 0xff)
					return w;
			}
		}
	return NULL;
}

static bool at_break(struct lz_session *s)
{
	for (size_t i = 0; i < s->n_points; i++)
		if (s->points[i].kind == 'b' && s->points[i].addr == s->at[s->now].regs.rip)
			return true;
	return false;
}

/* One instruction; true if STOP says why it goes no further. */
static bool once(struct lz_session *s, enum lz_direction d, struct lz_stop *stop)
{
	const struct point *w;

	if (d == LZ_FORWARD && s->now + 1 >= s->n)
		return !stopped(s, stop, LZ_STOP_END);
	if (d == LZ_BACKWARD && s->now == 0)
		return !stopped(s, stop, LZ_STOP_START);
	go(d == LZ_FORWARD ? s->now + 1 : s->now - 1);
	w = d == LZ_FORWARD ? changed(s, s->now - 1, s->now) : changed(s, s->now, s->now + 1);
	if (w) {
		stop->watch_addr = w->addr;
		stop->watch_kind = w->kind;
		return !stopped(s, stop, LZ_STOP_WATCH);
	}
	return at_break(s) ? !stopped(s, stop, LZ_STOP_BREAKPOINT) : false;
}

int lz_session_run(struct lz_session *s, enum lz_direction d, struct lz_stop *stop)
{
	s->interrupt = false;
	while (!once(s, d, stop)) {
		if (getenv("STEPLOG_SLOW"))
			usleep(5000);
		if (s->interrupt)
			return stopped(s, stop, LZ_STOP_INTERRUPTED);
	}
	return 0;
}

int lz_session_step(struct lz_session *s, enum lz_direction d, struct lz_stop *stop)
{
	return once(s, d, stop) ? 0 : stopped(s, stop, LZ_STOP_STEP);
}

int lz_session_step_range(struct lz_session *s, enum lz_direction d, uint64_t start, uint64_t end,
                          struct lz_stop *stop)
{
	uint64_t ip;

	do {
		if (once(s, d, stop))
			return 0;
		ip = s->at[s->now].regs.rip;
	} while (ip >= start && ip < end);
	return stopped(s, stop, LZ_STOP_STEP);
}

int lz_session_jump(struct lz_session *s, enum lz_direction d, const uint64_t *addrs, size_t n,
                    struct lz_stop *stop)
{
	size_t kept = s->n_points;

	s->interrupt = false;

	s->n_points = 0;
	for (;;) {
		if (s->interrupt) {
			s->n_points = kept;
			return stopped(s, stop, LZ_STOP_INTERRUPTED);
		}
		if (getenv("STEPLOG_SLOW"))
			usleep(5000);
		if (once(s, d, stop))
			break;
		for (size_t i = 0; i < n; i++)
			if (addrs[i] == s->at[s->now].regs.rip) {
				s->n_points = kept;
				return stopped(s, stop, LZ_STOP_TARGET);
			}
	}
	s->n_points = kept;
	return 0;
}

int lz_session_back_step(struct lz_session *s, struct lz_stop *stop)
{
	return lz_session_step(s, LZ_BACKWARD, stop);
}

int lz_session_back_next(struct lz_session *s, struct lz_stop *stop)
{
	return lz_session_step(s, LZ_BACKWARD, stop);
}

void lz_session_interrupt(struct lz_session *s)
{
	s->interrupt = true;
}

void lz_session_pass_signals(struct lz_session *s, uint64_t mask)
{
}

static int put_point(struct lz_session *s, uint64_t addr, uint64_t len, char kind)
{
	if (s->n_points == 256)
		return lz_fail("too many breakpoints");
	s->points[s->n_points++] = (struct point){addr, len, kind};
	return 0;
}

static int drop_point(struct lz_session *s, uint64_t addr, uint64_t len, char kind)
{
	for (size_t i = 0; i < s->n_points; i++)
		if (s->points[i].addr == addr && s->points[i].len == len &&
		    s->points[i].kind == kind) {
			s->points[i] = s->points[--s->n_points];
			return 0;
		}
	return lz_fail("no such breakpoint");
}

int lz_session_break(struct lz_session *s, uint64_t addr)
{
	return put_point(s, addr, 0, 'b');
}

int lz_session_unbreak(struct lz_session *s, uint64_t addr)
{
	return drop_point(s, addr, 0, 'b');
}

int lz_session_watch(struct lz_session *s, uint64_t addr, uint64_t len, char kind)
{
	return put_point(s, addr, len, kind);
}

int lz_session_unwatch(struct lz_session *s, uint64_t addr, uint64_t len, char kind)
{
	return drop_point(s, addr, len, kind);
}

const char *lz_session_divergence(struct lz_session *s)
{
	return NULL;
}

/* ---- diversions: the program itself, put into the wanted state ---- */

struct lz_diversion *lz_diversion_new(struct lz_session *s)
{
	static struct lz_diversion d;

	d.s = s;
	for (size_t i = 0; i < s->n_regions; i++)
		lz_proc_write(&s->proc, s->regions[i].start, s->regions[i].now, s->regions[i].len);
	lz_proc_set_regs(&s->proc, &s->at[s->now].regs);
	return &d;
}

void lz_diversion_free(struct lz_diversion *d)
{
}

int lz_diversion_write(struct lz_diversion *d, uint64_t addr, const void *buf, size_t len)
{
	return lz_proc_write(&d->s->proc, addr, buf, len);
}

size_t lz_diversion_read(struct lz_diversion *d, uint64_t addr, void *buf, size_t len)
{
	return lz_proc_read_some(&d->s->proc, addr, buf, len);
}

int lz_diversion_regs(struct lz_diversion *d, struct user_regs_struct *r)
{
	return lz_proc_regs(&d->s->proc, r);
}

int lz_diversion_set_regs(struct lz_diversion *d, const struct user_regs_struct *r)
{
	return lz_proc_set_regs(&d->s->proc, r);
}

int lz_diversion_xstate(struct lz_diversion *d, uint8_t *buf, uint32_t *len)
{
	return lz_proc_xstate(&d->s->proc, buf, len);
}

int lz_diversion_set_xstate(struct lz_diversion *d, const uint8_t *buf, uint32_t len)
{
	return lz_proc_set_xstate(&d->s->proc, buf, len);
}

int lz_diversion_run(struct lz_diversion *d, bool step, const uint64_t *addrs, size_t n_addrs,
                     struct lz_stop *stop)
{
	uint8_t old[64];
	struct user_regs_struct r;
	int status;
	struct lz_proc *p = &d->s->proc;

	for (size_t i = 0; i < n_addrs && !step; i++)
		if (lz_proc_read(p, addrs[i], &old[i], 1) == 0)
			lz_proc_write(p, addrs[i], "\xcc", 1);
	ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, p->pid, 0, 0);
	waitpid(p->pid, &status, 0);
	for (size_t i = n_addrs; i-- > 0 && !step;)
		lz_proc_write(p, addrs[i], &old[i], 1);
	lz_proc_regs(p, &r);
	stop->reason = step ? LZ_STOP_STEP : LZ_STOP_BREAKPOINT;
	if (WSTOPSIG(status) != SIGTRAP) {
		stop->reason = LZ_STOP_SIGNAL;
		stop->signo = (uint32_t)WSTOPSIG(status);
	} else if (!step) {
		r.rip--;
		lz_proc_set_regs(p, &r);
	}
	return 0;
}

/* ---- what stands for the recording ---- */

struct lz_reader *lz_session_reader(struct lz_session *s)
{
	return NULL;
}

const struct lz_meta *lz_reader_meta(const struct lz_reader *r)
{
	return &meta;
}

const char *lz_reader_dir(const struct lz_reader *r)
{
	return "/nonexistent";
}

const char *lz_reader_damage(const struct lz_reader *r)
{
	return NULL;
}

uint32_t lz_reader_n_files(const struct lz_reader *r)
{
	return 0;
}

const struct lz_file *lz_reader_file(const struct lz_reader *r, uint32_t i)
{
	return NULL;
}

uint64_t lz_reader_n_events(const struct lz_reader *r)
{
	return 0;
}

const struct lz_event *lz_reader_event(struct lz_reader *r, uint64_t index)
{
	return NULL;
}

const struct lz_event *lz_session_next_event(struct lz_session *s)
{
	return NULL;
}

uint32_t lz_reader_n_checkpoints(const struct lz_reader *r)
{
	return 1;
}

const struct lz_checkpoint *lz_reader_checkpoint(struct lz_reader *r, uint32_t i)
{
	static struct lz_thread_state t;
	static struct lz_checkpoint c = {.threads = &t, .n_threads = 1};

	t.regs.rsp = first_sp;
	return &c;
}

void lz_pos_print(const struct lz_pos *p, char buf[LZ_POS_TEXT])
{
	snprintf(buf, LZ_POS_TEXT, "%u:%lu.0@%lx#1", p->tid, (unsigned long)p->marker,
	         (unsigned long)p->ip);
}

int lz_pos_parse(const char *text, struct lz_pos *p)
{
	return sscanf(text, "%u:%lu.0@%lx#1", &p->tid, &p->marker, &p->ip) == 3
	           ? 0
	           : lz_fail("'%s' is not a position", text);
}

int main(int argc, char **argv)
{
	struct lz_rsp_options o = {.in = 0, .out = 1, .host_files = true, .echo = -1};

	if (argc < 3)
		return 2;
	program = realpath(argv[1], NULL);
	char *args[] = {program, NULL};

	record(strtoull(argv[2], NULL, 16), args);
	meta.program = program;
	meta.cwd = (char *)"/";
	meta.argv = args;
	meta.tid = (uint32_t)self.proc.pid;
	meta.instrumented = 1;
	go(0);
	int rc = lz_rsp_serve(&self, &o);

	if (rc < 0)
		fprintf(stderr, "steplog: %s\n", lz_error());
	kill(self.proc.pid, SIGKILL);
	return rc < 0;
}
