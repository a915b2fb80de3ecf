/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page that the tracers of a run share, and which memory it is there for. */
#include "tracer/memory/shared_lock_page.h"

#include "tracer/memory/objects.h"

#include <lizard/error.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int lz_shared_lock_map(struct lz_shared_lock *f, int fd)
{
	void *p = mmap(NULL, sizeof(*f->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*f = (struct lz_shared_lock){.fd = fd, .news = true};
	if (p == MAP_FAILED)
		return lz_fail_errno("cannot map what tracers have in common");
	f->page = p;
	return 0;
}

int lz_shared_lock_make(struct lz_shared_lock *f)
{
	int fd = memfd_create("lizard-shared-lock", MFD_CLOEXEC);
	pthread_mutexattr_t attr;

	if (fd < 0 || ftruncate(fd, sizeof(*f->page)) < 0) {
		if (fd >= 0)
			close(fd);
		return lz_fail_errno("cannot make what tracers have in common");
	}
	if (lz_shared_lock_map(f, fd) < 0)
		return -1;
	f->page->first = getpid();
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&f->page->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return 0;
}

void lz_shared_lock_free(struct lz_shared_lock *f)
{
	if (!f->page)
		return;
	munmap(f->page, sizeof(*f->page));
	close(f->fd);
	f->page = NULL;
}

bool lz_shared_lock_common(const struct lz_shared_lock *f, pid_t pid)
{
	struct stat own, other;
	char path[64];

	if (!f->page || pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, LZ_SHARED_LOCK_FD);
	return pid == f->page->first || (fstat(f->fd, &own) == 0 && stat(path, &other) == 0 &&
	                                 own.st_ino == other.st_ino && own.st_dev == other.st_dev);
}

bool lz_shared_lock_for(const struct lz_tracer *t, const struct lz_area *a)
{
	return t->shared_lock.page && lz_is_common(t, a);
}

bool lz_shared_lock_needed(const struct lz_tracer *t)
{
	if (!t->shared_lock.page || !t->shared || !t->n_shared)
		return false;
	for (size_t i = 0; i < t->vmas.n; i++)
		if (lz_shared_lock_for(t, &t->vmas.a[i]))
			return true;
	return false;
}

bool lz_shared_lock_quiet(const struct lz_tracer *t)
{
	return t->shared_lock.held && !t->shared_lock.news && strcmp(t->opt->follow, "all") == 0;
}
