/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who opens a file that is mapped need not write it: most only read. Those who store by a mapping
 * have it open for writing until their descriptor is closed, which inotify tells. */
#include "tracer/memory/objects.h"

#include "tracer/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum answer { NO, YES, UNKNOWN };

/* The kernel grants a lease for reading where nobody has the file open for writing, and only to
 * the file's owner. It is given back at once: who opens the file meanwhile has to wait. */
static enum answer ask_kernel(int fd)
{
	if (fcntl(fd, F_SETSIG, LZ_WAKE) < 0)
		return UNKNOWN;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN ? YES : UNKNOWN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return NO;
}

bool lz_only_root_writes(const struct lz_object *o)
{
	struct stat st;

	return geteuid() != 0 && o->fd >= 0 && fstat(o->fd, &st) == 0 && st.st_uid == 0 &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Can nobody have it open for writing? To ask would give the recorder's own lease back. */
static bool is_guarded(const struct lz_object *o)
{
	return o->guard == LZ_GUARD_LEASE;
}

/* Not of who has mapped it and closed it since. */
static enum answer ask_of_open(const struct lz_object *o)
{
	if (is_guarded(o))
		return NO;
	return o->fd >= 0 && lz_leases_show_open(o->fd) ? ask_kernel(o->fd) : UNKNOWN;
}

static bool may_write(const struct lz_object *o, enum answer answer)
{
	return answer == UNKNOWN ? !lz_only_root_writes(o) : answer == YES;
}

bool lz_open_for_writing(const struct lz_object *o)
{
	return !is_guarded(o) &&
	       may_write(o, o->fd >= 0 && lz_leases_prove(o->fd) ? ask_kernel(o->fd) : UNKNOWN);
}

bool lz_surely_open_for_writing(const struct lz_object *o)
{
	return ask_of_open(o) == YES;
}

bool lz_surely_unwritten(const struct lz_object *o)
{
	return is_guarded(o) || (o->fd >= 0 && lz_leases_prove(o->fd) && ask_kernel(o->fd) == NO);
}

bool lz_opens_are_known(const struct lz_object *o)
{
	return ask_of_open(o) != UNKNOWN;
}

/* Who has closed it since has raised a note of its own before the kernel says no. */
bool lz_opened_for_writing(const struct lz_object *o)
{
	return may_write(o, ask_of_open(o));
}
