/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings in the stub: which of them it may change. */
#ifndef LIZARD_TRACER_STUB_MAPS_H
#define LIZARD_TRACER_STUB_MAPS_H

#include "tracer/stub/descriptors.h"

/* Is it all in one of the N ranges? The kernel refuses what does not begin with a page. */
INLINE bool is_in(const struct lz_plain_range *range, uint32_t n, uint64_t start, uint64_t len)
{
	const uint64_t end = start + ((len + 4095) & ~4095ULL);

	for (uint32_t i = 0; i < n; i++)
		if (start >= range[i].start && end <= range[i].end)
			return start % 4096 == 0 && start < end;
	return false;
}

/* Is it all plain memory? */
INLINE bool is_plain(const struct lz_call_page *p, uint64_t start, uint64_t len)
{
	const uint32_t n = p->n_plain;

	return is_in(p->plain, n < LZ_PLAIN_RANGES ? n : LZ_PLAIN_RANGES, start, len);
}

/* Is it all private data of a file? */
INLINE bool is_file_data(const struct lz_call_page *p, uint64_t start, uint64_t len)
{
	const uint32_t n = p->n_files;

	return is_in(p->file, n < LZ_FILE_RANGES ? n : LZ_FILE_RANGES, start, len);
}

/* A mapping of a small file that begins there and is as long; NULL: there is none. */
INLINE struct lz_plain_range *small_at(struct lz_call_page *p, uint64_t start, uint64_t len)
{
	for (uint32_t i = 0; i < p->n_small && i < LZ_SMALL_FILES; i++)
		if (p->small[i].start == start &&
		    p->small[i].end == start + ((len + 4095) & ~4095ULL))
			return &p->small[i];
	return 0;
}

/* ---- mappings that the tracer is told of later ---- */

INLINE bool is_linkers(const struct lz_call_page *p)
{
	return p->site - p->linker.start < p->linker.end - p->linker.start;
}

/* Is it in the place of a part of what has been mapped just now? What such a part replaces is what the
 * first mapping has there, and nothing else. */
INLINE bool is_part(const struct lz_call_page *p, const uint64_t *args)
{
	return p->put_off && args[3] & MAP_FIXED && is_linkers(p) &&
	       args[0] >= p->put_off_rest.start && args[0] < p->put_off_rest.end &&
	       args[1] <= p->put_off_rest.end - args[0] &&
	       (args[3] & MAP_ANONYMOUS || args[4] == p->put_off_fd);
}

/* Is it the first mapping of a file, which the tracer can copy as long as the program has it open? What has
 * been mapped before is compared with its copy, behind each call. */
INLINE bool is_new_file(struct lz_call_page *p, const uint64_t *args)
{
	const uint64_t fd = args[4];
	struct stat st;

	if (args[3] & MAP_FIXED || args[2] & PROT_EXEC || !p->may_map || fd >= LZ_FAST_FDS ||
	    !(p->fd[fd] & LZ_FD_READ) || call4(SYS_fstat, fd, (uint64_t)&st, 0, 0) ||
	    (st.st_mode & S_IFMT) != S_IFREG)
		return false;
	uint8_t *mapped = &p->mapped[lz_mapped_slot(st.st_dev, st.st_ino)];
	if (*mapped)
		return false;
	*mapped = LZ_MAPPED_PRIVATE;
	return true;
}

/* Need the tracer not be told of such a mapping before the next call of another kind? */
INLINE bool may_put_off(struct lz_call_page *p, const uint64_t *args)
{
	return p->put_off ? is_part(p, args) : is_linkers(p) && is_new_file(p, args);
}

/* It is in the log. */
INLINE void put_off(struct lz_call_page *p, const uint64_t *args, uint64_t at)
{
	const uint64_t end = at + ((args[1] + 4095) & ~4095ULL);

	if (args[3] & MAP_FIXED) {
		p->put_off_rest.start = end;
	} else {
		p->put_off_rest = (struct lz_plain_range){at, end};
		p->put_off_fd = args[4];
	}
	/* once more: the tracer may have been told of those before, at a stop within this call */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&p->put_off, 1, __ATOMIC_RELAXED);
}

/* ---- which calls may be made ---- */

/* Does the call change nothing but memory that the tracer knows to be the program's own? */
INLINE bool is_own_map(struct lz_call_page *p, uint8_t rule, const uint64_t *args)
{
	switch (rule) {
	case LZ_RULE_BRK: return !args[0] || args[0] >= p->brk_least;
	case LZ_RULE_MMAP:
		return !(args[3] & MAP_FIXED) || is_part(p, args) ||
		       is_plain(p, args[0], args[1]) || is_file_data(p, args[0], args[1]);
	case LZ_RULE_MUNMAP:
		return is_plain(p, args[0], args[1]) || small_at(p, args[0], args[1]) ||
		       is_file_data(p, args[0], args[1]);
	default:
		return is_plain(p, args[0], args[1]) ||
		       (lz_denies_writing(rule, args) && is_file_data(p, args[0], args[1]));
	}
}

/* What is written to FD's file shows in its mapping: it is not written to without a stop. */
INLINE void forget_writers(struct lz_call_page *p, const struct stat *of)
{
	struct stat st;

	for (uint64_t fd = 0; fd < LZ_FAST_FDS; fd++) {
		if (!(p->fd[fd] & LZ_FD_WRITE))
			continue;
		if (call4(SYS_fstat, fd, (uint64_t)&st, 0, 0) ||
		    (st.st_ino == of->st_ino && st.st_dev == of->st_dev))
			p->fd[fd] &= (uint8_t) ~(LZ_FD_WRITE | LZ_FD_CLOSE);
	}
}

/* What a mapping of a small file is going to hold: a count, and so many bytes. Or it is COPIED, as larger
 * ones are. False: the call is to have a stop. */
INLINE bool read_small(struct lz_call_page *p, const uint64_t *args, uint8_t *to, bool *copied)
{
	const uint64_t fd = args[4], len = (args[1] + 4095) & ~4095ULL, offset = args[5];
	uint64_t *count = (uint64_t *)to, regs[7];
	struct stat st;

	if (!p->may_map || fd >= LZ_FAST_FDS || !(p->fd[fd] & LZ_FD_READ) ||
	    p->n_small >= LZ_SMALL_FILES || call4(SYS_fstat, fd, (uint64_t)&st, 0, 0) ||
	    (st.st_mode & S_IFMT) != S_IFREG || !good_for(p, &st, O_RDONLY))
		return false;
	const uint64_t size = (uint64_t)st.st_size;
	if (offset >= size || len > ((size + 4095) & ~4095ULL) - offset)
		return false;
	*count = len < size - offset ? len : size - offset;
	regs[0] = SYS_pread64;
	regs[1] = fd;
	regs[2] = (uint64_t)(count + 1);
	regs[3] = *count;
	regs[4] = offset;
	regs[5] = regs[6] = 0;
	if (make(regs) != (int64_t)*count)
		return false;
	*copied = lz_is_for_linkers((uint8_t *)(count + 1), *count);
	if (*copied)
		return true;
	uint8_t *mapped = &p->mapped[lz_mapped_slot(st.st_dev, st.st_ino)];
	if (!*mapped)
		*mapped = LZ_MAPPED_PRIVATE;
	forget_writers(p, &st);
	return true;
}

/* One that ends at START, begins at END, or both, becomes longer. */
INLINE void add_range(struct lz_plain_range *a, uint32_t *n, uint32_t most, uint64_t start,
                      uint64_t end)
{
	struct lz_plain_range *before = 0, *behind = 0;

	for (uint32_t i = 0; i < *n && i < most; i++) {
		if (a[i].end == start)
			before = &a[i];
		if (a[i].start == end)
			behind = &a[i];
	}
	if (before && behind) {
		before->end = behind->end;
		*behind = a[--*n];
	} else if (before) {
		before->end = end;
	} else if (behind) {
		behind->start = start;
	} else if (*n < most) {
		a[(*n)++] = (struct lz_plain_range){start, end};
	}
}

/* All of it is in one, or nothing in any. */
INLINE void remove_range(struct lz_plain_range *a, uint32_t *n, uint32_t most, uint64_t start,
                         uint64_t end)
{
	for (uint32_t i = 0; i < *n && i < most; i++) {
		const struct lz_plain_range was = a[i];

		if (start < was.start || end > was.end)
			continue;
		a[i] = a[--*n];
		if (was.start < start)
			add_range(a, n, most, was.start, start);
		if (end < was.end)
			add_range(a, n, most, end, was.end);
		return;
	}
}

/* What the call has changed, of which the tracer is not told at once. */
INLINE void note_map(struct lz_call_page *p, uint8_t rule, const uint64_t *args, int64_t result)
{
	const uint64_t len = (args[1] + 4095) & ~4095ULL;
	struct lz_plain_range *small;

	if (result < 0)
		return;
	if (rule == LZ_RULE_MMAP && lz_maps_small(args)) {
		p->has_small = 1;
		p->small[p->n_small++] =
		    (struct lz_plain_range){(uint64_t)result, (uint64_t)result + len};
	} else if (rule == LZ_RULE_MMAP)
		add_range(p->plain, &p->n_plain, LZ_PLAIN_RANGES, (uint64_t)result,
		          (uint64_t)result + len);
	else if (rule == LZ_RULE_MUNMAP && (small = small_at(p, args[0], args[1])))
		*small = p->small[--p->n_small];
	else if (rule == LZ_RULE_MUNMAP) {
		remove_range(p->plain, &p->n_plain, LZ_PLAIN_RANGES, args[0], args[0] + len);
		remove_range(p->file, &p->n_files, LZ_FILE_RANGES, args[0], args[0] + len);
	}
}

#endif
