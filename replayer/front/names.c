/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of threads: given to oneself by prctl(), to others through a file, inherited from
 * who makes the thread. */
#include "replayer/front/inside.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const char *name_of(struct lz_front *f, uint32_t tid, uint64_t event)
{
	const struct lz_front_names *m = &f->names;

	for (size_t i = m->n; i-- > 0;)
		if (m->v[i].tid == tid && m->v[i].event < event)
			return m->v[i].name;
	return lz_front_runs_at(f, event)->comm;
}

static int add(struct lz_front *f, uint64_t event, uint32_t tid, const char *name, size_t len)
{
	struct lz_front_names *m = &f->names;
	struct lz_front_name *to;

	if (lz_reserve(m->v, m->cap, m->n + 1) < 0)
		return lz_fail("out of memory for the names of threads");
	to = &m->v[m->n++];
	*to = (struct lz_front_name){.event = event, .tid = tid};
	if (len >= sizeof to->name)
		len = sizeof to->name - 1;
	memcpy(to->name, name, strnlen(name, len));
	return 0;
}

/* What the event says stands at ADDR; NULL: nothing. */
static const char *at(const struct lz_event *ev, uint64_t addr, size_t *len)
{
	for (uint32_t i = 0; i < ev->n_writes; i++)
		if (ev->writes[i].addr == addr) {
			*len = ev->writes[i].len;
			return (const char *)ev->writes[i].bytes;
		}
	return NULL;
}

/* The thread that the program knows by that number. */
static uint32_t named(const struct lz_front *f, uint32_t own_tid)
{
	const struct lz_front_names *m = &f->names;

	for (size_t i = m->n; i-- > 0;)
		if (m->v[i].own_tid == own_tid)
			return m->v[i].tid;
	return own_tid;
}

/* A new thread has its maker's name. */
static int note_clone(struct lz_front *f, const struct lz_event *ev)
{
	uint32_t own = (uint32_t)ev->result;
	char inherited[16];

	if (!own)
		return 0;
	memcpy(inherited, name_of(f, ev->tid, ev->index), sizeof inherited);
	if (add(f, ev->index, ev->flags & LZ_EVF_THREAD_BORN ? ev->next : own, inherited,
	        sizeof inherited))
		return -1;
	f->names.v[f->names.n - 1].own_tid = own;
	return 0;
}

/* A thread's name file has been opened. */
static void note_open(struct lz_front *f, const struct lz_event *ev)
{
	char path[64] = "";
	size_t len;
	const char *bytes = at(ev, ev->args[1], &len);
	unsigned tid;

	if (!bytes)
		return;
	memcpy(path, bytes, len < sizeof path ? len : sizeof path - 1);
	if (sscanf(path, "/proc/%*[a-z0-9]/task/%u/comm", &tid) != 1)
		return;
	f->names.fd = (uint32_t)ev->result + 1;
	f->names.fd_tid = named(f, tid);
}

static int read_call(struct lz_front *f, const struct lz_event *ev)
{
	const char *name = NULL;
	uint32_t tid = ev->tid;
	size_t len = 0;

	if (ev->result < 0)
		return 0;
	switch (ev->nr) {
	case SYS_clone:
	case SYS_clone3: return note_clone(f, ev);
	case SYS_prctl: name = ev->args[0] == PR_SET_NAME ? at(ev, ev->args[1], &len) : NULL; break;
	case SYS_openat: note_open(f, ev); break;
	case SYS_write:
		if ((uint32_t)ev->args[0] + 1 == f->names.fd)
			name = at(ev, ev->args[1], &len);
		tid = f->names.fd_tid;
	}
	return name ? add(f, ev->index, tid, name, len) : 0;
}

static int add_program(struct lz_front *f, const struct lz_event *ev)
{
	const struct lz_front_program *p = lz_front_runs_at(f, ev->index + 1);

	return add(f, ev->index, ev->tid, p->comm, sizeof p->comm);
}

/* The events up to now that have not been read. */
static int read_on(struct lz_front *f, uint64_t now)
{
	struct lz_front_names *m = &f->names;

	if (m->read < lz_reader_first_event(f->reader))
		m->read = lz_reader_first_event(f->reader);
	for (; (m->read = lz_reader_event_telling(f->reader, m->read)) < now; m->read++) {
		const struct lz_event *ev = lz_reader_event(f->reader, m->read);

		if (!ev)
			return -1;
		/* another program is another name */
		if (ev->flags & LZ_EVF_REBASE && m->n && add_program(f, ev) < 0)
			return -1;
		if (ev->kind == LZ_EV_SYSCALL && read_call(f, ev) < 0)
			return -1;
	}
	return 0;
}

void lz_front_thread_name(struct lz_front *f, uint32_t tid, char name[16])
{
	struct lz_pos now;

	lz_session_present(f->s, &now);
	if (read_on(f, now.event) < 0)
		lz_debug("names of threads: %s", lz_error());
	memcpy(name, name_of(f, tid, now.event), 16);
}
