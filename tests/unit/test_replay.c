/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pure parts of replay, and the stub process. */
#include "tests/unit/suite.h"
#include "replayer/engine/inside.h"
#include "restorer/share.h"
#include <check.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { SLOTS = 64 };

/* The address space as an array of pages: what the list must say. */
struct model {
	struct {
		bool mapped;
		uint32_t prot, file, flags;
		uint64_t offset;
	} page[SLOTS];
};

static uint64_t addr_of(unsigned i)
{
	return 0x100000 + (uint64_t)i * LZ_PAGE;
}

static bool has_offset(uint32_t file, uint32_t flags)
{
	return file != LZ_NO_FILE || flags >> LZ_OBJECT_SHIFT;
}

static void model_apply(struct model *m, const struct lz_map_op *op)
{
	unsigned first = (unsigned)((op->addr - addr_of(0)) / LZ_PAGE),
	         n = (unsigned)(op->len / LZ_PAGE);
	struct model old = *m;

	if (op->op == LZ_REMAP) {
		unsigned from = (unsigned)((op->old_addr - addr_of(0)) / LZ_PAGE);
		unsigned was = (unsigned)(op->old_len / LZ_PAGE);
		for (unsigned i = 0; i < was; i++)
			memset(&m->page[from + i], 0, sizeof m->page[0]);
		for (unsigned i = 0; i < n; i++) {
			m->page[first + i] = old.page[from];
			if (has_offset(old.page[from].file, old.page[from].flags))
				m->page[first + i].offset += (uint64_t)i * LZ_PAGE;
		}
		return;
	}
	for (unsigned i = first; i < first + n; i++) {
		if (op->op == LZ_UNMAP)
			memset(&m->page[i], 0, sizeof m->page[i]);
		if (op->op == LZ_PROTECT && m->page[i].mapped)
			m->page[i].prot = op->prot;
		if (op->op != LZ_MAP)
			continue;
		m->page[i].mapped = true;
		m->page[i].prot = op->prot;
		m->page[i].file = op->file;
		m->page[i].flags = op->flags;
		m->page[i].offset = op->offset;
		if (has_offset(op->file, op->flags))
			m->page[i].offset += (uint64_t)(i - first) * LZ_PAGE;
	}
}

static void compare(const struct model *m, const struct lz_space *s)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const struct lz_vma *v = lz_space_find(s, addr_of(i) + 17);
		ck_assert_int_eq(v != NULL, m->page[i].mapped);
		if (!v)
			continue;
		ck_assert_uint_eq(v->prot, m->page[i].prot);
		ck_assert_uint_eq(v->file, m->page[i].file);
		ck_assert_uint_eq(v->flags, m->page[i].flags);
		if (lz_vma_has_offset(v))
			ck_assert_uint_eq(v->offset + (addr_of(i) - v->start), m->page[i].offset);
	}
	for (uint32_t i = 1; i < s->n; i++)
		ck_assert_uint_le(s->vmas[i - 1].end, s->vmas[i].start);
}

static bool one_mapping(const struct model *m, unsigned from, unsigned n)
{
	for (unsigned i = from; i < from + n; i++)
		if (!m->page[i].mapped || m->page[i].file != m->page[from].file ||
		    m->page[i].prot != m->page[from].prot ||
		    m->page[i].flags != m->page[from].flags ||
		    (has_offset(m->page[i].file, m->page[i].flags) &&
		     m->page[i].offset != m->page[from].offset + (uint64_t)(i - from) * LZ_PAGE))
			return false;
	return true;
}

START_TEST(space_is_what_the_pages_say)
{
	struct lz_space s;
	struct model m = {0};

	srand((unsigned)_i + 1);
	ck_assert_int_eq(lz_space_copy(&s, NULL, 0), 0);
	for (int k = 0; k < 400; k++) {
		unsigned first = (unsigned)rand() % SLOTS,
		         n = 1 + (unsigned)rand() % (SLOTS - first);
		struct lz_map_op op = {.op = (uint8_t)(LZ_MAP + rand() % 4),
		                       .addr = addr_of(first),
		                       .len = (uint64_t)n * LZ_PAGE,
		                       .prot = (uint32_t)rand() % 8,
		                       .file = rand() % 2 ? LZ_NO_FILE : (uint32_t)rand() % 3,
		                       .offset = (uint64_t)(rand() % 9) * LZ_PAGE};
		if (op.file == LZ_NO_FILE)
			op.flags = MAP_SHARED | (uint32_t)(rand() % 3) << LZ_OBJECT_SHIFT;
		if (op.op == LZ_REMAP) {
			unsigned from = (unsigned)rand() % SLOTS, was = 1 + (unsigned)rand() % 4;
			if (from + was > SLOTS || !one_mapping(&m, from, was))
				continue;
			op.old_addr = addr_of(from);
			op.old_len = (uint64_t)was * LZ_PAGE;
		}
		ck_assert_int_eq(lz_space_apply(&s, &op), 0);
		model_apply(&m, &op);
		compare(&m, &s);
	}
	lz_space_free(&s);
}
END_TEST

START_TEST(remap_of_nothing_is_an_error)
{
	struct lz_space s = {0};
	struct lz_map_op op = {.op = LZ_REMAP,
	                       .addr = 0x10000,
	                       .len = LZ_PAGE,
	                       .old_addr = 0x20000,
	                       .old_len = LZ_PAGE};

	ck_assert_int_eq(lz_space_apply(&s, &op), -1);
}
END_TEST

#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

START_TEST(string_instructions)
{
	ck_assert_uint_eq(lz_insn_rep(CODE(0xf3, 0xa4)), 2);
	ck_assert_uint_eq(lz_insn_rep(CODE(0xf3, 0x48, 0xab)), 3);
	ck_assert_uint_eq(lz_insn_rep(CODE(0xf2, 0xae, 0x90)), 2);
	ck_assert_uint_eq(lz_insn_rep(CODE(0x66, 0xf3, 0xa5)), 3);
	ck_assert_uint_eq(lz_insn_rep(CODE(0xa4)), 0);
	ck_assert_uint_eq(lz_insn_rep(CODE(0xf3, 0x90)), 0);             /* pause */
	ck_assert_uint_eq(lz_insn_rep(CODE(0xf3, 0x0f, 0x10, 0x07)), 0); /* movss */
	ck_assert_uint_eq(lz_insn_rep(CODE(0xf3)), 0);
	ck_assert(lz_insn_pushf(CODE(0x9c)));
	ck_assert(lz_insn_pushf(CODE(0x66, 0x9c)));
	ck_assert(!lz_insn_pushf(CODE(0x9d)));
}
END_TEST

/* Between two iterations: the one before was at the address below, or above when going down. */
START_TEST(touched_by_rep)
{
	struct user_regs_struct r = {.rcx = 3, .rdi = 0x2008, .rsi = 0x3008, .fs_base = 0x100000};
#define TOUCHED(addr, n, ...) lz_insn_rep_touched(CODE(__VA_ARGS__), &r, addr, n)

	ck_assert(TOUCHED(0x2000, 8, 0xf3, 0x48, 0xab)); /* stosq */
	ck_assert(TOUCHED(0x2007, 1, 0xf3, 0x48, 0xab));
	ck_assert(TOUCHED(0x1ff9, 8, 0xf3, 0x48, 0xab));
	ck_assert(!TOUCHED(0x2008, 8, 0xf3, 0x48, 0xab));
	ck_assert(!TOUCHED(0x1ff8, 8, 0xf3, 0x48, 0xab));
	ck_assert(TOUCHED(0x2007, 1, 0xf3, 0xaa)); /* stosb */
	ck_assert(!TOUCHED(0x2006, 1, 0xf3, 0xaa));
	ck_assert(TOUCHED(0x2006, 1, 0xf3, 0x66, 0xab)); /* stosw */
	ck_assert(!TOUCHED(0x2005, 1, 0xf3, 0x66, 0xab));
	ck_assert(TOUCHED(0x2004, 1, 0xf3, 0xab)); /* stosd */
	ck_assert(!TOUCHED(0x2003, 1, 0xf3, 0xab));
	ck_assert(!TOUCHED(0x3007, 1, 0xf3, 0xaa)); /* it does not read */
	ck_assert(TOUCHED(0x3007, 1, 0xf3, 0xac));  /* lodsb */
	ck_assert(!TOUCHED(0x2007, 1, 0xf3, 0xac));
	ck_assert(TOUCHED(0x3007, 1, 0xf3, 0xa4)); /* movsb */
	ck_assert(TOUCHED(0x2007, 1, 0xf3, 0xa4));
	ck_assert(TOUCHED(0x103007, 1, 0x64, 0xf3, 0xa4)); /* from %fs */
	ck_assert(!TOUCHED(0x3007, 1, 0x64, 0xf3, 0xa4));
	ck_assert(TOUCHED(0x2007, 1, 0xf2, 0xae)); /* scasb */
	ck_assert(!TOUCHED(0x3007, 1, 0xf2, 0xae));
	ck_assert(!TOUCHED(0x2007, 1, 0xaa)); /* no rep */
	r.eflags = 1 << 10;
	ck_assert(TOUCHED(0x2009, 1, 0xf3, 0xaa));
	ck_assert(!TOUCHED(0x2007, 1, 0xf3, 0xaa));
	r.eflags = 0;
	r.rdi += 1ULL << 32;
	ck_assert(TOUCHED(0x2007, 1, 0x67, 0xf3, 0xaa)); /* 32-bit addresses */
	r.rcx = 0;
	ck_assert(!TOUCHED(0x2007, 1, 0x67, 0xf3, 0xaa)); /* it was the last one */
#undef TOUCHED
}
END_TEST

START_TEST(marker_stores)
{
	int32_t disp = -1;

	ck_assert_uint_eq(lz_insn_r15_store(CODE(0x41, 0xc6, 0x07, 0x05), &disp), 1);
	ck_assert_int_eq(disp, 0);
	ck_assert_uint_eq(lz_insn_r15_store(CODE(0x41, 0xc7, 0x47, 0x01, 1, 2, 3, 4), &disp), 4);
	ck_assert_int_eq(disp, 1);
	ck_assert_uint_eq(lz_insn_r15_store(CODE(0x66, 0x41, 0xc7, 0x47, 0x01, 1, 2), &disp), 2);
	ck_assert_uint_eq(lz_insn_r15_store(CODE(0x45, 0x89, 0x5f, 0x05), &disp), 4);
	ck_assert_int_eq(disp, 5);
	ck_assert_uint_eq(lz_insn_r15_store(CODE(0xc6, 0x07, 0x05), &disp), 0);
	ck_assert_uint_eq(lz_insn_r15_store(CODE(0x41, 0xc6, 0x06, 0x05), &disp), 0); /* r14 */
	ck_assert_uint_eq(lz_insn_r15_store(CODE(0x41, 0xc6), &disp), 0);
}
END_TEST

START_TEST(features)
{
	char out[64];

	ck_assert_uint_eq(
	    lz_features_missing("fpu sse2 avx2", "fpu sse2 avx2 avx512f", out, sizeof out), 0);
	ck_assert_str_eq(out, "");
	ck_assert_uint_eq(lz_features_missing("sse2 avx2 avx512f", "avx sse2", out, sizeof out), 2);
	ck_assert_str_eq(out, "avx2 avx512f");
	/* the kernel's own words are nobody's loss */
	ck_assert_uint_eq(lz_features_missing("rep_good ibrs", "", out, sizeof out), 0);
	ck_assert_uint_eq(lz_features_missing("avx512f avx512cd", "", out, 10), 2);
	ck_assert_str_eq(out, "avx512f");
}
END_TEST

static int count_others(void *arg, const struct lz_maps_entry *e)
{
	if (!(e->start >> 63) && (e->start < 0x68000000 || e->end > 0x68010000))
		++*(int *)arg;
	return 0;
}

/* Empty but for the stub's own pages; mappings can be made at any address, the kernel's own places included. */
START_TEST(stub_is_empty)
{
	struct lz_meta m = {.stub_addr = 0x68000000, .stub_len = 0x10000};
	uint64_t word = 0x1122334455667788, got = 0;
	struct lz_proc p, copy;
	int64_t result;
	int n = 0;

	if (lz_stub_start(&p, &m) < 0)
		ck_abort_msg("%s", lz_error());
	ck_assert_int_eq(lz_proc_maps(p.pid, count_others, &n), 0);
	ck_assert_int_eq(n, 0);
	const uint64_t places[] = {0x400000, 0x555555554000, 0x7ffff7ff0000, 0x7ffffffde000};
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(lz_proc_syscall(&p, &result, SYS_mmap, places[i], LZ_PAGE,
		                                 PROT_READ | PROT_WRITE,
		                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		                                 (uint64_t)-1, 0),
		                 0);
		ck_assert_int_eq(result, (int64_t)places[i]);
	}
	ck_assert_int_eq(lz_proc_write(&p, places[3], &word, sizeof word), 0);
	if (lz_stub_fork(&p, &copy) < 0)
		ck_abort_msg("%s", lz_error());
	word = 0;
	ck_assert_int_eq(lz_proc_write(&p, places[3], &word, sizeof word), 0);
	ck_assert_int_eq(lz_proc_read(&copy, places[3], &got, sizeof got), 0);
	ck_assert(got == 0x1122334455667788);
	lz_stub_kill(&p);
	/* the copy outlives what it was copied from */
	ck_assert_int_eq(lz_proc_read(&copy, places[3], &got, sizeof got), 0);
	lz_stub_kill(&copy);
	lz_stub_kill(&copy);
}
END_TEST

static uint64_t word_at(const struct lz_proc *p, uint64_t addr)
{
	uint64_t word = 0;

	ck_assert_int_eq(lz_proc_read(p, addr, &word, sizeof word), 0);
	return word;
}

static void put_word(const struct lz_proc *p, uint64_t addr, uint64_t word)
{
	if (lz_proc_write(p, addr, &word, sizeof word) < 0)
		ck_abort_msg("%s", lz_error());
}

static void share(struct lz_proc *p, struct lz_share m)
{
	if (lz_share_map(p, &m) < 0)
		ck_abort_msg("%s", lz_error());
}

/* Mappings of an object show the same, one that may not be written to included; a copy of the process has its own. */
START_TEST(shared_objects)
{
	enum { RO = PROT_READ, RW = PROT_READ | PROT_WRITE };
	const uint64_t a = 0x10000000, b = 0x20000000, c = 0x30000000, d = 0x40000000;
	struct lz_meta m = {.stub_addr = 0x68000000, .stub_len = 0x10000};
	struct lz_proc p, copy;
	int64_t result;

	if (lz_stub_start(&p, &m) < 0)
		ck_abort_msg("%s", lz_error());
	share(&p, (struct lz_share){a, 3 * LZ_PAGE, 0, RW, 1, false});
	put_word(&p, a + LZ_PAGE, 1);
	put_word(&p, a + 2 * LZ_PAGE, 2);
	share(&p, (struct lz_share){b, 2 * LZ_PAGE, LZ_PAGE, RO, 1, false});
	share(&p, (struct lz_share){c, LZ_PAGE, 0, RW, 2, false});
	share(&p, (struct lz_share){d, 3 * LZ_PAGE, 0, RW, 1, true});
	ck_assert_uint_eq(word_at(&p, b), 1);
	put_word(&p, b, 3); /* by way of the object */
	put_word(&p, d, 4); /* its own */
	put_word(&p, a, 5);
	put_word(&p, c, 6);
	ck_assert_uint_eq(word_at(&p, a + LZ_PAGE), 3);
	ck_assert_uint_eq(word_at(&p, d + LZ_PAGE), 3);
	ck_assert_uint_eq(word_at(&p, d), 4);
	if (lz_stub_fork(&p, &copy) < 0)
		ck_abort_msg("%s", lz_error());
	put_word(&p, a + LZ_PAGE, 7);
	put_word(&copy, a + 2 * LZ_PAGE, 8);
	ck_assert_uint_eq(word_at(&p, b), 7);
	ck_assert_uint_eq(word_at(&p, b + LZ_PAGE), 2);
	lz_stub_kill(&p);
	ck_assert_uint_eq(word_at(&copy, a), 5);
	ck_assert_uint_eq(word_at(&copy, b), 3);
	ck_assert_uint_eq(word_at(&copy, b + LZ_PAGE), 8);
	ck_assert_uint_eq(word_at(&copy, d), 4);
	ck_assert_uint_eq(word_at(&copy, d + 2 * LZ_PAGE), 8);
	ck_assert_uint_eq(word_at(&copy, c), 6);
	/* What nobody shows any more is empty when it is mapped again. */
	ck_assert_int_eq(lz_proc_syscall(&copy, &result, SYS_munmap, a, 3 * LZ_PAGE, 0, 0, 0, 0),
	                 0);
	share(&copy, (struct lz_share){a, 3 * LZ_PAGE, 0, RW, 1, false});
	ck_assert_uint_eq(word_at(&copy, a), 0);
	ck_assert_uint_eq(word_at(&copy, a + LZ_PAGE), 3);
	ck_assert_int_eq(lz_share_map(&copy, &(struct lz_share){a, LZ_PAGE, 1, RW, 1, false}), -1);
	ck_assert_int_eq(lz_share_map(&copy, &(struct lz_share){a, LZ_PAGE, 0, RW, 65535, false}),
	                 -1);
	lz_stub_kill(&copy);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("replay");
	TCase *t = tcase_create("replay");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, space_is_what_the_pages_say, 0, 20);
	tcase_add_test(t, remap_of_nothing_is_an_error);
	tcase_add_test(t, string_instructions);
	tcase_add_test(t, touched_by_rep);
	tcase_add_test(t, marker_stores);
	tcase_add_test(t, features);
	tcase_add_test(t, stub_is_empty);
	tcase_add_test(t, shared_objects);
	suite_add_tcase(s, t);
	return run_suite(s);
}
