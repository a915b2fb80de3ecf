/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clocks without the kernel. Where a program reads them often, its threads may read the processor's
 * counter: then the stub can do an rdtsc by itself, and can tell the time as the kernel's vDSO does. What
 * traps no more is known before: no code has an rdtsc that is not a site. That is looked at again
 * whenever code has been mapped or a site has gone. */
#include "tracer/code/code.h"
#include "tracer/memory/memory.h"

#include <common/base/cleanup.h>
#include <common/process/clock_code.h>
#include <common/process/detour.h>
#include <common/process/vdso.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Readings that cost about as much as it takes to begin. */
enum { WORTH_IT = 16384 };

static uint64_t n_readings(const struct lz_fast *f)
{
	return f->n_of[SYS_clock_gettime] + f->n_of[SYS_gettimeofday] + f->n_of[SYS_time] +
	       f->n_rdtsc + f->n_rdtscp;
}

/* ---- code ---- */

/* All of it, in one number. */
static uint64_t code_mapped(const struct lz_tracer *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		const uint64_t all[] = {v->start, v->end, v->file, v->offset, v->prot, v->flags};

		for (size_t k = 0; v->prot & PROT_EXEC && k < sizeof(all) / sizeof(*all); k++)
			sum = (sum ^ all[k]) * 0x9e3779b97f4a7c15 >> 1 ^ sum << 7;
	}
	return sum;
}

/* The sites that are known of a mapping V become sites of the program, or fault. */
static int take_all(struct lz_tracer *t, const struct lz_vma *v, enum lz_insns_kind kind)
{
	const uint8_t len = kind == LZ_INSNS_RDTSCP ? LZ_RDTSCP_INSN : LZ_CALL_INSN;
	const uint64_t *sites;
	size_t n;

	if (lz_writer_file_insns(t->w, v->file, kind, &sites, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		const uint64_t offset = sites[i] - 1, at = v->start + (offset - v->offset);

		if (offset < v->offset || offset - v->offset >= v->end - v->start ||
		    lz_site_at(&t->fast.sites, at))
			continue;
		const int ret = lz_site_fault(&t->fast.sites, &t->p, at, len);
		if (ret <= 0)
			return ret;
	}
	return 1;
}

/* Pages of a mapping that are not its file's any more. */
static struct own_pages {
	const struct lz_vma *v;
	int file;
	bool known;
} own;

static bool has_counter(const uint8_t *code)
{
	return code[0] == 0x0f && (code[1] == 0x31 || (code[1] == 0x01 && code[2] == 0xf9));
}

/* What the file has is known of that. */
static bool is_of_file(const uint8_t *code, uint64_t at)
{
	uint8_t in_file[LZ_RDTSCP_INSN] = {0};

	return pread(own.file, in_file, sizeof(in_file),
	             (off_t)(at - own.v->start + own.v->offset)) >= LZ_CALL_INSN &&
	       has_counter(in_file) && code[1] == in_file[1];
}

static int look_at_page(void *arg, uint64_t addr)
{
	enum { MARGIN = LZ_RDTSCP_INSN - 1 };
	struct lz_tracer *t = arg;
	uint8_t code[MARGIN + LZ_PAGE + MARGIN + 1] = {0};
	const uint64_t from = addr - (addr > own.v->start ? MARGIN : 0);
	const uint64_t most = MARGIN + LZ_PAGE + MARGIN;
	const size_t n = lz_proc_read_some(&t->p, from, code,
	                                   own.v->end - from < most ? own.v->end - from : most);

	lz_sites_show_some(&t->fast.sites, from, code, n);
	for (size_t i = 0; i + LZ_CALL_INSN <= n; i++)
		if (has_counter(code + i) && !is_of_file(code + i, from + i))
			own.known = false;
	return 0;
}

static int is_own_known(struct lz_tracer *t, const struct lz_vma *v)
{
	lz_auto_close int fd = lz_writer_file_open(t->w, v->file);

	own = (struct own_pages){.v = v, .file = fd, .known = fd >= 0};
	if (fd >= 0 && lz_dirty_each_own(t, v->start, v->end, look_at_page) < 0)
		return -1;
	return own.known;
}

/* Has V no rdtsc but sites? 1, 0, -1. */
static int is_known(struct lz_tracer *t, const struct lz_vma *v)
{
	if (!(v->prot & PROT_EXEC) || lz_vdso_was(&t->p, v))
		return 1;
	if (v->prot & PROT_WRITE || v->flags & MAP_SHARED || v->file == LZ_NO_FILE)
		return 0;
	int ret = take_all(t, v, LZ_INSNS_RDTSC);
	if (ret == 1)
		ret = take_all(t, v, LZ_INSNS_RDTSCP);
	return ret == 1 ? is_own_known(t, v) : ret;
}

static int is_all_known(struct lz_tracer *t)
{
	struct lz_fast_clock *c = &t->fast.clock;

	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		const int ret = is_known(t, v);

		if (ret == 0)
			lz_debug("rdtsc is not known in the code at %#" PRIx64, v->start);
		if (ret <= 0)
			return ret;
	}
	c->n_changes = t->vmas.changes;
	c->n_gone = t->fast.sites.n_gone;
	c->code = code_mapped(t);
	return 1;
}

static int is_still_known(struct lz_tracer *t)
{
	struct lz_fast_clock *c = &t->fast.clock;

	if (c->n_gone == t->fast.sites.n_gone) {
		if (c->n_changes == t->vmas.changes)
			return 1;
		c->n_changes = t->vmas.changes;
		if (c->code == code_mapped(t))
			return 1;
	}
	return is_all_known(t);
}

/* ---- the kernel's code ---- */

static int find_data(void *arg, const struct lz_maps_entry *e)
{
	const uint64_t *at = arg;

	return e->start == *at && strncmp(e->path, "[vvar", 5) == 0;
}

/* 1; 0: it cannot be had. */
static int put_function(struct lz_tracer *t)
{
	const struct lz_clock_code *code = lz_clock_code();
	uint64_t data = t->meta.stub_addr + LZ_STUB_CLOCK;

	if (!code || LZ_STUB_CLOCK + code->behind + code->len > LZ_STUB_LEN)
		return 0;
	const int found = lz_proc_maps(t->p.pid, find_data, &data);
	if (found <= 0)
		return found;
	t->fast.sites.clock = data + code->behind;
	t->fast.sites.clock_len = code->len;
	t->fast.clock.function = data + code->behind + code->entry;
	return lz_proc_write(&t->p, data + code->behind, code->code, code->len) < 0 ? -1 : 1;
}

/* ---- threads ---- */

static int begin(struct lz_tracer *t)
{
	struct lz_fast_clock *c = &t->fast.clock;
	int ret = is_all_known(t);

	if (ret == 1)
		ret = put_function(t);
	if (ret == 1)
		lz_debug("the clocks are read without the kernel");
	c->never = ret != 1;
	return ret < 0 ? -1 : 0;
}

int lz_clock_resume(struct lz_tracer *t)
{
	struct lz_fast_clock *c = &t->fast.clock;
	struct lz_call_page *page = t->fast.page;

	if (!c->due)
		c->due = WORTH_IT;
	if (!c->function && !c->never && n_readings(&t->fast) >= c->due && lz_counter_scale(t) &&
	    begin(t) < 0)
		return -1;
	page->clock = c->function;
	page->open = t->cur->counter_open;
	return 0;
}

void lz_clock_stopped(struct lz_tracer *t)
{
	if (t->cur->counter_open || !t->fast.page->open)
		return;
	t->cur->counter_open = true;
	lz_counter_allow(true);
}

/* It is not used before it has been worth it once more. */
static void stop_using(struct lz_fast *f)
{
	f->clock.function = 0;
	f->clock.due = n_readings(f) + WORTH_IT;
}

void lz_clock_never(struct lz_tracer *t)
{
	stop_using(&t->fast);
	t->fast.clock.never = true;
}

int lz_clock_settle(struct lz_tracer *t, bool may_call)
{
	struct lz_thread *cur = t->cur;
	int64_t ret;

	if (t->fast.clock.function) {
		const int known = is_still_known(t);

		if (known < 0)
			return -1;
		if (!known)
			stop_using(&t->fast);
	}
	if (!cur->counter_open || t->fast.clock.function || !may_call || cur->call.inside ||
	    cur->call.suspended)
		return 0;
	cur->counter_open = false;
	lz_counter_allow(false);
	return lz_proc_syscall(&t->p, &ret, SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0, 0);
}
