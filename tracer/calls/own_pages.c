/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our own pages in the program: the stub's and the ring of marker buffers. Without us nothing would
 * be mapped there, and so the program is told; only what it wants to put there is refused. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

enum { OWN = 3 + LZ_POOLS, MREMAP_FIXED_ = 2, NR_MSEAL = 462 };

struct range {
	uint64_t start, end;
};

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* In order; empty where there is none. */
static void own_ranges(const struct lz_tracer *t, struct range own[OWN])
{
	const uint64_t stub = t->meta.stub_addr, ring = lz_ring_of(t->s.base);
	const struct lz_fast *f = &t->fast;
	const uint64_t fast_len = f->page ? LZ_STUB_CODE + sizeof(*f->page) : 0;

	own[0] = (struct range){stub, stub + t->meta.stub_len};
	own[1] = (struct range){ring, ring + (t->s.mem ? LZ_RING_LEN : 0)};
	own[2] = (struct range){f->at, f->at + fast_len};
	for (size_t i = 0; i < LZ_POOLS; i++) {
		const uint64_t pool = f->sites.pool[i];

		own[3 + i] = (struct range){pool, pool + (pool ? LZ_POOL_LEN : 0)};
	}
	qsort(own, OWN, sizeof(*own), by_start);
}

bool lz_own_pages_touch(const struct lz_tracer *t, uint64_t start, uint64_t end)
{
	struct range own[OWN];

	own_ranges(t, own);
	for (int i = 0; i < OWN; i++)
		if (start < own[i].end && end > own[i].start)
			return true;
	return false;
}

bool lz_own_pages_at(const struct lz_tracer *t, uint64_t at, uint64_t *end)
{
	struct range own[OWN];

	own_ranges(t, own);
	*end = UINT64_MAX;
	for (int i = 0; i < OWN; i++) {
		if (own[i].start <= at && at < own[i].end) {
			*end = own[i].end;
			return true;
		}
		if (own[i].start > at && own[i].start < own[i].end && own[i].start < *end)
			*end = own[i].start;
	}
	return false;
}

static bool touches(const struct lz_tracer *t, uint64_t addr, uint64_t len)
{
	uint64_t end;

	/* the kernel refuses it by itself */
	return addr % LZ_PAGE == 0 && len && !__builtin_add_overflow(addr, lz_page_up(len), &end) &&
	       lz_own_pages_touch(t, addr, end);
}

static int64_t refuse(int64_t error, const char *call)
{
	return lz_refused(error, "%s over memory of the recorder", call);
}

static int64_t refuse_mmap(const struct lz_tracer *t, const uint64_t *a)
{
	if (!(a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) || !touches(t, a[0], a[1]))
		return 0;
	if (a[3] & MAP_FIXED_NOREPLACE)
		return refuse(-EEXIST, "mmap with MAP_FIXED_NOREPLACE");
	return refuse(-ENOMEM, "mmap");
}

static int64_t refuse_mremap(const struct lz_tracer *t, const uint64_t *a)
{
	if (touches(t, a[0], a[1] ? a[1] : LZ_PAGE))
		return -EFAULT;
	return a[3] & MREMAP_FIXED_ && touches(t, a[4], a[2]) ? refuse(-ENOMEM, "mremap") : 0;
}

static int64_t refuse_shmat(const struct lz_tracer *t, const uint64_t *a)
{
	struct shmid_ds segment;

	if (!(a[2] & SHM_REMAP) || shmctl((int)a[0], IPC_STAT, &segment) < 0 ||
	    !touches(t, a[1], segment.shm_segsz))
		return 0;
	return refuse(-ENOMEM, "shmat");
}

bool lz_answer_own_pages(struct lz_tracer *t, int64_t *result)
{
	const uint64_t *a = t->cur->call.args;

	*result = 0;
	switch (t->cur->call.nr) {
	case SYS_munmap: return touches(t, a[0], a[1]);
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_madvise:
	case NR_MSEAL: *result = touches(t, a[0], a[1]) ? -ENOMEM : 0; break;
	case SYS_mmap: *result = refuse_mmap(t, a); break;
	case SYS_mremap: *result = refuse_mremap(t, a); break;
	case SYS_shmat: *result = refuse_shmat(t, a); break;
	}
	return *result != 0;
}

static int unmap(struct lz_tracer *t, uint64_t start, uint64_t end, int64_t *result)
{
	if (start >= end || *result < 0)
		return 0;
	if (lz_proc_syscall(&t->p, result, SYS_munmap, start, end - start, 0, 0, 0, 0) < 0)
		return -1;
	return *result < 0 ? 0 : lz_map_removed(t, start, end);
}

int lz_own_pages_unmap(struct lz_tracer *t, int64_t *result)
{
	const uint64_t *a = t->cur->call.args;
	uint64_t at = a[0], end = a[0] + lz_page_up(a[1]);
	struct range own[OWN];

	own_ranges(t, own);
	t->map_id++;
	for (int i = 0; i < OWN; i++) {
		uint64_t until = own[i].start < end ? own[i].start : end;

		if (own[i].start == own[i].end || own[i].end <= at)
			continue;
		if (unmap(t, at, until, result) < 0)
			return -1;
		at = own[i].end;
	}
	return unmap(t, at, end, result);
}
