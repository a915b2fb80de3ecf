/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are mapped: inotify tells that somebody writes them, or opens them. */
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/state/state.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile sig_atomic_t lz_notes_wanted;

/* A call without a stop would not hear of it: the signal makes the next one stop. */
static int open_notes(void)
{
	const struct f_owner_ex me = {F_OWNER_TID, gettid()};
	int fd = lz_notes_open();

	if (fd >= 0 && fcntl(fd, F_SETSIG, LZ_WAKE) == 0 && fcntl(fd, F_SETOWN_EX, &me) == 0)
		fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC);
	return fd;
}

bool lz_outside_news(const struct lz_tracer *t)
{
	int n = 0;

	return t->shared &&
	       (t->shared->unseen || (lz_notes_wanted && t->shared->inotify >= 0 &&
	                              ioctl(t->shared->inotify, FIONREAD, &n) == 0 && n > 0));
}

/* Who has lost its name has one as our descriptor. */
static void name_of(const struct lz_object *o, char path[PATH_MAX])
{
	struct stat st;

	if (o->fd >= 0 && !lz_object_named(o, &st))
		snprintf(path, PATH_MAX, "/proc/self/fd/%d", o->fd);
	else
		snprintf(path, PATH_MAX, "%s", o->path);
}

static void take_note_of(struct lz_shared *s, struct lz_object *o, uint32_t mask)
{
	char path[PATH_MAX];
	struct stat st;

	if (s->inotify < 0)
		s->inotify = open_notes();
	if (s->inotify < 0 || o->segment || !lz_object_stat(o, &st))
		return;
	name_of(o, path);
	int wd = inotify_add_watch(s->inotify, path, mask);
	o->inotify = wd > 0 ? wd : -1;
}

void lz_outside_watch_private(struct lz_tracer *t, struct lz_object *o)
{
	if (o->inotify == 0)
		take_note_of(t->shared, o, IN_MODIFY | IN_CLOSE_WRITE);
}

void lz_outside_take_note(struct lz_tracer *t, struct lz_object *o)
{
	if (!o->shared || o->inotify == 0)
		take_note_of(t->shared, o, IN_MODIFY | IN_CLOSE_WRITE | IN_OPEN);
	t->shared->n_shared += !o->shared;
	o->shared = true;
}

/* Calls by which the program itself, or we for it, open and close files. */
static bool opens_or_closes(const struct lz_tracer *t)
{
	switch (t->cur->call.nr) {
	case SYS_open:
	case SYS_openat:
	case SYS_openat2:
	case SYS_creat:
	case SYS_close:
	case SYS_close_range:
	case SYS_dup2:
	case SYS_dup3:
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_execve:
	case SYS_execveat: return true;
	}
	return false;
}

/* At such a call it may have been the program, which then has it open, or has had it. */
static bool is_of_others(struct lz_tracer *t, struct lz_object *o, uint32_t what)
{
	if (!opens_or_closes(t))
		return true;
	if (what == IN_OPEN)
		return lz_outside_has(t, o);
	return what != IN_CLOSE_WRITE || (o->shared && !o->own && lz_opens_are_known(o));
}

static uint32_t of_others(struct lz_tracer *t, struct lz_object *o, uint32_t mask)
{
	static const uint32_t what[] = {IN_OPEN, IN_MODIFY, IN_CLOSE_WRITE};
	uint32_t others = 0;

	for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++)
		if (mask & what[i] && is_of_others(t, o, what[i]))
			others |= what[i];
	return others;
}

static int compare(struct lz_tracer *t, uint32_t object)
{
	const struct lz_object *o = lz_object(t, object);
	struct stat st;

	if (lz_object_stat(o, &st) && lz_shared_resize(t, object, (uint64_t)st.st_size) < 0)
		return -1;
	return lz_private_changed(t, object);
}

/* Nor who it was. Where others are followed, those that have a file mapped store there in turns, but
 * who writes it by a call need not have it mapped. */
static int tell(struct lz_tracer *t, struct lz_object *o, bool modified)
{
	if (t->follow.root)
		return modified && o->shared && !lz_program_writes(t, o)
		           ? lz_outside_tell(t, o, "written by a call of another process",
		                             LZ_OUTSIDER_OR_OF_RUN)
		           : 0;
	if (!modified && !o->shared)
		return 0;
	return lz_outside_tell(
	    t, o, modified ? "written by another process" : "opened for writing by another process",
	    LZ_OUTSIDER);
}

static int happened(struct lz_tracer *t, uint32_t object, uint32_t mask)
{
	struct lz_object *o = lz_object(t, object);
	bool modified = mask & IN_MODIFY;

	if (o->shared && (mask & ~(uint32_t)IN_OPEN || (mask && lz_opened_for_writing(o))))
		lz_object_watch(t->shared, o);
	if (mask & IN_OPEN)
		lz_outside_look_soon(t->shared);
	if (!(mask & (IN_MODIFY | IN_CLOSE_WRITE)))
		return 0;
	if (tell(t, o, modified) < 0)
		return -1;
	return compare(t, object);
}

/* A file that is not mapped any more is nobody's concern. */
static int note(struct lz_tracer *t, uint32_t object, uint32_t mask)
{
	struct lz_object *o = lz_object(t, object);

	if (mask & IN_CLOSE_WRITE)
		lz_unwatch_soon(o);
	if (lz_object_is_mapped(t, object))
		return happened(t, object, of_others(t, o, mask));
	inotify_rm_watch(t->shared->inotify, o->inotify);
	o->inotify = 0;
	return 0;
}

/* Nobody could tell of these changes. */
static int see_all(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	for (uint32_t i = 1; s->unseen && i < s->n_objects; i++) {
		const bool unseen = s->object[i].unseen;

		s->object[i].unseen = false;
		if (unseen && lz_object_is_mapped(t, i) && happened(t, i, IN_MODIFY) < 0)
			return -1;
	}
	s->unseen = false;
	return 0;
}

/* Notes are lost: each of the files that are mapped shared may have been opened and changed. */
static int suspect_all(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	for (uint32_t i = 1; i < s->n_objects; i++) {
		struct lz_object *o = &s->object[i];
		if (o->inotify <= 0 || !o->shared || !lz_object_is_mapped(t, i))
			continue;
		lz_object_watch(s, o);
		if (compare(t, i) < 0)
			return -1;
	}
	lz_outside_look_soon(s);
	s->next_look = 0;
	return 0;
}

static int take(struct lz_tracer *t, const struct inotify_event *e, uint32_t changed)
{
	if (e->mask & IN_Q_OVERFLOW)
		return suspect_all(t);
	for (uint32_t i = 1; i < t->shared->n_objects; i++) {
		const uint32_t mask = e->mask & (IN_OPEN | IN_MODIFY | IN_CLOSE_WRITE) &
		                      ~(i == changed ? (uint32_t)IN_MODIFY : 0);

		if (t->shared->object[i].inotify == e->wd)
			t->shared->object[i].told |= mask;
	}
	return 0;
}

/* Who writes all the time tells of it thousands of times, and is looked at once. */
static int note_all(struct lz_tracer *t)
{
	for (uint32_t i = 1; i < t->shared->n_objects; i++) {
		const uint32_t told = t->shared->object[i].told;

		t->shared->object[i].told = 0;
		if (told && note(t, i, told) < 0)
			return -1;
	}
	return 0;
}

/* How many bytes of notes there are by now. */
static ssize_t there(const struct lz_shared *s)
{
	int n = 0;

	return s->inotify < 0 || ioctl(s->inotify, FIONREAD, &n) < 0 ? 0 : n;
}

int lz_outside_notes(struct lz_tracer *t, uint32_t changed)
{
	union {
		struct inotify_event e;
		char bytes[4096];
	} buf;
	ssize_t n;

	if (see_all(t) < 0)
		return -1;
	/* It comes before a stop that is a consequence of what has happened. */
	if (!lz_notes_wanted)
		return 0;
	lz_notes_wanted = 0;
	/* What comes meanwhile has a signal of its own: else this need not end. */
	for (ssize_t left = there(t->shared); left > 0; left -= n) {
		if ((n = read(t->shared->inotify, &buf, sizeof(buf))) <= 0)
			break;
		for (ssize_t at = 0; at < n;) {
			struct inotify_event e;
			memcpy(&e, buf.bytes + at, sizeof(e));
			at += (ssize_t)(sizeof(e) + e.len);
			if (take(t, &e, changed) < 0)
				return -1;
		}
	}
	return note_all(t);
}
