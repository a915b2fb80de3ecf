/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters of system calls: programs by chance, which are judged as the kernel judges them. */
#include "tests/unit/suite.h"
#include "tracer/filters/bpf.h"

#include <check.h>
#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAMS = 1000, MOST = 24, NOBODYS = 9999, CALLS = 4, KILLED = 0x1000 };

static uint64_t state = 88172645463325252ULL;

static uint32_t any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % below;
}

static const uint16_t codes[] = {
    BPF_LD | BPF_W | BPF_ABS,
    BPF_LD | BPF_W | BPF_ABS,
    BPF_LD | BPF_W | BPF_LEN,
    BPF_LDX | BPF_W | BPF_LEN,
    BPF_LD | BPF_IMM,
    BPF_LDX | BPF_IMM,
    BPF_LD | BPF_MEM,
    BPF_LDX | BPF_MEM,
    BPF_ST,
    BPF_STX,
    BPF_ST,
    BPF_MISC | BPF_TAX,
    BPF_MISC | BPF_TXA,
    BPF_ALU | BPF_ADD | BPF_K,
    BPF_ALU | BPF_SUB | BPF_X,
    BPF_ALU | BPF_MUL | BPF_K,
    BPF_ALU | BPF_DIV | BPF_K,
    BPF_ALU | BPF_DIV | BPF_X,
    BPF_ALU | BPF_AND | BPF_X,
    BPF_ALU | BPF_OR | BPF_K,
    BPF_ALU | BPF_XOR | BPF_X,
    BPF_ALU | BPF_LSH | BPF_K,
    BPF_ALU | BPF_RSH | BPF_X,
    BPF_ALU | BPF_LSH | BPF_X,
    BPF_ALU | BPF_NEG,
    BPF_JMP | BPF_JA,
    BPF_JMP | BPF_JEQ | BPF_K,
    BPF_JMP | BPF_JGT | BPF_X,
    BPF_JMP | BPF_JGE | BPF_K,
    BPF_JMP | BPF_JSET | BPF_X,
    BPF_JMP | BPF_JSET | BPF_K,
    BPF_JMP | BPF_JEQ | BPF_X,
};

static uint32_t operand(uint16_t code, unsigned left)
{
	static const uint32_t values[] = {0, 1, 2, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff};

	if (any(40) == 0)
		return any(100);
	switch (code) {
	case BPF_LD | BPF_W | BPF_ABS: return 4 * any(16);
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX: return any(3);
	case BPF_JMP | BPF_JA: return any(left);
	case BPF_ALU | BPF_LSH | BPF_K: return any(32);
	}
	return any(2) ? values[any(sizeof(values) / sizeof(*values))] : any(1000);
}

/* For one call: what it has computed, in an errno that it returns. All others are allowed. */
static unsigned program(struct sock_filter *f)
{
	const unsigned n = 1 + any(MOST);
	unsigned at = 0;

	f[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	f[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NOBODYS, 1, 0);
	f[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	for (unsigned i = 0; i < n; i++) {
		const unsigned left = n - i;
		uint16_t code =
		    any(200) ? codes[any(sizeof(codes) / sizeof(*codes))] : (uint16_t)any(0x120);

		f[at++] = (struct sock_filter){code, (uint8_t)any(left), (uint8_t)any(left),
		                               operand(code, left)};
	}
	if (any(50) == 0)
		return at;
	f[at++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfff);
	f[at++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO);
	f[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
	return at;
}

static const uint64_t args[CALLS][6] = {
    {0, 0, 0, 0, 0, 0},
    {1, 2, 3, 4, 5, 6},
    {0xffffffffffffffff, 0x80000000, 0x7fffffff, 0x123456789abcdef0, 32, 31},
    {777, 0xfffffffe, 1ULL << 32, 0xdeadbeef, 64, 1000}};

struct answers {
	int error; /* of the installation */
	int result[CALLS];
	uint64_t ip[CALLS];
};

/* Whoever is killed by the filter leaves what it has. */
static void ask_kernel(const struct sock_filter *f, unsigned n, struct answers *a)
{
	struct sock_fprog p = {(unsigned short)n, (struct sock_filter *)(uintptr_t)f};

	for (int i = 0; i < CALLS; i++)
		a->result[i] = KILLED;
	a->error = -1;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		a->error = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) ? errno : 0;
		for (int i = 0; i < CALLS && a->error == 0; i++) {
			long result;
			uint64_t ip;
			register uint64_t r10 __asm__("r10") = args[i][3];
			register uint64_t r8 __asm__("r8") = args[i][4];
			register uint64_t r9 __asm__("r9") = args[i][5];

			__asm__ volatile("lea 1f(%%rip), %1\n"
			                 "syscall\n"
			                 "1:"
			                 : "=a"(result), "=&b"(ip)
			                 : "0"((long)NOBODYS), "D"(args[i][0]), "S"(args[i][1]),
			                   "d"(args[i][2]), "r"(r10), "r"(r8), "r"(r9)
			                 : "rcx", "r11", "memory");
			a->ip[i] = ip;
			a->result[i] = (int)-result;
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static int said(const struct sock_filter *f, const struct seccomp_data *d)
{
	uint32_t ret = 1;

	ck_assert(lz_bpf_run(f, d, sizeof(*d), &ret));
	if ((ret & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		return (int)(ret & SECCOMP_RET_DATA);
	/* a division by zero */
	ck_assert_uint_eq(ret, SECCOMP_RET_KILL_THREAD);
	return KILLED;
}

START_TEST(as_the_kernel)
{
	struct answers *a =
	    mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned good = 0, killed = 0;

	for (int k = 0; k < PROGRAMS; k++) {
		struct sock_filter f[MOST + 6];
		const unsigned n = program(f);

		ask_kernel(f, n, a);
		ck_assert_int_ne(a->error, -1);
		ck_assert_msg(lz_bpf_valid(f, n) == (a->error == 0),
		              "program %d: the kernel says %d", k, a->error);
		for (int i = 0; i < CALLS && a->error == 0; i++) {
			struct seccomp_data d = {.nr = NOBODYS,
			                         .arch = AUDIT_ARCH_X86_64,
			                         .instruction_pointer = a->ip[i]};

			memcpy(d.args, args[i], sizeof(d.args));
			if (i && a->result[i - 1] == KILLED)
				break;
			killed += a->result[i] == KILLED;
			good++;
			/* where the call is, is not known of one that has been killed */
			if (a->result[i] == KILLED && !i)
				continue;
			ck_assert_msg(said(f, &d) == a->result[i], "program %d, call %d: %d, %d", k,
			              i, said(f, &d), a->result[i]);
		}
	}
	ck_assert_uint_gt(good, PROGRAMS);
	ck_assert_uint_gt(killed, 10);
	munmap(a, sizeof(*a));
}
END_TEST

/* Whether it depends on more than the number. */
START_TEST(by_number)
{
	const struct sock_filter f[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct seccomp_data d = {.nr = 7};
	uint32_t ret;

	ck_assert(!lz_bpf_run(f, &d, LZ_BPF_NUMBER, &ret));
	ck_assert(lz_bpf_run(f, &d, sizeof(d), &ret));
	d.nr = 8;
	ck_assert(lz_bpf_run(f, &d, LZ_BPF_NUMBER, &ret));
	ck_assert_uint_eq(ret, SECCOMP_RET_ALLOW);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bpf");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, as_the_kernel);
	tcase_add_test(t, by_number);
	suite_add_tcase(s, t);
	return run_suite(s);
}
