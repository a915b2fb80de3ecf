/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processor, as /proc/cpuinfo tells of it. To be told takes longer than most else that is done
 * before a program begins, so the tracers of a run tell each other. */
#include "tracer/state/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lz_machine machine;

/* LINE is `KEY : value`? Then the value goes TO. */
static void take(const char *line, const char *key, char *to, size_t room)
{
	const char *colon = strchr(line, ':');

	if (*to || !colon || strncmp(line, key, strlen(key)) != 0)
		return;
	colon += strspn(colon, ": ");
	snprintf(to, room, "%.*s", (int)strcspn(colon, "\n"), colon);
}

/* Of the first CPU. */
static void read_it(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;

	while (f && !(*machine.model && *machine.flags) && getline(&line, &room, f) > 0) {
		take(line, "model name", machine.model, sizeof(machine.model));
		take(line, "flags", machine.flags, sizeof(machine.flags));
	}
	free(line);
	if (f)
		fclose(f);
}

const struct lz_machine *lz_machine(void)
{
	if (!*machine.model && !*machine.flags)
		read_it();
	return &machine;
}

void lz_machine_get(struct lz_machine *to)
{
	*to = machine;
}

void lz_machine_set(const struct lz_machine *from)
{
	machine = *from;
}
