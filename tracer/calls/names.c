/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that threads are given: the program's own bytes, which replay does not need, so a
 * debugger could not show them. They are logged as if the kernel had written them, which changes
 * nothing: they are there already. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* 1 + the program's descriptor of a thread's name; 0: none. */
static uint32_t name_fd;

/* How pthread_setname_np() reaches another thread than its own. */
static bool is_comm_file(const char *path)
{
	unsigned tid;
	int end = 0;

	return (sscanf(path, "/proc/self/task/%u/comm%n", &tid, &end) == 1 && end && !path[end]) ||
	       (sscanf(path, "/proc/%*u/task/%u/comm%n", &tid, &end) == 1 && end && !path[end]);
}

static int note_open(struct lz_tracer *t, uint64_t path, int64_t fd)
{
	char text[64] = "";

	lz_proc_read_some(&t->p, path, text, sizeof(text) - 1);
	if (!is_comm_file(text))
		return 0;
	name_fd = (uint32_t)fd + 1;
	return lz_build_read(t, path, strlen(text) + 1);
}

int lz_names_note(struct lz_tracer *t, int64_t result)
{
	const uint64_t *a = t->cur->call.args;
	bool named = name_fd && (uint32_t)a[0] + 1 == name_fd;

	if (result < 0)
		return 0;
	switch (t->cur->call.nr) {
	case SYS_openat: return note_open(t, a[1], result);
	case SYS_write: return named ? lz_build_read(t, a[1], a[2] < 16 ? a[2] : 16) : 0;
	case SYS_close:
		if (named)
			name_fd = 0;
	}
	return 0;
}
