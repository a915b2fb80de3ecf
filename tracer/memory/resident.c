/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/memory/resident.h"

#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/memory/pages.h"
#include "tracer/memory/shared_data.h"

#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <lizard/error.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Of an entry of /proc/PID/pagemap. */
#define PRESENT (1ULL << 63)
#define SWAPPED (1ULL << 62)

struct lz_resident {
	uint64_t start, offset, inode;
	unsigned dev_major, dev_minor;
	size_t n;
	uint8_t *page; /* bit 0: exists */
};

/* mincore() takes a page in swap for one that does not exist. */
static bool nothing_is_swapped(void)
{
	struct sysinfo i;

	return sysinfo(&i) == 0 && i.totalswap == i.freeswap;
}

/* A stop that ptrace makes within a call, as at a vfork: behind it the kernel stores a result. */
static bool is_event(pid_t pid)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, pid, 0, &info) < 0)
		return true;
	return info.si_signo == SIGTRAP && info.si_code >> 8 > 0 &&
	       info.si_code >> 8 != PTRACE_EVENT_STOP;
}

/* Can the program make a call for us? Not within another one. */
static bool may_ask(const struct lz_tracer *t)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->p.pid, sizeof(info), &info) <= 0)
		return false;
	return info.op == PTRACE_SYSCALL_INFO_EXIT ||
	       (info.op == PTRACE_SYSCALL_INFO_NONE && !is_event(t->p.pid));
}

/* ---- what is to be asked for ---- */

static struct lz_resident *add(struct lz_shared *s)
{
	if (lz_reserve(s->resident, s->resident_room, s->n_resident + 1) < 0)
		return NULL;
	s->resident[s->n_resident] = (struct lz_resident){0};
	return &s->resident[s->n_resident++];
}

static bool is_such(const struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);

	return a->v.flags & MAP_SHARED && a->v.role != LZ_VMA_BUFFER && lz_shared_is_large(a) &&
	       (!o || o->file == LZ_NO_FILE);
}

static bool has_such(const struct lz_tracer *t)
{
	const struct lz_shared *s = t->shared;

	for (size_t i = 0; s && t->n_shared && !s->resident_needless && i < t->vmas.n; i++)
		if (is_such(t, &t->vmas.a[i]))
			return true;
	return false;
}

/* Of a device the kernel would only say what the program has touched. */
static bool is_memory(const struct lz_maps_entry *e)
{
	return e->shared &&
	       (strcmp(e->path, "/dev/zero (deleted)") == 0 || strncmp(e->path, "/SYSV", 5) == 0 ||
	        strncmp(e->path, "[anon_shmem:", 12) == 0);
}

static int note(void *arg, const struct lz_maps_entry *e)
{
	struct lz_tracer *t = arg;
	const ptrdiff_t area = is_memory(e) ? lz_vmas_find(&t->vmas, e->start) : -1;

	if (area < 0 || !is_such(t, &t->vmas.a[area]))
		return 0;
	lz_auto_close int fd = lz_shared_open(t->p.pid, e);
	if (fd >= 0)
		return 1;
	struct lz_resident *r = add(t->shared);
	if (!r)
		return -1;
	r->start = e->start;
	r->offset = e->offset;
	r->inode = e->inode;
	r->dev_major = e->dev_major;
	r->dev_minor = e->dev_minor;
	r->n = (e->end - e->start) / LZ_PAGE;
	r->page = malloc(r->n);
	return r->page ? 0 : -1;
}

/* ---- asking ---- */

static int ask(struct lz_tracer *t, const struct lz_resident *r, uint64_t room)
{
	int64_t ret;

	if (lz_proc_syscall(&t->p, &ret, SYS_mincore, r->start, r->n * LZ_PAGE, room, 0, 0, 0) <
	        0 ||
	    ret < 0)
		return -1;
	return lz_proc_read(&t->p, room, r->page, r->n);
}

static int ask_all(struct lz_tracer *t)
{
	const struct lz_shared *s = t->shared;
	size_t most = 0;
	int64_t room, ignored;
	int ret = 0;

	for (size_t i = 0; i < s->n_resident; i++)
		most = s->resident[i].n > most ? s->resident[i].n : most;
	if (lz_proc_syscall(&t->p, &room, SYS_mmap, 0, lz_page_up(most), PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, (uint64_t)-1, 0) < 0 ||
	    (room < 0 && room > -LZ_PAGE))
		return -1;
	for (size_t i = 0; ret == 0 && i < s->n_resident; i++)
		ret = ask(t, &s->resident[i], (uint64_t)room);
	return lz_proc_syscall(&t->p, &ignored, SYS_munmap, (uint64_t)room, lz_page_up(most), 0, 0,
	                       0, 0) < 0
	           ? -1
	           : ret;
}

void lz_resident_look(struct lz_tracer *t)
{
	int ret;

	if (!has_such(t))
		return;
	lz_resident_forget(t->shared);
	if (!may_ask(t) || !nothing_is_swapped())
		return;
	ret = lz_proc_maps(t->p.pid, note, t);
	t->shared->resident_needless = ret > 0;
	if (ret == 0 && t->shared->n_resident)
		ret = ask_all(t);
	if (ret || !nothing_is_swapped())
		lz_resident_forget(t->shared);
}

void lz_resident_look_at(struct lz_tracer *t, const struct lz_area *a)
{
	if (t->shared && is_such(t, a))
		lz_resident_look(t);
}

/* ---- what is known ---- */

/* A page that the program has touched since exists, whether or not it did then. */
static void add_touched(const struct lz_tracer *t, const struct lz_resident *r)
{
	uint64_t entry[512];
	const int fd = t->pages->pagemap;

	for (size_t at = 0, n; at < r->n; at += n) {
		n = r->n - at < 512 ? r->n - at : 512;
		if (pread(fd, entry, n * 8, (off_t)(r->start / LZ_PAGE + at) * 8) !=
		    (ssize_t)(n * 8))
			memset(entry, 0xff, sizeof(entry));
		for (size_t i = 0; i < n; i++)
			r->page[at + i] |= (entry[i] & (PRESENT | SWAPPED)) != 0;
	}
}

static bool is_of(const struct lz_resident *r, const struct lz_maps_entry *e)
{
	return r->start == e->start && r->n == (e->end - e->start) / LZ_PAGE &&
	       r->offset == e->offset && r->inode == e->inode && r->dev_major == e->dev_major &&
	       r->dev_minor == e->dev_minor;
}

const struct lz_resident *lz_resident_of(const struct lz_tracer *t, const struct lz_maps_entry *e)
{
	const struct lz_shared *s = t->shared;

	for (size_t i = 0; s && i < s->n_resident; i++) {
		if (!is_of(&s->resident[i], e))
			continue;
		add_touched(t, &s->resident[i]);
		return &s->resident[i];
	}
	return NULL;
}

void lz_resident_next(const struct lz_resident *r, uint64_t at, uint64_t end, uint64_t *from,
                      uint64_t *to)
{
	size_t i = at / LZ_PAGE;
	const size_t n = end / LZ_PAGE < r->n ? end / LZ_PAGE : r->n;

	while (i < n && !(r->page[i] & 1))
		i++;
	*from = i < n ? i * LZ_PAGE : end;
	while (i < n && r->page[i] & 1)
		i++;
	*to = i < n ? i * LZ_PAGE : end;
}

void lz_resident_forget(struct lz_shared *s)
{
	for (size_t i = 0; i < s->n_resident; i++)
		free(s->resident[i].page);
	s->n_resident = 0;
}
