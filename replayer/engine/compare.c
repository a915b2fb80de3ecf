/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A re-executed process against a checkpoint: registers and memory. */
#include "replayer/engine/inside.h"
#include <common/process/own_pages.h>
#include <lizard/error.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reg_name {
	const char *name;
	size_t at;
};
#define REG(r)                                                                                     \
	{                                                                                          \
#r, offsetof(struct user_regs_struct, r)                                           \
	}
static const struct reg_name reg_names[] = {
    REG(rax), REG(rbx),     REG(rcx),     REG(rdx), REG(rsi),   REG(rdi), REG(rbp),
    REG(rsp), REG(r8),      REG(r9),      REG(r10), REG(r11),   REG(r12), REG(r13),
    REG(r14), REG(r15),     REG(rip),     REG(cs),  REG(ss),    REG(ds),  REG(es),
    REG(fs),  REG(fs_base), REG(gs_base), REG(gs),  REG(eflags)};

static uint64_t reg_at(const struct user_regs_struct *r, size_t i)
{
	uint64_t v;

	memcpy(&v, (const char *)r + reg_names[i].at, sizeof v);
	return reg_names[i].at == offsetof(struct user_regs_struct, eflags)
	           ? v & ~(uint64_t)LZ_FLAG_RF
	           : v;
}

static const struct reg_name *first_difference(const struct user_regs_struct *a,
                                               const struct user_regs_struct *b, size_t *i)
{
	for (*i = 0; *i < sizeof reg_names / sizeof *reg_names; ++*i)
		if (reg_at(a, *i) != reg_at(b, *i))
			return &reg_names[*i];
	return NULL;
}

bool lz_regs_equal(const struct user_regs_struct *a, const struct user_regs_struct *b)
{
	size_t i;

	return !first_difference(a, b, &i);
}

bool lz_regs_difference(const struct user_regs_struct *now, const struct user_regs_struct *recorded,
                        char *what, size_t room)
{
	size_t i;
	const struct reg_name *d = first_difference(now, recorded, &i);

	if (d)
		snprintf(what, room, "register %s is %#" PRIx64 ", recorded was %#" PRIx64, d->name,
		         reg_at(now, i), reg_at(recorded, i));
	return d != NULL;
}

static int differ(char **what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int differ(char **what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(what, fmt, ap) < 0)
		*what = NULL;
	va_end(ap);
	return 1;
}

/* Component states only: header and the bytes kept for software say nothing about the program. */
static int compare_xstate(const uint8_t *now, uint32_t len, const struct lz_thread_state *t,
                          char **what)
{
	if (!t->xstate_len)
		return 0;
	if (len > t->xstate_len)
		len = t->xstate_len;
	for (uint32_t i = 0; i < len; i++) {
		if ((i >= 464 && i < 576) || now[i] == t->xstate[i])
			continue;
		return differ(what,
		              "vector registers: byte %u of the XSAVE area is %#x, recorded "
		              "was %#x",
		              i, now[i], t->xstate[i]);
	}
	return 0;
}

static int compare_running(struct lz_engine *e, const struct lz_thread_state *t, char **what)
{
	uint8_t now[LZ_XSTATE_MAX];
	uint32_t len = sizeof now;
	char text[128];

	if (lz_regs_difference(lz_engine_regs(e), &t->regs, text, sizeof text))
		return differ(what, "%s", text);
	if (e->marker != t->marker)
		return differ(what,
		              "%" PRIu64 " bytes of markers are written, recorded were %" PRIu64,
		              e->marker, t->marker);
	if (lz_proc_xstate(&e->proc, now, &len) < 0)
		return -1;
	return compare_xstate(now, len, t, what);
}

/* r15 is given anew at the next switch; for rax see check_regs() in engine_threads.c. */
static int compare_waiting(const struct lz_context *now, const struct lz_thread_state *t,
                           char **what)
{
	struct user_regs_struct regs = now->regs;
	char text[128];

	regs.r15 = t->regs.r15;
	if (now->in_call)
		regs.rax = t->regs.rax;
	if (now->in_call != !!(t->flags & LZ_THREAD_IN_CALL))
		return differ(what, "thread %u is %sinside a system call, recorded was that it %s",
		              t->tid, now->in_call ? "" : "not ", now->in_call ? "was not" : "was");
	if (lz_regs_difference(&regs, &t->regs, text, sizeof text))
		return differ(what, "thread %u: %s", t->tid, text);
	return now->xstate ? compare_xstate(now->xstate, now->xstate_len, t, what) : 0;
}

static int compare_threads(struct lz_engine *e, const struct lz_checkpoint *ck, char **what)
{
	int ret = 0;

	if (ck->n_threads != e->threads.n || ck->threads[0].tid != lz_engine_tid(e))
		return differ(what, "%u threads are there and %u runs, recorded were %u and %u",
		              e->threads.n, lz_engine_tid(e), ck->n_threads, ck->threads[0].tid);
	for (uint32_t i = 0; i < ck->n_threads && !ret; i++) {
		const struct lz_thread_state *t = &ck->threads[i];
		const struct lz_context *now = lz_contexts_find(&e->threads, t->tid);
		if (!now)
			return differ(what, "there is no thread %u, recorded was one", t->tid);
		ret = i ? compare_waiting(now, t, what) : compare_running(e, t, what);
	}
	return ret;
}

/* ---- pages ---- */

struct page_check {
	struct lz_engine *e;
	bool followed; /* the stack, which grows by itself */
	uint64_t pages;
	char **what;
};

static int page_differs(struct page_check *c, uint64_t addr, const uint8_t *now,
                        const uint8_t *want)
{
	size_t i = 0;

	while (now[i] == want[i])
		i++;
	c->e->miss.addr = addr + i;
	c->e->miss.want = want[i];
	return differ(c->what, "memory at %#" PRIx64 " holds %#x, recorded was %#x", addr + i,
	              now[i], want[i]);
}

static bool skipped(struct page_check *c, uint64_t addr)
{
	const struct lz_vma *v = lz_space_find(&c->e->space, addr);

	if (!v && !c->followed)
		v = lz_engine_mapping(c->e, addr);
	c->followed |= !v;
	return !v || v->role == LZ_VMA_BUFFER;
}

static int compare_page(struct page_check *c, uint64_t addr, const uint8_t *want)
{
	uint8_t now[LZ_PAGE];

	if (lz_engine_read(c->e, addr, now, sizeof now) != sizeof now)
		return differ(c->what, "memory at %#" PRIx64 " is not mapped", addr);
	return memcmp(now, want, sizeof now) ? page_differs(c, addr, now, want) : 0;
}

static int check_page(void *arg, uint64_t addr, const uint8_t *want)
{
	struct page_check *c = arg;

	if (skipped(c, addr))
		return 0;
	c->pages++;
	return compare_page(c, addr, want);
}

/* What the page is made of as long as nobody writes to it. */
static int backing(struct lz_engine *e, const struct lz_vma *v, uint64_t addr, uint8_t *page)
{
	struct lz_reader *r = e->rp->reader;
	memset(page, 0, LZ_PAGE);
	if (v->file == LZ_NO_FILE || v->file >= lz_reader_n_files(r))
		return 0;
	char *copy = lz_reader_copy(r, v->file);
	int fd = copy ? open(copy, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : pread(fd, page, LZ_PAGE, (off_t)(v->offset + (addr - v->start)));
	int ret = n < 0 && copy ? lz_fail_errno("cannot read %s", copy) : n < 0 ? -1 : 0;

	if (fd >= 0)
		close(fd);
	free(copy);
	return ret;
}

/* A page that replay made private, where the checkpoint says nobody changed it. It does not count:
 * which ones there are depends on what replay itself has changed. */
static int check_unlisted(void *arg, uint64_t addr)
{
	struct page_check *c = arg;
	const struct lz_vma *v = lz_space_find(&c->e->space, addr);
	uint8_t want[LZ_PAGE];

	/* a forged mapping may have any number of pages */
	if (c->e->rp->interrupted)
		return lz_fail("interrupted");
	if (!v || lz_image_page(c->e->rp->image, addr) || lz_vma_follows(v))
		return 0;
	if (backing(c->e, v, addr, want) < 0)
		return -1;
	return skipped(c, addr) ? 0 : compare_page(c, addr, want);
}

static int check_whole(struct page_check *c)
{
	struct lz_engine *e = c->e;
	char path[64];
	int ret = lz_image_each(e->rp->image, check_page, c);

	if (ret)
		return ret;
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)e->proc.pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return lz_fail_errno("cannot open %s", path);
	for (uint32_t i = 0; !ret && i < e->space.n; i++) {
		const struct lz_vma *v = &e->space.vmas[i];
		if (v->role != LZ_VMA_BUFFER)
			ret = lz_own_pages(fd, v->start, v->end, &e->rp->interrupted,
			                   check_unlisted, c);
	}
	close(fd);
	return ret;
}

static int check_dirty(struct page_check *c, const struct lz_checkpoint *ck)
{
	static const uint8_t zeroes[LZ_PAGE];

	for (uint32_t i = 0; i < ck->n_dirty; i++) {
		const uint8_t *want = lz_image_page(c->e->rp->image, ck->dirty[i]);
		const struct lz_vma *v = lz_space_find(&c->e->space, ck->dirty[i]);
		if (!want && (!v || v->file != LZ_NO_FILE || lz_vma_follows(v)))
			continue;
		int ret = check_page(c, ck->dirty[i], want ? want : zeroes);
		if (ret)
			return ret;
	}
	return 0;
}

int lz_engine_compare(struct lz_engine *e, uint32_t index, bool whole, uint64_t *pages, char **what)
{
	struct lz_reader *r = e->rp->reader;
	const struct lz_checkpoint *ck = lz_reader_checkpoint(r, index);
	struct page_check c = {.e = e, .what = what};

	if (!ck || !ck->n_threads || lz_image_seek(e->rp->image, index) < 0)
		return ck ? -1 : lz_fail_in("checkpoint %u", index);
	e->miss.addr = 0;
	int ret = compare_threads(e, ck, what);
	if (!ret)
		ret = whole ? check_whole(&c) : check_dirty(&c, ck);
	*pages += c.pages;
	return ret;
}
