/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter is a list of rules: each allows one call, if one of its arguments is as it says. A
 * call by the vsyscall page, which ptrace does not see, fails: its answer, the time of now, is not
 * the recorded one. */
#include "restorer/confine.h"
#include "restorer/share.h"

#include <lizard/error.h>
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

enum { ARCH_SET_CPUID = 0x1012, ANY = -1, VSYSCALL_HIGH = -1, SYSCALL_LEN = 2 };

/* What a mapping may be, a called function's too (replayer/front/diversion_calls.c): nothing that
 * locks or fills memory at once. */
#define MAP_FLAGS                                                                                  \
	(MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_ANONYMOUS |              \
	 MAP_NORESERVE | MAP_GROWSDOWN | MAP_STACK | MAP_32BIT)

/* Argument ARG is VALUE, or has no bit but those of VALUE (MASK). */
struct rule {
	uint32_t nr;
	int arg;
	uint32_t value;
	bool mask;
};

static const struct rule rules[] = {
    {SYS_mmap, 3, MAP_FLAGS, true},
    {SYS_munmap, ANY, 0, false},
    {SYS_mprotect, ANY, 0, false},
    {SYS_mremap, ANY, 0, false},
    {SYS_madvise, 2, MADV_DONTNEED, false},
    {SYS_recvmsg, 0, LZ_STUB_SOCKET, false},
    {SYS_dup2, ANY, 0, false},
    {SYS_close, ANY, 0, false},
    {SYS_clone, 0, CLONE_PARENT | SIGCHLD, false},
    {SYS_prctl, 0, PR_SET_TSC, false},
    {SYS_arch_prctl, 0, ARCH_SET_CPUID, false},
    {SYS_setitimer, 0, ITIMER_REAL, false},
};
enum { N_RULES = sizeof rules / sizeof *rules };

struct program {
	struct sock_filter code[16 + 8 * N_RULES];
	unsigned n;
};

static void put(struct program *b, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	b->code[b->n++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct program *b, size_t at)
{
	put(b, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
}

/* Goes on if what is loaded is K, else dies. */
static void must_be(struct program *b, uint32_t k)
{
	put(b, BPF_JMP | BPF_JEQ | BPF_K, k, 1, 0);
	put(b, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
}

/* Allowed if what is loaded has the number NR, and its argument fits; the number is loaded again
 * behind it. */
static void put_rule(struct program *b, const struct rule *r)
{
	const size_t arg =
	    offsetof(struct seccomp_data, args) + 8 * (size_t)(r->arg == ANY ? 0 : r->arg);

	if (r->arg == ANY) {
		put(b, BPF_JMP | BPF_JEQ | BPF_K, r->nr, 0, 1);
		put(b, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
		return;
	}
	put(b, BPF_JMP | BPF_JEQ | BPF_K, r->nr, 0, 7);
	load(b, arg + 4);
	must_be(b, 0);
	load(b, arg);
	if (r->mask)
		put(b, BPF_JMP | BPF_JSET | BPF_K, ~r->value, 1, 0);
	else
		put(b, BPF_JMP | BPF_JEQ | BPF_K, r->value, 0, 1);
	put(b, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	load(b, offsetof(struct seccomp_data, nr));
}

static void put_instruction(struct program *b, uint64_t ip)
{
	const size_t at = offsetof(struct seccomp_data, instruction_pointer);

	load(b, at + 4);
	put(b, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)VSYSCALL_HIGH, 0, 1);
	put(b, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
	must_be(b, (uint32_t)(ip >> 32));
	load(b, at);
	must_be(b, (uint32_t)ip);
}

static void build(struct program *b, uint64_t ip)
{
	load(b, offsetof(struct seccomp_data, arch));
	must_be(b, AUDIT_ARCH_X86_64);
	put_instruction(b, ip);
	load(b, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < N_RULES; i++)
		put_rule(b, &rules[i]);
	put(b, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
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
	build(&b, p->syscall_insn + SYSCALL_LEN);
	struct sock_fprog prog = {.len = (unsigned short)b.n,
	                          .filter = (struct sock_filter *)(uintptr_t)(at + sizeof prog)};
	if (lz_proc_write_own(p, at, &prog, sizeof prog) < 0 ||
	    lz_proc_write_own(p, at + sizeof prog, b.code, b.n * sizeof *b.code) < 0 ||
	    call(p, "giving up privileges", SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0) < 0)
		return -1;
	return call(p, "a filter of system calls", SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	            SECCOMP_FILTER_FLAG_SPEC_ALLOW, at);
}
