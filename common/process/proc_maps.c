/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/maps. */
#include <lizard/proc.h>
#include <lizard/error.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct text {
	const char *at;
	bool bad;
};

/* Up to the character BEHIND it. */
static uint64_t number(struct text *t, int base, char behind)
{
	char *end;
	uint64_t n = strtoull(t->at, &end, base);

	t->bad |= end == t->at || *end != behind;
	t->at = end + (*end == behind);
	return n;
}

/* Each new image has all of its lines read more than once, so sscanf() would take too long. */
static int parse_line(const char *line, struct lz_maps_entry *e)
{
	struct text t = {.at = line};

	e->start = number(&t, 16, '-');
	e->end = number(&t, 16, ' ');
	const char *perm = t.at;
	if (t.bad || strnlen(perm, 5) < 5)
		return -1;
	t.at += 5;
	e->offset = number(&t, 16, ' ');
	e->dev_major = (unsigned)number(&t, 16, ':');
	e->dev_minor = (unsigned)number(&t, 16, ' ');
	e->inode = number(&t, 10, ' ');
	if (t.bad)
		return -1;
	e->prot = (perm[0] == 'r' ? PROT_READ : 0) | (perm[1] == 'w' ? PROT_WRITE : 0) |
	          (perm[2] == 'x' ? PROT_EXEC : 0);
	e->shared = perm[3] == 's';
	t.at += strspn(t.at, " ");
	const size_t n = strcspn(t.at, "\n"), most = sizeof e->path - 1;
	*(char *)mempcpy(e->path, t.at, n < most ? n : most) = 0;
	return 0;
}

int lz_proc_maps(pid_t pid, int (*fn)(void *arg, const struct lz_maps_entry *e), void *arg)
{
	char path[64], text[4096], *line = NULL; /* TEXT: so much the kernel gives at once */
	size_t room = 0;
	struct lz_maps_entry e;
	int ret = 0;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return lz_fail_errno("cannot open %s", path);
	setvbuf(f, text, _IOFBF, sizeof text);
	while (!ret && getline(&line, &room, f) > 0)
		if (parse_line(line, &e) == 0)
			ret = fn(arg, &e);
	free(line);
	fclose(f);
	return ret;
}

uint32_t lz_proc_shared_object(const struct lz_maps_entry *e)
{
	static const char name[] = "/memfd:" LZ_SHARED_NAME;

	return strncmp(e->path, name, sizeof name - 1) == 0
	           ? (uint32_t)strtoul(e->path + sizeof name - 1, NULL, 10)
	           : 0;
}
