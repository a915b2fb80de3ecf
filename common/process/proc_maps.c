/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/maps. */
#include <lizard/proc.h>
#include <common/base/cleanup.h>
#include <errno.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* ---- one of them ---- */

/* Newer than Debian 12's headers: PROCMAP_QUERY, since Linux 6.11. */
struct query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t dev_major, dev_minor, name_size, build_id_size;
	uint64_t name, build_id;
};
#define QUERY _IOWR('f', 17, struct query)
enum { READABLE = 1, WRITABLE = 2, EXECUTABLE = 4, SHARED = 8 };

int lz_proc_map_at(pid_t pid, uint64_t addr, struct lz_maps_entry *e)
{
	struct query q = {.size = sizeof q, .addr = addr, .name_size = sizeof e->path};
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	lz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	q.name = (uintptr_t)e->path;
	if (fd < 0 || ioctl(fd, QUERY, &q) < 0)
		return fd >= 0 && errno == ENOENT ? 0 : -1;
	e->start = q.start;
	e->end = q.end;
	e->offset = q.offset;
	e->inode = q.inode;
	e->dev_major = q.dev_major;
	e->dev_minor = q.dev_minor;
	e->prot = (q.vma_flags & READABLE ? PROT_READ : 0) |
	          (q.vma_flags & WRITABLE ? PROT_WRITE : 0) |
	          (q.vma_flags & EXECUTABLE ? PROT_EXEC : 0);
	e->shared = q.vma_flags & SHARED;
	if (!q.name_size)
		*e->path = 0;
	/* the list has them escaped */
	return strchr(e->path, '\n') ? -1 : 1;
}

uint32_t lz_proc_shared_object(const struct lz_maps_entry *e)
{
	static const char name[] = "/memfd:" LZ_SHARED_NAME;

	return strncmp(e->path, name, sizeof name - 1) == 0
	           ? (uint32_t)strtoul(e->path + sizeof name - 1, NULL, 10)
	           : 0;
}
