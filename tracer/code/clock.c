/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clocks without the kernel. Where a program reads them often, its threads may read the processor's
 * counter: then the stub can do an rdtsc by itself, and can tell the time as the kernel's vDSO does. What
 * traps no more is known before: no code has an rdtsc that is not a site. That is looked at again
 * whenever code has been mapped or a site has gone. */
#include "tracer/code/code.h"
#include "tracer/memory/memory.h"
#include "tracer/state/state.h"

#include <common/base/cleanup.h>
#include <common/process/clock_code.h>
#include <common/process/detour.h>
#include <common/process/vdso.h>
#include <gelf.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <lizard/widen.h>
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

static bool has_counter(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i + LZ_CALL_INSN <= n; i++)
		if (code[i] == 0x0f && (code[i + 1] == 0x31 || code[i + 1] == 0x01))
			return true;
	return false;
}

/* The markers' adds are as they are in the file. */
static void narrow(const struct lz_tracer *t, uint64_t from, uint8_t *code, size_t n)
{
	const struct lz_places *adds = &t->armed.at[LZ_ARMED_ADD];

	for (size_t i = 0; i < adds->n; i++)
		if (adds->at[i] - from < n && code[adds->at[i] - from] == LZ_ADD_WIDE)
			code[adds->at[i] - from] = LZ_ADD_NARROW;
}

/* What the file has is known; a page that has become another must have nothing like it. */
static int look_at_page(void *arg, uint64_t addr)
{
	enum { MARGIN = LZ_RDTSCP_INSN - 1 };
	struct lz_tracer *t = arg;
	uint8_t code[MARGIN + LZ_PAGE + MARGIN] = {0}, in_file[sizeof(code)] = {0};
	const uint64_t from = addr - (addr > own.v->start ? MARGIN : 0);
	const uint64_t left = own.v->end - from;
	const size_t n =
	    lz_proc_read_some(&t->p, from, code, left < sizeof(code) ? left : sizeof(code));

	lz_sites_show_some(&t->fast.sites, from, code, n);
	const uint64_t offset = from - own.v->start + own.v->offset;
	lz_insn_disarm(code, n, own.file, offset);
	narrow(t, from, code, n);
	const ssize_t got = pread(own.file, in_file, n, (off_t)offset);
	if (got < 0 || (memcmp(code, in_file, n) != 0 && has_counter(code, n)))
		own.known = false;
	return 0;
}

/* Only there have all of them been sought. */
static bool is_in_segment(int file, uint64_t from, uint64_t end)
{
	bool is = false;
	GElf_Phdr ph;
	size_t n = 0;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
	if (elf)
		elf_getphdrnum(elf, &n);
	for (size_t i = 0; !is && i < n; i++)
		is = gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X &&
		     from >= lz_page_down(ph.p_offset) &&
		     end <= lz_page_up(ph.p_offset + ph.p_filesz);
	elf_end(elf);
	return is;
}

static int is_file_known(struct lz_tracer *t, const struct lz_vma *v)
{
	lz_auto_close int fd = lz_writer_file_open(t->w, v->file);

	if (fd < 0 || !is_in_segment(fd, v->offset, v->offset + (v->end - v->start)))
		return 0;
	own = (struct own_pages){.v = v, .file = fd, .known = true};
	if (lz_dirty_each_own(t, v->start, v->end, look_at_page) < 0)
		return -1;
	return own.known;
}

/* Is it the recorder's, as it was? */
static bool is_our_vdso(const struct lz_tracer *t, const struct lz_vma *v)
{
	uint8_t page[LZ_PAGE];

	if (v->prot & PROT_WRITE || !lz_vdso_was(&t->p, v) ||
	    lz_proc_read(&t->p, v->start, page, sizeof(page)) < 0)
		return false;
	lz_sites_show(&t->fast.sites, v->start, page);
	return memcmp(page, lz_vdso_image, sizeof(page)) == 0;
}

/* Has V no rdtsc but sites? 1, 0, -1. */
static int is_known(struct lz_tracer *t, const struct lz_vma *v)
{
	if (!(v->prot & PROT_EXEC) || is_our_vdso(t, v))
		return 1;
	if (v->prot & PROT_WRITE || v->flags & MAP_SHARED || v->file == LZ_NO_FILE)
		return 0;
	int ret = take_all(t, v, LZ_INSNS_RDTSC);
	if (ret == 1)
		ret = take_all(t, v, LZ_INSNS_RDTSCP);
	return ret == 1 ? is_file_known(t, v) : ret;
}

static int is_all_known(struct lz_tracer *t)
{
	struct lz_fast_clock *c = &t->fast.clock;
	const bool all_again = c->n_gone != t->fast.sites.n_gone;

	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_area *a = &t->vmas.a[i];

		if (a->counters && !all_again)
			continue;
		const int ret = is_known(t, &a->v);
		a->counters = ret == 1;
		if (ret == 0)
			lz_debug("rdtsc is not known in the code at %#" PRIx64, a->v.start);
		if (ret <= 0)
			return ret;
	}
	c->n_code = t->vmas.changes_of_code;
	c->n_gone = t->fast.sites.n_gone;
	return 1;
}

static int is_still_known(struct lz_tracer *t)
{
	const struct lz_fast_clock *c = &t->fast.clock;

	return c->n_gone == t->fast.sites.n_gone && c->n_code == t->vmas.changes_of_code
	           ? 1
	           : is_all_known(t);
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
	page->open = c->was_open = t->cur->counter_open;
	c->tid = t->cur->tid;
	return 0;
}

/* Another thread may have stopped than the one that went on last. */
void lz_clock_stopped(struct lz_tracer *t)
{
	struct lz_fast_clock *c = &t->fast.clock;

	if (c->was_open || !t->fast.page->open)
		return;
	struct lz_thread *th = lz_thread_find(t, (pid_t)c->tid);
	if (th)
		th->counter_open = true;
	c->was_open = true;
	lz_counter_allow(true);
}

/* It is not used before it has been worth it once more. */
static void stop_using(struct lz_fast *f)
{
	f->clock.function = 0;
	/* who is on standby may still read it */
	if (f->page)
		f->page->may_hand = 0;
	f->clock.due = n_readings(f) + WORTH_IT;
}

void lz_clock_never(struct lz_tracer *t)
{
	stop_using(&t->fast);
	t->fast.clock.never = true;
}

void lz_clock_written(struct lz_tracer *t, uint64_t from, uint64_t to)
{
	for (size_t i = lz_vmas_from(&t->vmas, from); i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;

		if (v->start >= to)
			break;
		if (v->prot & PROT_EXEC)
			lz_clock_never(t);
	}
}

void lz_clock_file_written(struct lz_tracer *t, uint32_t object)
{
	for (size_t i = 0; i < t->vmas.n; i++)
		if (t->vmas.a[i].object == object && t->vmas.a[i].v.prot & PROT_EXEC)
			lz_clock_never(t);
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
