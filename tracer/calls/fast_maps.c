/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that change mappings without a stop: of which memory, and whether a record can be of such a
 * call. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/code/code.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/signals/signals.h"

#include <string.h>
#include <sys/mman.h>

#define ADDRESS_END (1ULL << 47)

static bool is_private_data(const struct lz_area *a)
{
	return a->v.role == LZ_VMA_PLAIN && a->v.file == LZ_NO_FILE && a->v.flags == MAP_PRIVATE &&
	       !(a->v.prot & PROT_EXEC);
}

/* Nothing in it is ours, others', or looked at by anybody. */
static bool is_plain(const struct lz_area *a)
{
	return is_private_data(a) && !a->object && !a->small;
}

static bool may_go(const struct lz_area *a)
{
	return is_private_data(a) && (!a->object || a->small);
}

/* Its file may have been changed since the stub was told of it. */
static bool was_file_data(const struct lz_area *a)
{
	return a->v.role == LZ_VMA_PLAIN && a->v.file != LZ_NO_FILE && a->v.flags == MAP_PRIVATE &&
	       !(a->v.prot & PROT_EXEC) && !a->small;
}

static bool is_file_data(const struct lz_area *a)
{
	return was_file_data(a) && !a->follows;
}

/* It is in the place of nothing but that. */
static bool may_be_replaced(const struct lz_area *a)
{
	return may_go(a) || was_file_data(a);
}

static uint32_t add_range(struct lz_plain_range *to, uint32_t n, uint32_t most,
                          const struct lz_vma *v)
{
	if (n && to[n - 1].end == v->start) {
		to[n - 1].end = v->end;
		return n;
	}
	if (n < most)
		to[n++] = (struct lz_plain_range){v->start, v->end};
	return n;
}

static uint32_t leave_out_own(const struct lz_tracer *t, struct lz_plain_range *of, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!lz_own_pages_touch(t, of[i].start, of[i].end))
			of[kept++] = of[i];
	return kept;
}

/* glibc's linker runs nothing of what it maps before it has closed the file. Another one may be a part of a
 * C library, by which programs map what they like. */
static bool is_glibcs(const struct lz_tracer *t, const struct lz_vma *code)
{
	static const char *const names[] = {"ld-linux", "ld-2."};
	const struct lz_area *a = &t->vmas.a[lz_vmas_find(&t->vmas, code->start)];
	const struct lz_object *o = lz_object(t, a->object);
	const char *name = o ? strrchr(o->path, '/') : NULL;
	bool is = false;

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		is |= strncmp(name + 1, names[i], strlen(names[i])) == 0;
	return is;
}

/* Libraries with markers are looked at as soon as they are mapped. */
static struct lz_plain_range linker_of(struct lz_tracer *t)
{
	const struct lz_vma *code = t->s.mem ? NULL : lz_linker_code(t);

	if (!code || !is_glibcs(t, code))
		return (struct lz_plain_range){0};
	return (struct lz_plain_range){code->start, code->end};
}

void lz_fast_maps_resume(struct lz_tracer *t)
{
	struct lz_call_page *page = t->fast.page;
	struct lz_plain_range *to = page->plain;
	uint32_t n = 0, small = 0, files = 0;

	page->brk_least = lz_heap_start(t);
	/* a call that is under way may be about to change them, and what was set aside may have */
	if (t->fast.n_plain == t->vmas.changes || page->busy ||
	    t->fast.aside.taken < t->fast.aside.len)
		return;
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];

		if (is_plain(a))
			n = add_range(to, n, LZ_PLAIN_RANGES, &a->v);
		else if (may_go(a) && small < LZ_SMALL_FILES)
			page->small[small++] = (struct lz_plain_range){a->v.start, a->v.end};
		else if (!t->s.mem && is_file_data(a))
			files = add_range(page->file, files, LZ_FILE_RANGES, &a->v);
	}
	page->n_plain = leave_out_own(t, to, n);
	page->n_small = small;
	page->n_files = leave_out_own(t, page->file, files);
	page->linker = linker_of(t);
	t->fast.n_plain = t->vmas.changes;
}

/* Pages within the program's addresses. */
static bool is_range(uint64_t start, uint64_t len)
{
	return start % LZ_PAGE == 0 && len && start < ADDRESS_END && len <= ADDRESS_END - start;
}

/* Is all that is mapped there as IS says? HOLES: there may be any between. */
static bool all(const struct lz_tracer *t, uint64_t start, uint64_t len, bool holes,
                bool (*is)(const struct lz_area *a))
{
	if (!is_range(start, len) || lz_own_pages_touch(t, start, start + lz_page_up(len)))
		return false;
	const uint64_t end = start + lz_page_up(len);
	for (size_t i = lz_vmas_from(&t->vmas, start); i < t->vmas.n && start < end; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		if (v->start >= end)
			break;
		if (!is(&t->vmas.a[i]) || (v->start > start && !holes))
			return false;
		start = v->end;
	}
	return start >= end || holes;
}

/* Where markers are, a library is joined to their stream when this is done. */
static bool may_end_writing(const struct lz_tracer *t, uint8_t rule, const uint64_t *args,
                            bool (*is)(const struct lz_area *a))
{
	return lz_denies_writing(rule, args) && !t->s.mem && all(t, args[0], args[1], false, is);
}

static bool may_unmap(const struct lz_tracer *t, const uint64_t *args,
                      bool (*is)(const struct lz_area *a))
{
	return all(t, args[0], args[1], false, may_go) ||
	       (!t->s.mem && all(t, args[0], args[1], false, is));
}

/* Mirrors what the stub does. */
static bool may_map_at_once(const struct lz_tracer *t, const uint64_t *args)
{
	return !(args[3] & MAP_FIXED) || all(t, args[0], args[1], false, is_plain) ||
	       (!t->s.mem && all(t, args[0], args[1], false, is_file_data));
}

bool lz_fast_maps_could(const struct lz_tracer *t, uint8_t rule)
{
	const uint64_t *a = t->cur->call.args;

	switch (rule) {
	case LZ_RULE_BRK: return !a[0] || a[0] >= lz_heap_start(t);
	case LZ_RULE_MMAP:
		if (lz_maps_at_once(a))
			return may_map_at_once(t, a);
		return !lz_maps_small(a) || !t->fast.page ||
		       (a[4] < LZ_FAST_FDS && t->fast.page->fd[a[4]] & LZ_FD_READ);
	case LZ_RULE_MUNMAP: return may_unmap(t, a, is_file_data);
	default:
		return all(t, a[0], a[1], false, is_plain) ||
		       may_end_writing(t, rule, a, is_file_data);
	}
}

/* The heap's end has not moved, or to where it was to be. There is nothing else on the way. */
static bool is_heap_end(const struct lz_tracer *t, const struct lz_call_record *r)
{
	const uint64_t end = (uint64_t)r->result;
	const size_t next = lz_vmas_from(&t->vmas, lz_page_up(t->brk));

	if (end == t->brk)
		return true;
	return end == r->args[0] && end && end >= lz_heap_start(t) && end < ADDRESS_END &&
	       (next == t->vmas.n || t->vmas.a[next].v.start >= lz_page_up(end)) &&
	       !lz_own_pages_touch(t, lz_page_up(t->brk), lz_page_up(end));
}

static bool can_be(const struct lz_tracer *t, uint8_t rule, const struct lz_call_record *r)
{
	const bool failed = r->result < 0 && r->result > -4096;

	switch (rule) {
	/* of what has been mapped there a call that failed may have been the end */
	case LZ_RULE_MMAP:
		return failed || all(t, (uint64_t)r->result, r->args[1], true,
		                     lz_maps_at_once(r->args) ? may_be_replaced : may_go);
	case LZ_RULE_MUNMAP: return may_unmap(t, r->args, was_file_data);
	default:
		return all(t, r->args[0], r->args[1], false, is_plain) ||
		       may_end_writing(t, rule, r->args, was_file_data);
	}
}

int lz_fast_check_map(struct lz_tracer *t, const struct lz_call_record *r)
{
	const uint8_t rule = lz_fast_rule(r->nr);

	if (!t->fast.late.on) {
		t->fast.late.on = true;
		t->fast.mapped_fd.known = false;
		t->fast.late.start = UINT64_MAX;
		t->fast.late.end = 0;
	}
	if (rule == LZ_RULE_BRK)
		return lz_allows_brk(r->args) && is_heap_end(t, r)
		           ? 0
		           : lz_fast_broken("the heap's end");
	return lz_fast_allows(rule, r->args) && can_be(t, rule, r) ? 0
	                                                           : lz_fast_broken("a mapping");
}

/* All of it is as it is told now. */
void lz_fast_track(struct lz_tracer *t)
{
	const uint64_t start = t->fast.late.start, end = t->fast.late.end;

	if (!t->fast.late.on)
		return;
	t->fast.late.on = false;
	if (start >= end)
		return;
	lz_pages_track(t, start, end);
	lz_vmas_join(&t->vmas, start, end);
}

/* ---- calls that waited until the tracer was told of mappings ---- */

void lz_fast_maps_stopped(struct lz_tracer *t, bool went)
{
	t->fast.was_put_off = t->fast.page->put_off && went;
	t->fast.page->put_off = 0;
}

int lz_fast_make_again(struct lz_tracer *t, const struct user_regs_struct *r)
{
	const struct lz_site *x = lz_site_at(&t->fast.sites, r->rip);
	struct lz_proc plain = t->p;

	if (!t->fast.was_put_off || !x || x->given_back || t->fast.ended || t->exec_pending ||
	    t->cur->call.suspended || !lz_signal_none_due(t->cur))
		return 0;
	/* the jump itself, not what is in its place */
	plain.elsewhere = NULL;
	t->cur->fast = true;
	return lz_proc_set_regs(&plain, r) < 0 ? -1 : 1;
}
