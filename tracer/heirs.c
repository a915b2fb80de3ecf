/* Children that are not recorded and have inherited shared memory that they can write. What one stores there shows after the
 * program's next system call only, and a program that just polls makes none: so that it is said in time, children are looked
 * at until they have another program, are gone or have been named. One that is there to run another program leaves the
 * memory alone: fork() gives it none of these pages, it has those that it has touched. */
#include "tracer/objects.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GAP_MIN_MS = 5, EARLY_NS = 1000000, SHARE = 4, BATCH = 512 };

bool lz_is_common(const struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);

	if (!(a->v.flags & MAP_SHARED) || a->v.role == LZ_VMA_BUFFER)
		return false;
	if (a->v.prot & PROT_WRITE || lz_flags_object(a->v.flags) || !o || o->segment ||
	    o->watched || o->lent)
		return true;
	return strncmp(o->path, "/memfd:", 7) == 0 || strncmp(o->path, "/dev/shm/", 9) == 0;
}

/* Whoever has a mapping of a file that was opened for writing may make it writable. */
static bool may_be_writable(const struct lz_tracer *t, const struct lz_vma *v)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)t->p.pid, v->start, v->end);
	return lstat(path, &st) < 0 || st.st_mode & S_IWUSR;
}

void lz_shared_lent(struct lz_tracer *t)
{
	t->has_children = true;
	for (size_t i = 0; t->shared && t->n_shared && i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		struct lz_object *o = lz_object(t, a->object);
		if (o && a->v.flags & MAP_SHARED && !o->lent)
			o->lent = a->v.prot & PROT_WRITE || may_be_writable(t, &a->v);
	}
}

bool lz_heirs_touched(pid_t pid, uint64_t start, uint64_t end)
{
	const uint64_t present = 3ULL << 62; /* in memory or swapped out */
	uint64_t entry[BATCH];
	char path[64];
	ssize_t n = 1;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = fd < 0; /* nobody can tell */
	for (uint64_t at = start / LZ_PAGE; !found && n > 0 && at < end / LZ_PAGE; at += BATCH) {
		uint64_t most = end / LZ_PAGE - at < BATCH ? end / LZ_PAGE - at : BATCH;
		n = pread(fd, entry, most * sizeof(*entry), (off_t)(at * sizeof(*entry)));
		for (ssize_t i = 0; i < n / (ssize_t)sizeof(*entry); i++)
			found |= (entry[i] & present) != 0;
	}
	if (fd >= 0)
		close(fd);
	return found;
}

bool lz_heirs_has(const struct lz_tracer *t, pid_t pid)
{
	const struct lz_shared *s = t->shared;

	for (size_t i = 0; s && i < s->n_heirs; i++)
		if (s->heir[i].pid == pid)
			return true;
	return false;
}

void lz_heirs_born(struct lz_tracer *t, pid_t pid)
{
	struct lz_shared *s = t->shared;
	uint64_t now = lz_now();

	if (!s || !t->n_shared || s->n_heirs == LZ_HEIRS)
		return;
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		if (v->role == LZ_VMA_BUFFER || !(v->flags & MAP_SHARED) || !(v->prot & PROT_WRITE))
			continue;
		s->heir[s->n_heirs++] = (struct lz_heir){pid, GAP_MIN_MS, now, now};
		return;
	}
}

int lz_heirs_look(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;
	uint64_t now = s && s->n_heirs ? lz_now() : 0;

	for (size_t i = 0; s && i < s->n_heirs;) {
		struct lz_heir *h = &s->heir[i];
		if (now - h->looked + EARLY_NS < h->gap_ms * 1000000ULL) {
			i++;
			continue;
		}
		int ret = lz_outside_child(t, h->pid);
		if (ret < 0)
			return -1;
		h->looked = now;
		if (now - h->born > h->gap_ms * (2 * SHARE * 1000000ULL))
			h->gap_ms *= 2;
		if (ret)
			i++;
		else
			*h = s->heir[--s->n_heirs];
	}
	return 0;
}

long lz_heirs_timer(const struct lz_tracer *t, long ms)
{
	const struct lz_shared *s = t->shared;

	for (size_t i = 0; s && i < s->n_heirs; i++)
		if ((long)s->heir[i].gap_ms < ms)
			ms = (long)s->heir[i].gap_ms;
	return ms;
}
