/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes outside of the recording that can write what the program has mapped: noticed, named
 * once, and from then on looked for after each system call; in a file that is mapped privately
 * only, after those in which one was noticed.
 *
 * A write to a file, and that it is opened, are told by inotify (outside_notes.c); that a segment
 * of System V shared memory is attached, by its count. Who has it mapped for writing stands in
 * /proc/PID/maps of those processes that we may look at. */
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/memory/shared_lock_page.h"
#include "tracer/state/process.h"

#include <common/base/array.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MS 1000000ULL
enum { GAP_MIN_MS = 5, GAP_MAX_MS = 4000, COST_SHARE = 50, EXEC_MS = 100, MOST = 64 };

static const char no_name[] = "shared memory without a name";

static size_t count(char **list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int name(struct lz_tracer *t, const char *path, const char *text, enum lz_outsider who)
{
	const bool child = who == LZ_OUTSIDER_CHILD;
	size_t n = count(t->meta.outside);
	char *line;

	if (lz_extend(t->meta.outside, n + 1) < 0)
		return -1;
	char **list = t->meta.outside;
	list[n] = list[n + 1] = NULL;
	if (asprintf(&line, "%s: %s%s", path, text, child ? ", which is not recorded" : "") < 0)
		return lz_fail("out of memory");
	list[n] = line;
	lz_warn("%s%s; what is changed there shows after one of the next system calls, not "
	        "earlier, so the recording may not replay if the program looks at it in between%s",
	        line, who == LZ_OUTSIDER ? ", outside of the recording" : "",
	        child ? "; --follow all records both" : "");
	return lz_writer_meta(t->w, &t->meta);
}

/* O: NULL for memory without a name. */
static void watch(struct lz_tracer *t, struct lz_object *o)
{
	if (o)
		lz_object_watch(t->shared, o);
	else
		t->shared->anonymous = t->shared->watching = true;
}

/* Who stores there does so only while it has the shared memory lock. */
static void follow(struct lz_tracer *t, struct lz_object *o)
{
	if (strcmp(t->opt->follow, "all") != 0)
		watch(t, o);
	else if (o)
		o->watched = true;
}

int lz_outside_tell(struct lz_tracer *t, struct lz_object *o, const char *text,
                    enum lz_outsider who)
{
	bool *named = o ? &o->named : &t->shared->anonymous_named;

	if (*named)
		return 0;
	*named = true;
	return name(t, o ? o->path : no_name, text, who);
}

static int found(struct lz_tracer *t, struct lz_object *o, const char *text, bool child)
{
	watch(t, o);
	return lz_outside_tell(t, o, text, child ? LZ_OUTSIDER_CHILD : LZ_OUTSIDER);
}

/* ---- who has it mapped ---- */

struct thing {
	unsigned major, minor;
	uint64_t inode;
	uint32_t object;
};

struct look {
	struct lz_tracer *t;
	struct thing thing[MOST];
	size_t n;
	pid_t pid;       /* the one that is looked at */
	bool writable;   /* does the program have one that it can write? */
	bool unrecorded; /* it is a child that is not recorded */
	bool touched;    /* it is named only if it has touched it */
	bool has;        /* it has one that it can write */
};

static bool has_identity(const struct lz_maps_entry *e)
{
	return e->shared && (e->inode || strncmp(e->path, "/SYSV", 5) == 0);
}

static int our_mapping(void *arg, const struct lz_maps_entry *e)
{
	struct look *l = arg;
	ptrdiff_t i = has_identity(e) ? lz_vmas_find(&l->t->vmas, e->start) : -1;

	if (i < 0 || l->t->vmas.a[i].v.role == LZ_VMA_BUFFER || l->n == MOST)
		return 0;
	l->writable |= (e->prot & PROT_WRITE) != 0;
	l->thing[l->n++] =
	    (struct thing){e->dev_major, e->dev_minor, e->inode, l->t->vmas.a[i].object};
	return 0;
}

static bool is_ours(const struct look *l, pid_t pid)
{
	return (uint32_t)pid == l->t->tid || pid == getpid() ||
	       lz_process_status(pid).tracer == getpid();
}

/* Another process of the same run. */
static bool is_followed(const struct look *l, pid_t pid)
{
	return l->t->follow.root &&
	       (lz_is_parked(pid) ||
	        lz_shared_lock_common(&l->t->shared_lock, lz_process_status(pid).tracer));
}

static void command_of(pid_t pid, char buf[32])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f || !fgets(buf, 32, f))
		snprintf(buf, 32, "?");
	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = 0;
}

static int their_mapping(void *arg, const struct lz_maps_entry *e)
{
	struct look *l = arg;
	char command[32], text[96];

	if (!has_identity(e) || !(e->prot & PROT_WRITE))
		return 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct thing *g = &l->thing[i];
		if (g->inode != e->inode || g->major != e->dev_major || g->minor != e->dev_minor)
			continue;
		l->has = true;
		if (l->touched && !lz_unrecorded_touched(l->pid, e->start, e->end))
			continue;
		if (!l->unrecorded && is_ours(l, l->pid))
			return 1;
		if (!l->unrecorded && is_followed(l, l->pid)) {
			follow(l->t, lz_object(l->t, g->object));
			continue;
		}
		command_of(l->pid, command);
		snprintf(text, sizeof(text), "shared with process %d (%s)", (int)l->pid, command);
		if (found(l->t, lz_object(l->t, g->object), text, l->unrecorded) < 0)
			return -1;
	}
	return 0;
}

static int look_at_all(struct look *l)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int ret = 0;

	while (d && ret >= 0 && (e = readdir(d))) {
		l->pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;
		if (!l->pid || (uint32_t)l->pid == l->t->tid || l->pid == getpid())
			continue;
		l->unrecorded = lz_unrecorded_has(l->t, l->pid);
		errno = 0;
		ret = lz_proc_maps(l->pid, their_mapping, l);
		if (ret < 0 && errno) /* gone, or not ours to look at */
			ret = 0;
	}
	if (d)
		closedir(d);
	return ret < 0 ? -1 : 0;
}

/* Who has a file mapped for writing has it open for writing, too: the kernel is asked instead of
 * each process. */
static void leave_out_unwritten(struct look *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct lz_object *o = lz_object(l->t, l->thing[i].object);

		if (!o || lz_open_for_writing(o))
			l->thing[n++] = l->thing[i];
	}
	l->n = n;
}

/* Is anything mapped that others could have mapped for writing? The kernel need not list all mappings
 * where there is nothing. *WRITABLE: can the program write to any? */
static bool may_be_written(const struct lz_tracer *t, bool *writable)
{
	bool may = false;

	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		const struct lz_object *o = lz_object(t, a->object);

		if (!(a->v.flags & MAP_SHARED) || a->v.role == LZ_VMA_BUFFER)
			continue;
		*writable |= (a->v.prot & PROT_WRITE) || (o && o->own);
		may = may || !o || lz_open_for_writing(o);
	}
	return may;
}

static int look(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;
	struct look l = {.t = t};
	uint64_t begun = lz_now();

	if (!s || !t->n_shared)
		return 0;
	if (may_be_written(t, &l.writable))
		lz_proc_maps(t->p.pid, our_mapping, &l);
	leave_out_unwritten(&l);
	if (l.n && look_at_all(&l) < 0)
		return -1;
	lz_debug("other processes were looked for that share memory");
	s->looked = begun;
	s->looked_by_parent = false;
	uint64_t now = lz_now(), cost = (now - begun) * COST_SHARE;
	s->look_gap = s->look_gap < GAP_MAX_MS * MS / 2 ? 2 * s->look_gap : GAP_MAX_MS * MS;
	/* What the program only reads, others seldom write: then inotify has to tell. */
	s->next_look = l.writable ? now + (s->look_gap > cost ? s->look_gap : cost) : UINT64_MAX;
	return 0;
}

uint64_t lz_outside_looked(const struct lz_tracer *t)
{
	const struct lz_shared *s = t->shared;

	return s && t->n_shared && !s->watching && !s->n_unrecorded &&
	               strcmp(t->opt->follow, "all") == 0
	           ? s->looked
	           : 0;
}

void lz_outside_looked_for(struct lz_tracer *t, uint64_t when)
{
	struct lz_shared *s = t->shared;

	if (!s || !when || lz_now() > when + GAP_MAX_MS * MS)
		return;
	s->looked = when;
	s->looked_by_parent = true;
	s->next_look = lz_now() + EXEC_MS * MS;
}

int lz_outside_child(struct lz_tracer *t, pid_t pid)
{
	struct look l = {.t = t, .pid = pid, .unrecorded = true, .touched = true};
	size_t named = count(t->meta.outside);

	lz_proc_maps(t->p.pid, our_mapping, &l);
	errno = 0;
	if (l.n && lz_proc_maps(pid, their_mapping, &l) < 0 && !errno)
		return -1;
	return l.has && count(t->meta.outside) == named;
}

/* ---- when ---- */

void lz_outside_look_soon(struct lz_shared *s)
{
	s->look_gap = GAP_MIN_MS * MS;
	s->next_look = lz_now() + s->look_gap;
}

static uint64_t attached(const struct lz_object *o)
{
	struct shmid_ds ds;

	return o->nameless || shmctl((int)o->ino, IPC_STAT, &ds) < 0 ? 0 : ds.shm_nattch;
}

bool lz_outside_has(const struct lz_tracer *t, struct lz_object *o)
{
	return lz_surely_open_for_writing(o) && !lz_program_writes(t, o);
}

void lz_outside_watch(struct lz_tracer *t, struct lz_object *o)
{
	struct lz_shared *s = t->shared;

	/* Of a file that nobody has open for writing the others' mappings tell nothing. */
	if (o->segment || lz_open_for_writing(o)) {
		lz_outside_look_soon(s);
		s->next_look = 0;
	}
	s->segments |= o->segment;
	if (o->segment)
		o->attached = attached(o);
	lz_outside_take_note(t, o);
	/* Before that nothing has told. In a run of several processes it may be one of those. */
	if (!o->watched && lz_outside_has(t, o)) {
		o->own = t->follow.root != NULL;
		if (o->own)
			follow(t, o);
		else
			watch(t, o);
	}
}

/* Somebody attached a segment, and it was not the program. */
static void count_attached(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;
	const struct lz_call *c = &t->cur->call;
	bool own = c->row && (c->row->klass == LZ_SC_MAP || c->row->klass == LZ_SC_FORK);

	for (uint32_t i = 1; i < s->n_objects; i++) {
		struct lz_object *o = &s->object[i];
		uint64_t n = o->segment ? attached(o) : 0;
		if (own)
			o->attached = n;
		else if (n > o->attached) {
			lz_object_watch(s, o);
			o->attached = n;
			s->next_look = 0;
		}
	}
}

int lz_outside_end(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	if (!s || (t->n_threads > 1 && t->cur->call.ends_thread))
		return 0;
	if (lz_outside_notes(t, 0) < 0)
		return -1;
	if (!t->n_shared || (s->looked_by_parent && lz_now() < s->next_look))
		return 0;
	return lz_unrecorded_look(t) < 0 ? -1 : look(t);
}

int lz_outside_call(struct lz_tracer *t, uint32_t changed)
{
	struct lz_shared *s = t->shared;

	if (lz_outside_notes(t, changed) < 0)
		return -1;
	if (!t->n_shared)
		return 0;
	if (s->segments)
		count_attached(t);
	/* A child has it all, unless it is there to run another program. */
	if (t->cur->call.row && t->cur->call.row->klass == LZ_SC_FORK)
		s->next_look = lz_now() + EXEC_MS * MS;
	if (lz_unrecorded_look(t) < 0)
		return -1;
	return lz_now() >= s->next_look ? look(t) : 0;
}
