/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter is a list of rules for each of the stub's two instructions: a rule allows one call, if
 * its arguments are as it says. A call by the vsyscall page, which ptrace does not see, fails: its
 * answer, the time of now, is not the recorded one. */
#include "restorer/confine.h"
#include "restorer/share.h"

#include <lizard/error.h>
#include <lizard/restore.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

/* Tests switch one wall off to see that the other one holds (tests/e2e/walls.t). */
#ifdef LIZARD_TEST_WITHOUT_FILTER
enum { FILTER = 0 };
#else
enum { FILTER = 1 };
#endif

enum { ARCH_SET_CPUID = 0x1012, VSYSCALL_HIGH = -1, SYSCALL_LEN = 2 };

/* What a mapping may be, a called function's too (replayer/front/diversion_calls.c): nothing that
 * locks or fills memory at once. */
#define MAP_FLAGS                                                                                  \
	(MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_ANONYMOUS |              \
	 MAP_NORESERVE | MAP_GROWSDOWN | MAP_STACK | MAP_32BIT)

/* Argument ARG is VALUE, or has no bit but those of VALUE (MASK). */
struct check {
	unsigned arg;
	uint64_t value;
	bool mask;
};

/* The call NR, if its arguments are so. APART: and if the range that it changes is apart from the
 * stub. */
struct rule {
	uint32_t nr;
	bool apart;
	unsigned n;
	struct check check[5];
};

/* Calls that Lizard makes in the process. */
static const struct rule injected[] = {
    {SYS_mmap, false, 1, {{3, MAP_FLAGS, true}}},
    {SYS_munmap, false, 0, {{0}}},
    {SYS_mprotect, false, 0, {{0}}},
    {SYS_mremap, false, 0, {{0}}},
    {SYS_madvise, false, 1, {{2, MADV_DONTNEED, false}}},
    {SYS_recvmsg, false, 1, {{0, LZ_STUB_SOCKET, false}}},
    {SYS_dup2, false, 0, {{0}}},
    {SYS_close, false, 0, {{0}}},
    {SYS_clone, false, 1, {{0, CLONE_PARENT | SIGCHLD, false}}},
    {SYS_prctl, false, 1, {{0, PR_SET_TSC, false}}},
    {SYS_arch_prctl, false, 1, {{0, ARCH_SET_CPUID, false}}},
    {SYS_setitimer, false, 1, {{0, ITIMER_REAL, false}}},
};

/* Calls that the process makes itself: with memory of its own, which is data. */
static const struct rule own[] = {
    {SYS_mmap,
     true,
     4,
     {{2, LZ_OWN_PROT, true}, {3, LZ_OWN_FLAGS, false}, {4, UINT64_MAX, false}, {5, 0, false}}},
    {SYS_munmap, true, 0, {{0}}},
    {SYS_mprotect, true, 1, {{2, LZ_OWN_PROT, true}}},
    {SYS_madvise, true, 1, {{2, MADV_DONTNEED, false}}},
};

/* A jump to the end of its rule: how far is known when that is there. */
enum { MISS = 255, LONGEST = 480 };

struct program {
	struct sock_filter code[LONGEST];
	unsigned n;
};

static void put(struct program *b, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	if (b->n < LONGEST)
		b->code[b->n++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct program *b, size_t at)
{
	put(b, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
}

static size_t low(unsigned arg)
{
	return offsetof(struct seccomp_data, args) + 8 * (size_t)arg;
}

static size_t high(unsigned arg)
{
	return low(arg) + 4;
}

static void kill_process(struct program *b)
{
	put(b, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
}

/* Goes on if what is loaded is K, else dies. */
static void must_be(struct program *b, uint32_t k)
{
	put(b, BPF_JMP | BPF_JEQ | BPF_K, k, 1, 0);
	kill_process(b);
}

static void put_half(struct program *b, size_t at, uint32_t value, bool mask)
{
	load(b, at);
	if (mask)
		put(b, BPF_JMP | BPF_JSET | BPF_K, ~value, MISS, 0);
	else
		put(b, BPF_JMP | BPF_JEQ | BPF_K, value, 0, MISS);
}

/* Loads argument ARG, an address or a length, in units. */
static void load_units(struct program *b, unsigned arg)
{
	load(b, high(arg));
	put(b, BPF_JMP | BPF_JGE | BPF_K, 1U << (47 - 32), MISS, 0);
	put(b, BPF_ALU | BPF_LSH | BPF_K, 32 - LZ_UNIT_BITS, 0, 0);
	put(b, BPF_MISC | BPF_TAX, 0, 0, 0);
	load(b, low(arg));
	put(b, BPF_ALU | BPF_RSH | BPF_K, LZ_UNIT_BITS, 0, 0);
	put(b, BPF_ALU | BPF_OR | BPF_X, 0, 0, 0);
}

/* As lz_stub_is_apart(). */
static void put_apart(struct program *b, const struct lz_stub *stub)
{
	load_units(b, 0);
	put(b, BPF_ST, 0, 0, 0);
	put(b, BPF_JMP | BPF_JGE | BPF_K, (uint32_t)lz_stub_units_end(stub), MISS, 0);
	struct sock_filter *behind = &b->code[b->n - 1];
	const unsigned at = b->n;

	load_units(b, 1);
	put(b, BPF_ALU | BPF_ADD | BPF_K, LZ_UNITS_MORE, 0, 0);
	put(b, BPF_MISC | BPF_TAX, 0, 0, 0);
	put(b, BPF_LD | BPF_MEM, 0, 0, 0);
	put(b, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
	put(b, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(stub->start >> LZ_UNIT_BITS), MISS, 0);
	behind->jt = (uint8_t)(b->n - at);
}

static void put_rule(struct program *b, const struct rule *r, const struct lz_stub *stub)
{
	const unsigned begin = b->n;

	load(b, offsetof(struct seccomp_data, nr));
	put(b, BPF_JMP | BPF_JEQ | BPF_K, r->nr, 0, MISS);
	for (unsigned i = 0; i < r->n; i++) {
		const struct check *c = &r->check[i];

		put_half(b, high(c->arg), (uint32_t)(c->value >> 32), c->mask);
		put_half(b, low(c->arg), (uint32_t)c->value, c->mask);
	}
	if (r->apart)
		put_apart(b, stub);
	put(b, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	for (unsigned i = begin; i < b->n; i++) {
		struct sock_filter *f = &b->code[i];

		f->jt = f->jt == MISS ? (uint8_t)(b->n - i - 1) : f->jt;
		f->jf = f->jf == MISS ? (uint8_t)(b->n - i - 1) : f->jf;
	}
}

/* From the instruction at INSN these calls are allowed. Elsewhere it goes on. */
static void put_place(struct program *b, uint64_t insn, const struct rule *rules, size_t n,
                      const struct rule *one_more, const struct lz_stub *stub)
{
	const uint64_t ip = insn + SYSCALL_LEN;

	load(b, offsetof(struct seccomp_data, instruction_pointer));
	put(b, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)ip, 1, 0);
	put(b, BPF_JMP | BPF_JA, 0, 0, 0);
	const unsigned at = b->n;
	for (size_t i = 0; i < n; i++)
		put_rule(b, &rules[i], stub);
	if (one_more)
		put_rule(b, one_more, stub);
	kill_process(b);
	b->code[at - 1].k = b->n - at;
}

static void build(struct program *b, uint64_t insn, const struct lz_stub *stub)
{
	const struct rule bar = {SYS_prctl,
	                         false,
	                         5,
	                         {{0, PR_SET_SYSCALL_USER_DISPATCH, false},
	                          {1, PR_SYS_DISPATCH_ON, false},
	                          {2, stub->map_insn, false},
	                          {3, LZ_STUB_MAP_INSN_LEN, false},
	                          {4, stub->barred_byte, false}}};

	load(b, offsetof(struct seccomp_data, arch));
	must_be(b, AUDIT_ARCH_X86_64);
	load(b, offsetof(struct seccomp_data, instruction_pointer) + 4);
	put(b, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)VSYSCALL_HIGH, 0, 1);
	put(b, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
	must_be(b, (uint32_t)(insn >> 32));
	put_place(b, insn, injected, sizeof injected / sizeof *injected, &bar, stub);
	put_place(b, stub->map_insn, own, sizeof own / sizeof *own, NULL, stub);
	kill_process(b);
}

static int call(struct lz_proc *p, const char *what, uint64_t nr, uint64_t a, uint64_t b,
                uint64_t c)
{
	int64_t result;

	if (lz_proc_syscall(p, &result, nr, a, b, c, 0, 0, 0) < 0)
		return -1;
	return result ? lz_fail(
	                    "%s is not possible here (%s): the kernel needs CONFIG_SECCOMP_FILTER, "
	                    "and a container must allow the call seccomp",
	                    what, strerror((int)-result))
	              : 0;
}

int lz_confine(struct lz_proc *p)
{
	struct program b = {.n = 0};
	uint64_t at = p->syscall_insn + LZ_STUB_CODE_ROOM;

	if (!FILTER)
		return 0;
	build(&b, p->syscall_insn, p->stub);
	if (b.n == LONGEST)
		return lz_fail("the filter of system calls is too long");
	struct sock_fprog prog = {.len = (unsigned short)b.n,
	                          .filter = (struct sock_filter *)(uintptr_t)(at + sizeof prog)};
	if (lz_proc_write_own(p, at, &prog, sizeof prog) < 0 ||
	    lz_proc_write_own(p, at + sizeof prog, b.code, b.n * sizeof *b.code) < 0 ||
	    call(p, "giving up privileges", SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0) < 0)
		return -1;
	return call(p, "a filter of system calls", SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	            SECCOMP_FILTER_FLAG_SPEC_ALLOW, at);
}
