/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are mapped shared only to be read, and that children of the program may open: a lease for
 * reading tells of that before they have them open for writing. Up to then nobody stores there, so
 * calls need no stops. */
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#include "tracer/state/state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_shared(const struct lz_area *a)
{
	return a->v.flags & MAP_SHARED && a->v.role != LZ_VMA_BUFFER;
}

bool lz_shared_guarded(const struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		const struct lz_object *o = lz_object(t, a->object);

		if (is_shared(a) &&
		    (!o || o->guard < LZ_GUARD_BELIEVED || lz_is_shared_with_others(t, a)))
			return false;
	}
	return true;
}

/* The signal by which the kernel asks for it comes to this thread. */
static bool take_lease(int fd)
{
	const struct f_owner_ex me = {F_OWNER_TID, gettid()};

	return fd >= 0 && lz_leases_prove(fd) && fcntl(fd, F_SETSIG, LZ_WAKE) == 0 &&
	       fcntl(fd, F_SETOWN_EX, &me) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
}

static enum lz_guard guard_of(const struct lz_object *o)
{
	if (lz_only_root_writes(o))
		return LZ_GUARD_BELIEVED;
	return take_lease(o->fd) ? LZ_GUARD_LEASE : LZ_GUARD_REFUSED;
}

unsigned lz_guards_take(struct lz_tracer *t)
{
	unsigned n = 0;

	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		struct lz_object *o = is_shared(a) ? lz_object(t, a->object) : NULL;

		if (o && o->guard == LZ_GUARD_NONE && !lz_is_shared_with_others(t, a))
			o->guard = guard_of(o);
		n += o && o->guard == LZ_GUARD_LEASE;
	}
	return n;
}

static bool is_wanted(const struct lz_object *o)
{
	return o->guard == LZ_GUARD_LEASE && fcntl(o->fd, F_GETLEASE) != F_RDLCK;
}

static void give_back(struct lz_object *o, enum lz_guard then)
{
	if (o->guard == LZ_GUARD_LEASE)
		fcntl(o->fd, F_SETLEASE, F_UNLCK);
	o->guard = then;
}

bool lz_guards_wanted(const struct lz_tracer *t)
{
	const struct lz_shared *s = t->shared;

	for (uint32_t i = 1; s && i < s->n_objects; i++)
		if (is_wanted(&s->object[i]))
			return true;
	return false;
}

void lz_guards_give(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	for (uint32_t i = 1; s && i < s->n_objects; i++)
		if (is_wanted(&s->object[i]))
			give_back(&s->object[i], LZ_GUARD_REFUSED);
}

void lz_guards_end(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	for (uint32_t i = 1; s && i < s->n_objects; i++)
		if (s->object[i].guard == LZ_GUARD_LEASE)
			give_back(&s->object[i], LZ_GUARD_NONE);
}
