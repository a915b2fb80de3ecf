/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/status: who traces the program, and its filters of system calls. */
#include "tracer/calls/proc_files.h"
#include "tracer/filters/filters.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind KEY, if that is there, becomes NUMBER, or more by it. */
static int put_number(struct lz_proc_text *x, const char *key, unsigned number, bool more)
{
	char now[16];
	char *at = memmem(x->bytes, x->len, key, strlen(key));

	if (!at)
		return 0;
	const size_t from = (size_t)(at - x->bytes) + strlen(key);
	const size_t old = strspn(x->bytes + from, "0123456789");
	if (more)
		number += (unsigned)strtoul(x->bytes + from, NULL, 10);
	const size_t n = (size_t)snprintf(now, sizeof(now), "%u", number);
	if (lz_reserve(x->bytes, x->room, x->len + n + 1) < 0)
		return lz_fail("no memory for a status in /proc");
	memmove(x->bytes + from + n, x->bytes + from + old, x->len + 1 - from - old);
	memcpy(x->bytes + from, now, n);
	x->len = x->len + n - old;
	return 0;
}

static unsigned count(const struct lz_filter *f)
{
	unsigned n = 0;

	for (; f; f = f->before)
		n++;
	return n;
}

int lz_proc_status_mend(const struct lz_thread *who, struct lz_proc_text *x)
{
	const unsigned mode = (unsigned)lz_filter_mode(who);

	if (put_number(x, "\nTracerPid:\t", 0, false) < 0 ||
	    /* the recorder itself may be in a container with filters */
	    (mode && put_number(x, "\nSeccomp:\t", mode, false) < 0) ||
	    put_number(x, "\nSeccomp_filters:\t", count(who->filter), true) < 0)
		return -1;
	return who->no_new_privs ? put_number(x, "\nNoNewPrivs:\t", 1, false) : 0;
}
