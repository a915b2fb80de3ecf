/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/maps. */
#include <lizard/proc.h>
#include <lizard/error.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int parse_line(const char *line, struct lz_maps_entry *e)
{
	char perm[8];
	int path_at = 0;

	memset(e, 0, offsetof(struct lz_maps_entry, path));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &e->start,
	           &e->end, perm, &e->offset, &e->dev_major, &e->dev_minor, &e->inode,
	           &path_at) < 7)
		return -1;
	e->prot = (perm[0] == 'r' ? PROT_READ : 0) | (perm[1] == 'w' ? PROT_WRITE : 0) |
	          (perm[2] == 'x' ? PROT_EXEC : 0);
	e->shared = perm[3] == 's';
	snprintf(e->path, sizeof e->path, "%s", path_at ? line + path_at : "");
	e->path[strcspn(e->path, "\n")] = 0;
	return 0;
}

int lz_proc_maps(pid_t pid, int (*fn)(void *arg, const struct lz_maps_entry *e), void *arg)
{
	char path[64], *line = NULL;
	size_t room = 0;
	struct lz_maps_entry e;
	int ret = 0;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return lz_fail_errno("cannot open %s", path);
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
