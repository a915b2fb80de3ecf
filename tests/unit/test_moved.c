/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is behind a system call instruction, moved elsewhere: the processor says whether it does the same there. And where
 * its instructions are then, for whom. */
#include "tests/unit/suite.h"
#include "tracer/state/call_page.h"

#include <check.h>
#include <common/process/moved.h>
#include <common/process/sites.h>
#include <fcntl.h>
#include <lizard/randinsn.h>
#include <lizard/recording.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PROLOGUE = 20, CODE = 64, ROOM = 2 * 4096 };

/* Behind the instructions: the flags, rax, rsi and how deep the stack is make what comes out; at a jump's target,
 * TARGET bytes from the site, rax is inverted. */
/* push %rbx; mov %rsp, %rbx; push %rdi, three times; mov %rdi, %rax; mov %rdi, %rsi; not %rsi; cmp $0, %rdi */
static const uint8_t prologue[PROLOGUE] = {0x53, 0x48, 0x89, 0xe3, 0x57, 0x57, 0x57,
                                           0x48, 0x89, 0xf8, 0x48, 0x89, 0xfe, 0x48,
                                           0xf7, 0xd6, 0x48, 0x83, 0xff, 0};
/* pushf; pop %rdx; shl $32, %rdx; xor %rdx, %rax; xor %rsi, %rax; mov %rbx, %rcx; sub %rsp, %rcx; rol $48, %rcx;
 * xor %rcx, %rax; mov %rbx, %rsp; pop %rbx; ret */
static const uint8_t epilogue[] = {0x9c, 0x5a, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x31, 0xd0, 0x48,
                                   0x31, 0xf0, 0x48, 0x89, 0xd9, 0x48, 0x29, 0xe1, 0x48, 0xc1,
                                   0xc1, 0x30, 0x48, 0x31, 0xc8, 0x48, 0x89, 0xdc, 0x5b, 0xc3};
/* not %rax; mov %rbx, %rsp; pop %rbx; ret */
static const uint8_t target[] = {0x48, 0xf7, 0xd0, 0x48, 0x89, 0xdc, 0x5b, 0xc3};
enum { TARGET = 48 };

/* At which bytes of the jump's distance instructions begin. */
#define THIRD 0xff00
#define THIRD_FOURTH 0xffff00
#define THIRD_FIFTH 0xff00ff00
#define ALL_THREE 0xffffff00

static const struct {
	const char *text;
	uint8_t code[16], len, points; /* points: of the instructions that are moved */
	uint32_t begins;
} good[] = {
    {"cmp $-4095, %rax", {0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff}, 6, 1, THIRD},
    {"cmp $-4095, %eax", {0x3d, 0x01, 0xf0, 0xff, 0xff}, 5, 1, THIRD},
    {"test %rax, %rax", {0x48, 0x85, 0xc0}, 3, 1, THIRD},
    {"mov %rax, %rcx", {0x48, 0x89, 0xc1}, 3, 1, THIRD},
    {"neg %rax", {0x48, 0xf7, 0xd8}, 3, 1, THIRD},
    {"test %eax, %eax; js target", {0x85, 0xc0, 0x78, TARGET - 6}, 4, 2, THIRD_FIFTH},
    {"test %eax, %eax; jne target, near",
     {0x85, 0xc0, 0x0f, 0x85, TARGET - 10, 0, 0, 0},
     8,
     2,
     THIRD_FIFTH},
    {"jns target, near", {0x0f, 0x89, TARGET - 8, 0, 0, 0}, 6, 1, THIRD},
    {"neg %eax; neg %eax", {0xf7, 0xd8, 0xf7, 0xd8}, 4, 2, THIRD_FIFTH},
    {"mov %fs:0, %rdx", {0x64, 0x48, 0x8b, 0x14, 0x25, 0, 0, 0, 0}, 9, 1, THIRD},
    {"pop %rsi; cmp $-4095, %eax", {0x5e, 0x3d, 0x01, 0xf0, 0xff, 0xff}, 6, 2, THIRD_FOURTH},
    {"pop %r9; pop %rsi", {0x41, 0x59, 0x5e}, 3, 2, THIRD_FIFTH},
    {"pop %rsi; pop %rcx; pop %rsi", {0x5e, 0x59, 0x5e}, 3, 3, ALL_THREE},
    {"pop %rsi; jns target, near", {0x5e, 0x0f, 0x89, TARGET - 9, 0, 0, 0}, 7, 2, THIRD_FOURTH},
    {"movslq %eax, %rdx", {0x48, 0x63, 0xd0}, 3, 1, THIRD},
};

static const struct {
	const char *text;
	uint8_t code[16];
} bad[] = {
    {"ret; push %rbp: another function's", {0xc3, 0x55, 0x48, 0x89, 0xe5}},
    {"pop %rbx; ret; push %rbp", {0x5b, 0xc3, 0x55, 0x48, 0x89, 0xe5}},
    {"pop (%rdi)", {0x8f, 0x07, 0xc3, 0x66, 0x90}},
    {"js; cmp: the jump may lead between", {0x78, 0x10, 0x48, 0x3d, 1, 0xf0, 0xff, 0xff}},
    {"call", {0xe8, 0, 0, 0, 0}},
    {"jmp", {0xe9, 0, 0, 0, 0}},
    {"jmp short", {0xeb, 0x10, 0x90, 0x90}},
    {"jrcxz", {0xe3, 0x10, 0x90, 0x90}},
    {"mov %rax, (%rdi)", {0x48, 0x89, 0x07}},
    {"mov %rax, 16(%rip)", {0x48, 0x89, 0x05, 0x10, 0, 0, 0}},
    {"xor %eax, 16(%rip)", {0x31, 0x05, 0x10, 0, 0, 0}},
    {"lea 16(%rip), %rax", {0x48, 0x8d, 0x05, 0x10, 0, 0, 0}},
    {"mov %fs:(%rax), %rax", {0x64, 0x48, 0x8b, 0x00}},
    {"mov %gs:0, %rax", {0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}},
    {"push %rax; pop %rax; pop %rax", {0x50, 0x58, 0x58}},
    {"syscall; syscall", {0x0f, 0x05, 0x0f, 0x05}},
    {"int3", {0xcc, 0xcc, 0xcc}},
    {"div %rcx", {0x48, 0xf7, 0xf1}},
    {"rdtsc", {0x0f, 0x31, 0x48, 0x89, 0xc1}},
    {"no instruction", {0x06, 0x06, 0x06, 0x06}},
    {"mov %eax, %eax; mov %eax, 0(%rip)", {0x89, 0xc0, 0x89, 0x05, 0, 0, 0, 0}},
};

static uint8_t *room;

static void begin(void)
{
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	            0);
	ck_assert(room != MAP_FAILED);
}

/* A system call instruction, and CODE behind it. */
static void put_site(uint8_t *at, const uint8_t *code, size_t len)
{
	memset(at, 0xcc, CODE);
	at[0] = 0x0f;
	at[1] = 0x05;
	memcpy(at + LZ_CALL_INSN, code, len);
	memcpy(at + LZ_CALL_INSN + len, epilogue, sizeof(epilogue));
	memcpy(at + TARGET, target, sizeof(target));
}

static void jump(uint8_t *at, const uint8_t *to)
{
	int32_t distance = (int32_t)(to - (at + 5));

	at[0] = 0xe9;
	memcpy(at + 1, &distance, sizeof(distance));
}

typedef uint64_t code_fn(uint64_t);

/* As it was: the system call is left out. */
static code_fn *original(uint8_t *at)
{
	memcpy(room, prologue, PROLOGUE);
	jump(room + PROLOGUE, at + LZ_CALL_INSN);
	return (code_fn *)(uintptr_t)room;
}

/* As tracer/code/detour.c puts it together. */
static code_fn *moved(const struct lz_moved *m, const uint8_t *at)
{
	uint8_t *to = room + 1024;

	memcpy(to, prologue, PROLOGUE);
	uint8_t *code = to + PROLOGUE;
	memcpy(code, m->code, m->len);
	if (m->jump) {
		int32_t distance = (int32_t)(at + m->target - (code + m->jump + 4));
		memcpy(code + m->jump, &distance, sizeof(distance));
	}
	jump(code + m->len, at + m->point[m->n_points - 1].at);
	return (code_fn *)(uintptr_t)to;
}

START_TEST(does_the_same)
{
	static const uint64_t in[] = {
	    0,          1,          5,          (uint64_t)-1, (uint64_t)-4095, (uint64_t)-4096,
	    0x7fffffff, 0x80000000, 0xfffff001, 1ULL << 63};
	uint8_t *at = room + 2048;
	struct lz_moved m;

	put_site(at, good[_i].code, good[_i].len);
	ck_assert_msg(lz_move_code(at, &m), "%s", good[_i].text);
	ck_assert_msg(m.len <= LZ_MOVED_MOST && m.n_points == good[_i].points + 2, "%s",
	              good[_i].text);
	ck_assert_msg(m.point[m.n_points - 1].at >= LZ_JUMP, "%s: less than the jump covers",
	              good[_i].text);
	ck_assert_msg(m.begins == good[_i].begins, "%s: %#x", good[_i].text, m.begins);
	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++)
		ck_assert_msg(original(at)(in[i]) == moved(&m, at)(in[i]), "%s with %#lx",
		              good[_i].text, in[i]);
}
END_TEST

/* Behind a call something may be loaded from the module's own data. */
START_TEST(loads)
{
	enum { DISTANCE = 100 };
	static const struct {
		uint8_t code[16], data, end;
	} with[] = {
	    {{0x48, 0x8b, 0x15, DISTANCE}, 3, 7},       /* mov .(%rip), %rdx */
	    {{0x48, 0x3b, 0x05, DISTANCE}, 3, 7},       /* cmp .(%rip), %rax */
	    {{0x89, 0xc2, 0x8b, 0x05, DISTANCE}, 4, 8}, /* mov; mov .(%rip), %eax */
	    {{0x83, 0x3d, DISTANCE, 0, 0, 0, 5}, 2, 7}, /* cmpl $5, .(%rip) */
	};
	uint8_t *at = room + 2048;
	struct lz_moved m;

	for (size_t i = 0; i < sizeof(with) / sizeof(*with); i++) {
		put_site(at, with[i].code, sizeof(with[i].code));
		ck_assert(lz_move_code(at, &m));
		ck_assert(m.data == with[i].data && m.data_end == with[i].end);
		ck_assert_int_eq(m.operand, LZ_CALL_INSN + with[i].end + DISTANCE);
	}
}
END_TEST

/* Behind a cpuid, rdtsc or rdtscp there may be an operand in the module's own data, one, and where a register leads. */
START_TEST(own_data)
{
	enum { DISTANCE = 100 };
	static const struct {
		uint8_t code[16], data, end; /* END: of the instruction that has it */
		bool good;
	} with[] = {
	    {{0x89, 0x05, DISTANCE}, 2, 6, true},             /* mov %eax, .(%rip) */
	    {{0x83, 0x3d, DISTANCE, 0, 0, 0, 5}, 2, 7, true}, /* cmpl $5, .(%rip) */
	    {{0x5a, 0x89, 0x05, DISTANCE}, 3, 7, true},       /* pop %rdx; mov %eax, .(%rip) */
	    {{0x89, 0x44, 0x24, 0x10}, 0, 0, true},           /* mov %eax, 16(%rsp) */
	    {{0x8d, 0x05, DISTANCE}, 0, 0, false},            /* lea .(%rip), %eax */
	    {{0x89, 0x07, 0x39, 0xc8}, 0, 0, true},           /* mov %eax, (%rdi); cmp */
	    {{0x41, 0x89, 0x07}, 0, 0, false},                /* mov %eax, (%r15) */
	    {{0x89, 0x04, 0x0f}, 0, 0, false},                /* mov %eax, (%rdi,%rcx) */
	    {{0x64, 0x89, 0x07}, 0, 0, false},                /* mov %eax, %fs:(%rdi) */
	};
	static const struct {
		uint8_t insn[3], len;
		bool cpuid;
	} behind[] = {{{0x0f, LZ_CPUID_ARMED}, 2, true},
	              {{0x0f, 0x31}, 2, false},
	              {{0x0f, 0x01, 0xf9}, 3, false}};
	const unsigned len = behind[_i].len;
	uint8_t *at = room + 2048;
	struct lz_moved m;

	for (size_t i = 0; i < sizeof(with) / sizeof(*with); i++) {
		put_site(at + len - LZ_CALL_INSN, with[i].code, sizeof(with[i].code));
		memcpy(at, behind[_i].insn, len);
		ck_assert_int_eq(lz_move_code(at, &m), with[i].good);
		if (!with[i].good)
			continue;
		ck_assert(m.cpuid == behind[_i].cpuid && m.counter != m.cpuid && m.behind == len);
		ck_assert(m.data == with[i].data && m.data_end == with[i].end);
		if (m.data)
			ck_assert_int_eq(m.operand, (int)len + with[i].end + DISTANCE);
	}
}
END_TEST

static const struct {
	uint8_t code[8], len; /* of what is moved */
	uint32_t begins;
} ends[] = {
    {{0xc3, 0x66, 0x90}, 1, THIRD},
    {{0xc3, 0x0f, 0x1f, 0x00}, 1, THIRD},
    {{0xc3, 0x66, 0x0f, 0x1f}, 1, THIRD},
    {{0xc3, 0x66, 0x66, 0x2e}, 1, THIRD},
    {{0xc3, 0xcc, 0xcc}, 1, THIRD},
    {{0xc3, 0x90, 0x90}, 1, THIRD},
    {{0x5b, 0xc3, 0x0f, 0x1f, 0x44}, 2, THIRD_FOURTH}, /* pop %rbx */
    {{0x41, 0x5c, 0xc3, 0x55}, 3, THIRD_FIFTH},        /* pop %r12 */
    {{0xf7, 0xd8, 0xc3, 0x55}, 3, THIRD_FIFTH},        /* neg %eax */
    {{0x5b, 0x5d, 0xc3, 0x55}, 3, ALL_THREE},          /* pop %rbx; pop %rbp */
    {{0x48, 0x83, 0xc4, 0x08, 0xc3, 0x55}, 4, THIRD},  /* add $8, %rsp; the rest stays */
};

START_TEST(returns)
{
	uint8_t *at = room + 2048;
	struct lz_moved m;

	put_site(at, ends[_i].code, sizeof(ends[_i].code));
	ck_assert(lz_move_code(at, &m) && m.len == ends[_i].len && m.begins == ends[_i].begins);
	ck_assert(!memcmp(m.code, ends[_i].code, m.len) && !m.jump);
	ck_assert_uint_eq(m.point[m.n_points - 1].at, LZ_CALL_INSN + m.len);
	for (unsigned i = 0; i < m.n_points; i++)
		ck_assert_uint_eq(m.point[i].at, m.point[i].in);
}
END_TEST

/* The dynamic linker's, which is as long as the jump: nothing is moved. */
START_TEST(save)
{
	static const uint8_t near[] = {0x0f, LZ_RAND_ARMED, 0x64, 0x24, 0x40},
	                     far[] = {0x0f, LZ_RAND_ARMED, 0xa4, 0x24, 0x40, 0x01, 0, 0};
	uint8_t *at = room + 2048;
	struct lz_moved m;

	put_site(at, near, sizeof(near));
	memcpy(at, near, sizeof(near));
	ck_assert(lz_move_code(at, &m) && m.xsavec && !m.counter && !m.cpuid);
	ck_assert(m.behind == LZ_JUMP && !m.len && !m.begins && m.n_points == 2);
	ck_assert(m.point[1].at == LZ_JUMP && m.point[1].in == LZ_JUMP);
	memcpy(at, far, sizeof(far));
	ck_assert(!lz_move_code(at, &m));
	memcpy(at, near, sizeof(near));
	at[1] = LZ_RAND_OPCODE; /* which is not armed */
	ck_assert(!lz_move_code(at, &m));
}
END_TEST

START_TEST(stays)
{
	uint8_t *at = room + 2048;
	struct lz_moved m;

	put_site(at, bad[_i].code, sizeof(bad[_i].code));
	ck_assert_msg(!lz_move_code(at, &m), "%s", bad[_i].text);
	/* it is no system call instruction at all */
	put_site(at, good[0].code, good[0].len);
	at[1] = 0x34;
	ck_assert(!lz_move_code(at, &m));
}
END_TEST

/* ---- where they are ---- */

/* test %eax, %eax; js: at a page's end, so that the jump is in two pages. */
static const uint64_t page = 0x401000, site_at = 0x401000 + LZ_PAGE - 3;
static struct lz_sites sites;

static struct lz_site *make_sites(void)
{
	struct lz_site x = {.at = site_at,
	                    .begin = 0x200000000,
	                    .call = 0x200000014,
	                    .len = LZ_CALL_INSN,
	                    .point = {{0, 0}, {2, 2}, {4, 4}, {8, 10}},
	                    .n_points = 4,
	                    .patch = {{.at = site_at,
	                               .len = LZ_JUMP,
	                               .was = {0x0f, 0x05, 0x85, 0xc0, 0x0f},
	                               .now = {0xe9, 0x10, 0x20, 0xcc, 0xcc}}}};

	lz_sites_begin(&sites);
	sites.a = calloc(2, sizeof(*sites.a));
	ck_assert_ptr_nonnull(sites.a);
	sites.pool[sites.n_pools++] = 0x200000000;
	sites.code = 0x300000000;
	sites.code_len = LZ_STUB_CODE;
	sites.a[sites.n++] = x;
	x.at += 0x100;
	x.patch[LZ_AT_SITE].at += 0x100;
	x.begin += LZ_DETOUR;
	x.call += LZ_DETOUR;
	sites.a[sites.n++] = x;
	return &sites.a[0];
}

START_TEST(shown)
{
	const struct lz_site *x = make_sites();
	struct user_regs_struct r = {0};
	uint64_t at;

	for (unsigned i = 0; i < x->n_points; i++) {
		ck_assert_uint_eq(lz_sites_shown(&sites, x->call + x->point[i].in),
		                  site_at + x->point[i].at);
		r = (struct user_regs_struct){.rip = x->call + x->point[i].in,
		                              .rcx = x->call + x->point[i].in};
		sites.elsewhere.show(&sites.elsewhere, &r);
		ck_assert(r.rip == site_at + x->point[i].at && r.rcx == r.rip);
	}
	/* between instructions there is nobody */
	ck_assert_uint_eq(lz_sites_shown(&sites, x->call + 1), x->call + 1);
	ck_assert_uint_eq(lz_sites_shown(&sites, 0x12345), 0x12345);
	/* on the way to the call: of the detour the site is known, of the stub it is not */
	ck_assert(lz_sites_inside(&sites, x->begin, &at) && at == site_at);
	ck_assert(lz_sites_inside(&sites, x->call - 1, &at) && at == site_at);
	ck_assert(!lz_sites_inside(&sites, x->call, &at));
	ck_assert(lz_sites_inside(&sites, x[1].begin, &at) && at == site_at + 0x100);
	ck_assert(lz_sites_inside(&sites, sites.code + LZ_STUB_CODE - 1, &at) && at == 0);
	ck_assert(!lz_sites_inside(&sites, sites.code + LZ_STUB_CODE, &at));
	lz_sites_free(&sites);
}
END_TEST

START_TEST(hidden)
{
	struct lz_site *x = make_sites();
	struct user_regs_struct r = {.rip = site_at + 4};

	sites.elsewhere.hide(&sites.elsewhere, &r);
	ck_assert_uint_eq(r.rip, x->call + 4);
	/* behind the jump it is where it was; so is what is in no instruction's beginning */
	r.rip = site_at + 8;
	sites.elsewhere.hide(&sites.elsewhere, &r);
	ck_assert_uint_eq(r.rip, site_at + 8);
	r.rip = site_at + 1;
	sites.elsewhere.hide(&sites.elsewhere, &r);
	ck_assert_uint_eq(r.rip, site_at + 1);
	ck_assert(lz_site_of(&sites, site_at + 2) == x && lz_site_at(&sites, site_at) == x &&
	          !lz_site_at(&sites, site_at + 2));
	x->given_back = true;
	r.rip = site_at;
	sites.elsewhere.hide(&sites.elsewhere, &r);
	ck_assert_uint_eq(r.rip, site_at);
	/* who is in the detour of one that is gone is still told where it is */
	x->gone = true;
	ck_assert(!lz_site_of(&sites, site_at) && !lz_site_at(&sites, site_at));
	ck_assert_uint_eq(lz_sites_shown(&sites, x->call + 4), site_at + 4);
	lz_sites_free(&sites);
}
END_TEST

START_TEST(pages)
{
	struct lz_site *x = make_sites();
	static uint8_t at[2][LZ_PAGE];

	for (unsigned k = 0; k < LZ_JUMP; k++)
		at[(LZ_PAGE - 3 + k) / LZ_PAGE][(LZ_PAGE - 3 + k) % LZ_PAGE] =
		    x->patch[LZ_AT_SITE].now[k];
	at[1][0xfd] = 0x77; /* the second site has been stored to: it is no jump any more */
	ck_assert(lz_sites_show(&sites, page, at[0]) &&
	          lz_sites_show(&sites, page + LZ_PAGE, at[1]));
	ck_assert(!memcmp(at[0] + LZ_PAGE - 3, x->patch[LZ_AT_SITE].was, 3) &&
	          !memcmp(at[1], x->patch[LZ_AT_SITE].was + 3, 2));
	ck_assert_uint_eq(at[1][0xfd], 0x77);
	ck_assert(!lz_sites_show(&sites, page, at[0]) &&
	          !lz_sites_show(&sites, page + 2 * LZ_PAGE, at[1]));
	memcpy(at[0] + LZ_PAGE - 3, x->patch[LZ_AT_SITE].now, 3);
	x->given_back = true;
	ck_assert(!lz_sites_show(&sites, page, at[0]));
	lz_sites_free(&sites);
}
END_TEST

/* ---- rdtsc and rdtscp ---- */

/* Where the detour's `jmp *` finds what it leads to. */
static uint64_t entry_of(const struct lz_site *x)
{
	const uint8_t *jmp = (const uint8_t *)(uintptr_t)x->begin + 14;
	int32_t distance;

	ck_assert(jmp[0] == 0xff && jmp[1] == 0x25);
	memcpy(&distance, jmp + 2, sizeof(distance));
	return x->begin + 20 + (uint64_t)distance;
}

static const struct {
	uint8_t insn[3], len, entry;
} counter[] = {
    {{0x0f, 0x31}, 2, LZ_SITE_COUNTER},
    {{0x0f, 0x01, 0xf9}, 3, LZ_SITE_RDTSCP},
};

/* In this process. */
START_TEST(counters)
{
	enum { HLT = 0xf4 };
	static const uint8_t shl[] = {0x48, 0xc1, 0xe2, 0x20};
	const unsigned len = counter[_i].len, entry = counter[_i].entry;
	const struct lz_site *x;
	struct lz_proc p = {.pid = getpid(), .mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC)};
	uint8_t *at = room + 2048, was[CODE];
	uint8_t *pool =
	    mmap(NULL, LZ_POOL_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(p.mem >= 0 && pool != MAP_FAILED);
	lz_sites_begin(&sites);
	sites.pool[sites.n_pools++] = (uintptr_t)pool;
	for (unsigned i = 0; i < LZ_SITE_ENTRIES; i++)
		sites.entry[i] = i != entry;
	memset(at, 0xcc, CODE);
	memcpy(at, counter[_i].insn, len);
	memcpy(at + len, shl, sizeof(shl));
	memcpy(was, at, CODE);
	/* what it leads to does others only */
	ck_assert(lz_site_make(&sites, &p, (uintptr_t)at, (uintptr_t)at + CODE) == 0 &&
	          !memcmp(at, was, CODE));
	sites.entry[entry] = 2;
	ck_assert_int_eq(lz_site_make(&sites, &p, (uintptr_t)at, (uintptr_t)at + CODE), 1);
	x = sites.a;
	ck_assert(x->counter && at[0] == 0xe9 &&
	          !memcmp(at + LZ_JUMP, was + LZ_JUMP, CODE - LZ_JUMP));
	/* the instruction behind it has its own int3, and is in the detour */
	ck_assert_uint_eq(at[len], 0xcc);
	ck_assert(x->len == len && x->n_points == 3 && x->point[1].at == len &&
	          x->point[2].at == len + sizeof(shl));
	/* where it is itself, something faults */
	const uint8_t *call = (const uint8_t *)(uintptr_t)x->call;
	ck_assert(call[0] == HLT && !memcmp(call + len, was + len, sizeof(shl)));
	ck_assert_uint_eq(entry_of(x), sites.pool[0] + 8 * entry);
	/* a thread that stands there is let go */
	lz_sites_lend(&sites, &p);
	ck_assert(!memcmp(at, was, CODE) && !memcmp(call, was, len + sizeof(shl)));
	lz_sites_again(&sites, &p);
	ck_assert(at[0] == 0xe9 && call[0] == HLT);
	ck_assert(lz_site_enter(&sites, &p, sites.a, 2) == 0);
	ck_assert_uint_eq(entry_of(x), sites.pool[0] + 8 * (entry + 2));
	lz_sites_end_counters(&sites, &p);
	ck_assert(!memcmp(at, was, CODE) && !lz_site_at(&sites, (uintptr_t)at));
	ck_assert(lz_sites_had(&sites, (uintptr_t)room) &&
	          !lz_sites_had(&sites, (uintptr_t)room + LZ_PAGE));
	lz_sites_free(&sites);
	munmap(pool, LZ_POOL_LEN);
	close(p.mem);
}
END_TEST

/* ---- which bytes are int3 ---- */

/* Memory for detours: AWAY pools from where all bytes of the distance can be int3. */
static uint64_t map_pool(const uint8_t *at, int away)
{
	const uintptr_t place = (uintptr_t)at - 0x33333400;
	const uintptr_t pool = place - place % LZ_POOL_LEN + (uintptr_t)away * LZ_POOL_LEN;
	int prot = PROT_READ | PROT_WRITE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	ck_assert(mmap((void *)pool, LZ_POOL_LEN, prot, flags, -1, 0) == (void *)pool);
	return pool;
}

/* Each instruction in the jump is found by its int3, and its place in the detour has the same bytes. */
START_TEST(traps)
{
	struct lz_proc p = {.pid = getpid(), .mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC)};
	uint8_t *at = room + 2048;

	ck_assert(p.mem >= 0);
	lz_sites_begin(&sites);
	sites.pool[sites.n_pools++] = map_pool(at, 2);
	sites.pool[sites.n_pools++] = map_pool(at, 0);
	sites.entry[0] = 1;
	put_site(at, ends[_i].code, sizeof(ends[_i].code));
	ck_assert_int_eq(lz_site_make(&sites, &p, (uintptr_t)at, (uintptr_t)at + CODE), 1);
	ck_assert(at[0] == 0xe9);
	for (unsigned k = 1; k < LZ_JUMP; k++) {
		struct user_regs_struct r = {.rip = (uintptr_t)at + k};

		if (!(ends[_i].begins >> 8 * (k - 1) & 0xff))
			continue;
		ck_assert_uint_eq(at[k], 0xcc);
		ck_assert(lz_site_of(&sites, r.rip) == sites.a);
		sites.elsewhere.hide(&sites.elsewhere, &r);
		ck_assert_uint_eq(*(uint8_t *)(uintptr_t)r.rip, sites.a->patch[LZ_AT_SITE].was[k]);
		sites.elsewhere.show(&sites.elsewhere, &r);
		ck_assert_uint_eq(r.rip, (uintptr_t)at + k);
	}
	for (size_t i = 0; i < sites.n_pools; i++)
		munmap((void *)(uintptr_t)sites.pool[i], LZ_POOL_LEN);
	lz_sites_free(&sites);
	close(p.mem);
}
END_TEST

/* The second one is in two pages. Nobody sees half of what is made at once. */
START_TEST(many)
{
	static const uint8_t shl[] = {0x48, 0xc1, 0xe2, 0x20};
	struct lz_proc p = {.pid = getpid(), .mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC)};
	static uint8_t was[2 * LZ_PAGE], one_by_one[2 * LZ_PAGE];
	uint8_t *at[] = {room + 2048, room + LZ_PAGE - 3};
	uint64_t pool = map_pool(at[0], 0);

	ck_assert(p.mem >= 0);
	for (int i = 0; i < 2; i++)
		put_site(at[i], shl, sizeof(shl));
	memcpy(was, room, sizeof(was));
	for (int at_once = 0; at_once < 2; at_once++) {
		lz_sites_begin(&sites);
		sites.pool[sites.n_pools++] = pool;
		sites.entry[0] = 1;
		memcpy(room, was, sizeof(was));
		if (at_once)
			lz_sites_make_many(&sites);
		for (int i = 0; i < 2; i++)
			ck_assert_int_eq(
			    lz_site_make(&sites, &p, (uintptr_t)at[i], (uintptr_t)at[i] + CODE), 1);
		if (at_once) {
			ck_assert(!memcmp(room, was, sizeof(was)));
			ck_assert_int_eq(lz_sites_made(&sites, &p), 0);
			ck_assert(!memcmp(room, one_by_one, sizeof(was)));
		}
		memcpy(one_by_one, room, sizeof(was));
		ck_assert(at[0][0] == 0xe9 && at[1][0] == 0xe9);
		lz_sites_free(&sites);
	}
	munmap((void *)(uintptr_t)pool, LZ_POOL_LEN);
	close(p.mem);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("moved");
	TCase *c = tcase_create("moved");

	tcase_add_checked_fixture(c, begin, NULL);
	tcase_add_loop_test(c, does_the_same, 0, sizeof(good) / sizeof(*good));
	tcase_add_test(c, loads);
	tcase_add_loop_test(c, own_data, 0, 3);
	tcase_add_loop_test(c, returns, 0, sizeof(ends) / sizeof(*ends));
	tcase_add_test(c, save);
	tcase_add_loop_test(c, stays, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_test(c, shown);
	tcase_add_test(c, hidden);
	tcase_add_test(c, pages);
	tcase_add_test(c, counters);
	tcase_add_test(c, many);
	tcase_add_loop_test(c, traps, 0, sizeof(ends) / sizeof(*ends));
	suite_add_tcase(s, c);
	return run_suite(s);
}
