/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children that nobody records: the summary names them. */
#include "tracer/follow/follow.h"

#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 8 };

/* " (NAME)" of the program that PID executes. */
static void program_of(pid_t pid, char text[64])
{
	char path[40], name[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = 0;
	if (f)
		fclose(f);
	snprintf(text, 64, *name ? " (%s)" : "%s", name);
}

void lz_unfollowed_add(struct lz_tracer *t, pid_t pid, bool executed)
{
	char *was = t->unfollowed.names, *names, program[64] = "";

	if (t->unfollowed.n++ >= NAMED)
		return;
	if (executed)
		program_of(pid, program);
	if (asprintf(&names, "%s%s%d%s", was ? was : "", was ? ", " : "", (int)pid, program) < 0)
		return;
	t->unfollowed.names = names;
	free(was);
}

void lz_unfollowed_tell(struct lz_tracer *t, struct lz_trace_result *result)
{
	unsigned more = t->unfollowed.n > NAMED ? t->unfollowed.n - NAMED : 0;
	char *names = t->unfollowed.names;

	result->n_unfollowed = t->unfollowed.n;
	result->unfollowed = names;
	t->unfollowed.names = NULL;
	if (!names || !more || asprintf(&result->unfollowed, "%s and %u more", names, more) < 0)
		return;
	free(names);
}
