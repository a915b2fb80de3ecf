/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children that are not recorded and have inherited shared memory that they can write. What one
 * stores there shows after the program's next system call only, and a program that just polls
 * makes none: so that it is said in time, children are looked at until they have another
 * program, are gone or have been named. One that is there to run another program leaves the
 * memory alone: fork() gives it none of these pages, it has those that it has touched. */
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GAP_MIN_MS = 5, EARLY_NS = 1000000, SHARE = 4, BATCH = 512 };

bool lz_unrecorded_touched(pid_t pid, uint64_t start, uint64_t end)
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

bool lz_unrecorded_has(const struct lz_tracer *t, pid_t pid)
{
	const struct lz_shared *s = t->shared;

	for (size_t i = 0; s && i < s->n_unrecorded; i++)
		if (s->unrecorded[i].pid == pid)
			return true;
	return false;
}

void lz_unrecorded_born(struct lz_tracer *t, pid_t pid)
{
	struct lz_shared *s = t->shared;
	uint64_t now = lz_now();

	if (!s || !t->n_shared || s->n_unrecorded == LZ_UNRECORDED_MOST)
		return;
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		if (v->role == LZ_VMA_BUFFER || !(v->flags & MAP_SHARED) || !(v->prot & PROT_WRITE))
			continue;
		s->unrecorded[s->n_unrecorded++] =
		    (struct lz_unrecorded_child){pid, GAP_MIN_MS, now, now};
		return;
	}
}

int lz_unrecorded_look(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;
	uint64_t now = s && s->n_unrecorded ? lz_now() : 0;

	for (size_t i = 0; s && i < s->n_unrecorded;) {
		struct lz_unrecorded_child *h = &s->unrecorded[i];
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
			*h = s->unrecorded[--s->n_unrecorded];
	}
	return 0;
}

long lz_unrecorded_timer(const struct lz_tracer *t, long ms)
{
	const struct lz_shared *s = t->shared;

	for (size_t i = 0; s && i < s->n_unrecorded; i++)
		if ((long)s->unrecorded[i].gap_ms < ms)
			ms = (long)s->unrecorded[i].gap_ms;
	return ms;
}
