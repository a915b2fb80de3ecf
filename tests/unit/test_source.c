/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What instructions touch, and where they take what they write: the processor says whether that is true. */
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replayer/program/source.h"

enum { CODE = 0x10000000, DATA = 0x10010000, SIZE = 0x1000, STRIDE = 32 };

static const char *const copies[] = {"mov %rax, %rbx",
                                     "mov %eax, %ebx",
                                     "mov %ah, %bl",
                                     "mov %al, %bh",
                                     "mov %ax, (%rsi)",
                                     "mov 8(%rsi,%rcx,8), %rdx",
                                     "mov %fs:0, %rdx",
                                     "movzbl 3(%rsi), %edx",
                                     "movzwl %ax, %edx",
                                     "movslq 4(%rsi), %rdx",
                                     "movsbl %al, %edx",
                                     "push %rax",
                                     "push 8(%rsi)",
                                     "pushw %ax",
                                     "pop %rdx",
                                     "pop 16(%rsp)",
                                     "popw %dx",
                                     "leave",
                                     "xchg %rax, %rdx",
                                     "xchg %eax, 12(%rsi)",
                                     "xchg %al, %ah",
                                     "movsb",
                                     "movsq",
                                     "rep movsb",
                                     "rep movsl",
                                     "rep stosl",
                                     "stosw",
                                     "lodsq",
                                     "lodsb",
                                     "movaps (%rsi), %xmm1",
                                     "movdqu %xmm2, 5(%rdi)",
                                     "movq %xmm2, (%rdi)",
                                     "movq %rax, %xmm3",
                                     "movd %eax, %xmm3",
                                     "movd %xmm2, %edx",
                                     "movsd (%rsi), %xmm4",
                                     "movss %xmm2, 4(%rdi)",
                                     "movnti %rax, (%rdi)",
                                     "movdqa %xmm2, %xmm5",
                                     "cmovc %rax, %rdx",
                                     "cmovnc %rax, %rdx",
                                     "cmovz 8(%rsi), %edx",
                                     "movss %xmm2, %xmm6",
                                     "movsd %xmm2, %xmm6",
                                     "movlps (%rsi), %xmm6",
                                     "movswq %ax, %rdx",
                                     "cmovs %rax, %rdx",
                                     "cmovl %rax, %rdx",
                                     "cmovle %rax, %rdx",
                                     "cmovg %rax, %rdx",
                                     "cmovp %rax, %rdx",
                                     "cmovo %rax, %rdx",
                                     "cltq",
                                     "cwtl",
                                     "cbtw",
                                     "punpcklbw %xmm1, %xmm2",
                                     "punpcklwd %xmm1, %xmm2",
                                     "punpckldq %xmm1, %xmm2",
                                     "punpcklqdq %xmm1, %xmm2",
                                     "punpckhbw %xmm1, %xmm2",
                                     "punpckhwd %xmm1, %xmm2",
                                     "punpckhdq %xmm1, %xmm2",
                                     "punpckhqdq (%rsi), %xmm2",
                                     "unpcklps %xmm1, %xmm2",
                                     "unpcklpd (%rsi), %xmm2",
                                     "unpckhps %xmm2, %xmm2",
                                     "unpckhpd %xmm2, %xmm2",
                                     "pshufd $0xd8, %xmm1, %xmm2",
                                     "pshufd $0x1b, (%rsi), %xmm2",
                                     "shufps $0x72, %xmm1, %xmm2",
                                     "shufps $0xe4, (%rsi), %xmm2",
                                     "shufpd $1, %xmm1, %xmm2",
                                     "shufpd $2, %xmm1, %xmm2",
                                     "movddup %xmm1, %xmm2",
                                     "movddup (%rsi), %xmm2",
                                     "movhlps %xmm1, %xmm2",
                                     "movlhps %xmm1, %xmm2",
                                     "movhps (%rsi), %xmm2",
                                     "movhpd (%rsi), %xmm2",
                                     "movhps %xmm1, (%rdi)",
                                     "movhpd %xmm1, 8(%rdi)",
                                     "movlpd %xmm1, 8(%rdi)",
                                     "pinsrb $3, %eax, %xmm2",
                                     "pinsrw $5, %eax, %xmm2",
                                     "pinsrw $6, (%rsi), %xmm2",
                                     "pinsrd $2, 4(%rsi), %xmm2",
                                     "pinsrq $1, %rax, %xmm2",
                                     "pextrb $7, %xmm2, 1(%rdi)",
                                     "pextrw $3, %xmm2, 2(%rdi)",
                                     "pextrd $2, %xmm2, 4(%rdi)",
                                     "pextrq $1, %xmm2, %rdx",
                                     "pextrq $1, %xmm2, 8(%rdi)",
                                     "std\n\trep movsb\n\tcld"};
/* Of processors that have AVX. */
static const char *const vex_copies[] = {"vpunpckldq %xmm1, %xmm2, %xmm3",
                                         "vpunpckhqdq (%rsi), %xmm2, %xmm3",
                                         "vunpcklps %xmm1, %xmm2, %xmm3",
                                         "vpshufd $0x1b, %xmm1, %xmm3",
                                         "vshufps $0x72, %xmm1, %xmm2, %xmm3",
                                         "vshufpd $1, (%rsi), %xmm2, %xmm3",
                                         "vmovlhps %xmm1, %xmm2, %xmm3",
                                         "vmovhlps %xmm1, %xmm2, %xmm3",
                                         "vmovhps (%rsi), %xmm2, %xmm3",
                                         "vmovhpd %xmm2, 8(%rdi)",
                                         "vpinsrd $2, %eax, %xmm2, %xmm3",
                                         "vpinsrw $1, (%rsi), %xmm2, %xmm3",
                                         "vpextrq $1, %xmm2, (%rdi)",
                                         "vmovddup (%rsi), %xmm3",
                                         "vmovdqu (%rsi), %xmm3",
                                         "vmovaps %xmm2, (%rdi)"};
static const char *const constants[] = {
    "mov $5, %ebx",   "movq $-5, 8(%rdi)",    "movb $7, %ah", "movabs $0x123456789abcdef0, %rdx",
    "xor %ebx, %ebx", "sub %rdx, %rdx",       "push $-3",     "pxor %xmm2, %xmm2",
    "call .+5",       "movw $0x1234, 2(%rdi)"};
static const char *const made[] = {
    "add %rax, %rbx",        "addl $3, 4(%rsi)", "imul %rax, %rdx",
    "lea (%rax,%rbx), %rdx", "neg %rax",         "setc %dl",
    "adc %rax, %rdx",        "shl $3, %eax",     "cmpxchg %rbx, (%rsi)",
    "xadd %rax, (%rsi)",     "bswap %rax",       "incl (%rdi)"};

/* ---- a process that executes one instruction ---- */

static pid_t child;
static int mem;

struct state {
	struct user_regs_struct r;
	struct user_fpregs_struct f;
	uint8_t data[SIZE];
};

static void start(void)
{
	char path[64];

	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (mmap((void *)CODE, SIZE * 2, PROT_READ | PROT_WRITE | PROT_EXEC,
		         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
		    mmap((void *)DATA, SIZE, PROT_READ | PROT_WRITE,
		         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			_exit(1);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	snprintf(path, sizeof(path), "/proc/%d/mem", child);
	mem = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(mem, 0);
}

static void end(void)
{
	close(mem);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void look(struct state *s)
{
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, child, 0, &s->r), 0);
	ck_assert_int_eq(ptrace(PTRACE_GETFPREGS, child, 0, &s->f), 0);
	ck_assert_int_eq(pread(mem, s->data, SIZE, DATA), SIZE);
}

static void prepare(struct state *s, uint64_t at)
{
	look(s);
	for (int i = 0; i < SIZE; i++)
		s->data[i] = (uint8_t)(i * 37 + i / 256 * 11 + 5);
	memcpy(s->data + 0x900, &(uint64_t){DATA + 0xa00}, 8);
	for (unsigned i = 0; i < sizeof s->f.xmm_space; i++)
		((uint8_t *)s->f.xmm_space)[i] = (uint8_t)(i * 29 + 3);
	s->r.rax = 0x8182838485868788;
	s->r.rbx = 0x2122232425262728;
	s->r.rdx = 0x5152535455565758;
	s->r.rcx = 3;
	s->r.rsi = DATA + 0x200;
	s->r.rdi = DATA + 0x400;
	s->r.rsp = DATA + 0x800;
	s->r.rbp = DATA + 0x900;
	s->r.fs_base = DATA + 0x600;
	s->r.eflags = 0x202 | 1 | 0x80; /* carry, sign */
	s->r.rip = at;
	s->r.orig_rax = ~0ULL;
	ck_assert_int_eq(pwrite(mem, s->data, SIZE, DATA), SIZE);
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, child, 0, &s->r), 0);
	ck_assert_int_eq(ptrace(PTRACE_SETFPREGS, child, 0, &s->f), 0);
}

static void step(void)
{
	struct user_regs_struct r, now;
	int status;

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, child, 0, &r), 0);
	do { /* a rep instruction takes a step a round */
		ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, child, 0, 0), 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		ck_assert_int_eq(ptrace(PTRACE_GETREGS, child, 0, &now), 0);
	} while (now.rip == r.rip);
}

/* ---- the code ---- */

static uint8_t code[2 * SIZE];

/* A label cannot tell where an instruction is, so each one has STRIDE bytes. */
static void assemble(const char *const *text, size_t n)
{
	const char *tmp = getenv("LIZARD_TMP");
	char dir[256], line[800];

	snprintf(dir, sizeof(dir), "%s/source-XXXXXX", tmp ? tmp : "/tmp");
	ck_assert(mkdtemp(dir) != NULL);
	snprintf(line, sizeof(line), "%s/c.s", dir);
	FILE *f = fopen(line, "w");
	ck_assert(f != NULL);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "\t.balign %d\n\t%s\n", STRIDE, text[i]);
	fclose(f);
	snprintf(line, sizeof(line),
	         "cd '%s' && gcc -c c.s -o c.o && objcopy -O binary -j .text c.o c.bin", dir);
	ck_assert_int_eq(system(line), 0);
	snprintf(line, sizeof(line), "%s/c.bin", dir);
	f = fopen(line, "r");
	ck_assert(f && fread(code, 1, sizeof(code), f) > 0);
	fclose(f);
	ck_assert_int_eq(pwrite(mem, code, sizeof(code), CODE), sizeof(code));
	snprintf(line, sizeof(line), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(line), 0);
}

/* ---- the comparison ---- */

static void value(const struct state *s, const struct lz_location *l, uint8_t v[64])
{
	memset(v, 0, 64);
	if (l->in_memory) {
		ck_assert(l->addr >= DATA && l->addr + l->len <= DATA + SIZE);
		memcpy(v, s->data + (l->addr - DATA), l->len);
	} else if (l->reg >= ZYDIS_REGISTER_XMM0 && l->reg <= ZYDIS_REGISTER_ZMM31) {
		const uint8_t *x = (const uint8_t *)s->f.xmm_space;
		memcpy(v, x + 16 * ZydisRegisterGetId(l->reg) + l->at, l->len);
	} else {
		uint64_t whole = lz_register_value(&s->r, l->reg);
		memcpy(v, (uint8_t *)&whole + l->at, l->len);
	}
}

static const char *now;

/* Of what was written to OF. */
static void compare(const struct lz_decoded *i, const struct state *before,
                    const struct state *after, struct lz_location of, enum lz_source_kind want)
{
	uint8_t is[64], was[64];
	struct lz_source s;

	lz_source_of(i, &before->r, &of, &s);
	if (s.kind == LZ_SOURCE_KEPT)
		s.kind = LZ_SOURCE_COPY;
	ck_assert_msg(s.kind == want, "%s: kind %d", now, (int)s.kind);
	value(after, &of, is);
	if (s.kind == LZ_SOURCE_CONSTANT)
		ck_assert_msg(memcmp(is, &s.constant, of.len < 8 ? of.len : 8) == 0,
		              "%s: another constant", now);
	if (s.kind != LZ_SOURCE_COPY)
		return;
	value(before, &s.from, was);
	ck_assert_msg(s.from.len && s.from.len <= of.len && memcmp(is, was, s.from.len) == 0,
	              "%s: that was not copied", now);
}

/* All that has changed in memory was told; and what was told is right. */
static void compare_memory(const struct lz_decoded *i, const struct state *before,
                           const struct state *after, enum lz_source_kind want)
{
	struct lz_touch v[LZ_TOUCHES];
	const size_t n = lz_insn_touches(i, &before->r, v);

	for (int at = 0; at < SIZE; at++) {
		bool told = false;
		for (size_t k = 0; k < n; k++)
			told |= v[k].writes && DATA + (uint64_t)at - v[k].addr < v[k].len;
		ck_assert_msg(told || before->data[at] == after->data[at], "%s: stores at +%#x",
		              now, at);
	}
	for (size_t k = 0; k < n; k++) {
		struct lz_location of = {.in_memory = true, .addr = v[k].addr, .len = v[k].len};
		ck_assert_msg(v[k].addr >= DATA && v[k].addr + v[k].len <= DATA + SIZE,
		              "%s: touches %#lx", now, (unsigned long)v[k].addr);
		if (!v[k].writes)
			continue;
		ck_assert(lz_source_writes(i, &before->r, &of) && of.len == v[k].len);
		/* byte by byte, so that all of a string is seen */
		for (uint64_t at = 0; at < v[k].len; at++)
			compare(
			    i, before, after,
			    (struct lz_location){.in_memory = true, .addr = of.addr + at, .len = 1},
			    want);
	}
}

static void compare_register(const struct lz_decoded *i, const struct state *before,
                             const struct state *after, ZydisRegister r, unsigned len,
                             enum lz_source_kind want)
{
	struct lz_location all = {.reg = r, .len = len};
	uint8_t is[64], was[64];

	value(before, &all, was);
	value(after, &all, is);
	for (unsigned at = 0; at < len; at++) {
		struct lz_location of = {.reg = r, .at = at, .len = 1};
		const bool told = lz_source_writes(i, &before->r, &of);
		ck_assert_msg(told || is[at] == was[at], "%s: byte %u of %s changes", now, at,
		              ZydisRegisterGetString(r));
	}
	for (unsigned at = 0; at < len; at++) {
		struct lz_location of = {.reg = r, .at = at, .len = 1};
		struct lz_source s;
		if (!lz_source_writes(i, &before->r, &of))
			continue;
		lz_source_of(i, &before->r, &of, &s);
		compare(i, before, after, of, s.kind == LZ_SOURCE_KEPT ? LZ_SOURCE_COPY : s.kind);
		/* pointers of string and stack instructions are computed, and signs */
		ck_assert_msg(s.kind != LZ_SOURCE_MADE || want == LZ_SOURCE_MADE ||
		                  r == ZYDIS_REGISTER_RSI || r == ZYDIS_REGISTER_RDI ||
		                  r == ZYDIS_REGISTER_RCX || r == ZYDIS_REGISTER_RSP ||
		                  strncmp(now, "movs", 4) == 0 || now[0] == 'c',
		              "%s: %s is said to be computed", now, ZydisRegisterGetString(r));
	}
}

static void all(const char *const *text, size_t n, enum lz_source_kind want)
{
	static struct state before, after;

	start();
	assemble(text, n);
	for (size_t k = 0; k < n; k++) {
		struct lz_decoded i;
		uint64_t at = CODE + k * STRIDE;
		now = text[k];
		prepare(&before, at);
		if (strncmp(now, "std", 3) == 0) {
			step();
			at++;
			look(&before);
		}
		ck_assert(lz_insn_decode(code + (at - CODE), LZ_INSN_LONGEST, &i));
		step();
		look(&after);
		compare_memory(&i, &before, &after, want);
		for (int r = ZYDIS_REGISTER_RAX; r <= ZYDIS_REGISTER_R15; r++)
			compare_register(&i, &before, &after, (ZydisRegister)r, 8, want);
		for (int r = 0; r < 16; r++)
			compare_register(
			    &i, &before, &after,
			    lz_register_whole((ZydisRegister)(ZYDIS_REGISTER_XMM0 + r)), 16, want);
	}
	end();
}

START_TEST(copied)
{
	all(copies, sizeof(copies) / sizeof(*copies), LZ_SOURCE_COPY);
	if (__builtin_cpu_supports("avx"))
		all(vex_copies, sizeof(vex_copies) / sizeof(*vex_copies), LZ_SOURCE_COPY);
}
END_TEST

START_TEST(constant)
{
	all(constants, sizeof(constants) / sizeof(*constants), LZ_SOURCE_CONSTANT);
}
END_TEST

START_TEST(computed)
{
	all(made, sizeof(made) / sizeof(*made), LZ_SOURCE_MADE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("source");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, copied);
	tcase_add_test(t, constant);
	tcase_add_test(t, computed);
	suite_add_tcase(s, t);
	return run_suite(s);
}
