/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two walls around a replayed process, each by itself: the gate refuses what touches the stub, and the filter of
 * system calls kills what makes a call that Lizard does not make. */
#include "suite.h"
#include <lizard/error.h>
#include <lizard/restore.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { STUB_LEN = 0x10000, USER32_CS = 0x23 };
static const uint64_t stub = 0x68000000, elsewhere = 0x10000000;
static const uint64_t fixed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

static struct lz_proc start(void)
{
	struct lz_meta m = {.stub_addr = stub, .stub_len = STUB_LEN};
	struct lz_proc p;

	if (lz_stub_start(&p, &m) < 0)
		ck_abort_msg("%s", lz_error());
	return p;
}

static int call(struct lz_proc *p, uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                uint64_t e)
{
	int64_t result = -1;

	return lz_proc_syscall(p, &result, nr, a, b, c, d, e, 0) < 0 ? -1 : (int)-result;
}

/* Ranges that touch the stub's, or wrap. */
static const struct {
	uint64_t addr, len;
} bad[] = {
    {0x68000000, 1},           {0x68000000, LZ_PAGE},    {0x6800ffff, 1},
    {0x6800f000, 0x100000},    {0x67fff000, 0x1001},     {0x67fff000, 2 * LZ_PAGE},
    {0x10000, 1ULL << 46},     {0, UINT64_MAX},          {0x68000004, UINT64_MAX},
    {UINT64_MAX - 4095, 4097}, {1ULL << 63, 1ULL << 63},
};

START_TEST(gate_refuses)
{
	const uint64_t addr = bad[_i].addr, len = bad[_i].len;
	struct lz_proc p = start();

	ck_assert_int_eq(call(&p, SYS_mmap, elsewhere, 16 * LZ_PAGE, 3, fixed, (uint64_t)-1),
	                 -(int)elsewhere);
	if (len <= 2 * LZ_PAGE) {
		static const uint8_t bytes[2 * LZ_PAGE];
		ck_assert_int_eq(lz_proc_write(&p, addr, bytes, len), -1);
		ck_assert_ptr_nonnull(strstr(lz_error(), "damaged or forged"));
		ck_assert_int_eq(lz_proc_clear(&p, addr, len), -1);
	}
	ck_assert_int_eq(call(&p, SYS_mmap, addr, len, 7, fixed, (uint64_t)-1), -1);
	ck_assert_int_eq(call(&p, SYS_mmap, addr, len, 7,
	                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, (uint64_t)-1),
	                 -1);
	ck_assert_int_eq(call(&p, SYS_munmap, addr, len, 0, 0, 0), -1);
	ck_assert_int_eq(call(&p, SYS_mprotect, addr, len, 7, 0, 0), -1);
	ck_assert_int_eq(call(&p, SYS_madvise, addr, len, MADV_DONTNEED, 0, 0), -1);
	ck_assert_int_eq(
	    call(&p, SYS_mremap, addr, len, LZ_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere), -1);
	ck_assert_int_eq(
	    call(&p, SYS_mremap, elsewhere, LZ_PAGE, len, MREMAP_MAYMOVE | MREMAP_FIXED, addr), -1);
	/* nothing has reached it: it still works */
	ck_assert_int_eq(call(&p, SYS_munmap, elsewhere, LZ_PAGE, 0, 0, 0), 0);
	lz_stub_kill(&p);
}
END_TEST

/* Right before and behind the stub there is memory as everywhere. */
START_TEST(gate_passes)
{
	const uint64_t at[] = {stub - LZ_PAGE, stub + STUB_LEN};
	struct lz_proc p = start(), copy;
	uint8_t bytes[LZ_PAGE] = {1};

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(call(&p, SYS_mmap, at[i], LZ_PAGE, 3, fixed, (uint64_t)-1),
		                 -(int)at[i]);
		ck_assert_int_eq(lz_proc_write(&p, at[i], bytes, sizeof bytes), 0);
		ck_assert_int_eq(lz_proc_clear(&p, at[i], sizeof bytes), 0);
	}
	/* a copy has the same gate */
	ck_assert_int_eq(lz_stub_fork(&p, &copy), 0);
	ck_assert_int_eq(lz_proc_write(&copy, stub, bytes, 1), -1);
	ck_assert_int_eq(call(&copy, SYS_munmap, at[0], 2 * LZ_PAGE, 0, 0, 0), -1);
	lz_stub_kill(&copy);
	lz_stub_kill(&p);
}
END_TEST

static const struct {
	uint64_t nr, a, b, c, d;
} forbidden[] = {
    {SYS_open, 0x68000040, O_RDONLY, 0, 0},
    {SYS_openat, (uint64_t)AT_FDCWD, 0x68000040, O_RDONLY, 0},
    {SYS_creat, 0x68000040, 0600, 0, 0},
    {SYS_fork, 0, 0, 0, 0},
    {SYS_vfork, 0, 0, 0, 0},
    {SYS_clone, SIGCHLD, 0, 0, 0},
    {SYS_clone, CLONE_PARENT | CLONE_VM | SIGCHLD, 0, 0, 0},
    {SYS_clone, CLONE_PARENT | SIGCHLD | 1ULL << 32, 0, 0, 0},
    {SYS_clone, CLONE_PARENT | CLONE_UNTRACED | SIGCHLD, 0, 0, 0},
    {SYS_clone3, 0x68000040, 88, 0, 0},
    {SYS_setitimer, ITIMER_VIRTUAL, 0, 0, 0},
    {SYS_execve, 0x68000040, 0, 0, 0},
    {SYS_execveat, 3, 0x68000040, 0, 0},
    {SYS_socket, AF_INET, SOCK_DGRAM, 0, 0},
    {SYS_sendto, 3, 0x68000040, 1, 0},
    {SYS_sendmsg, 3, 0x68000040, 0, 0},
    {SYS_write, 1, 0x68000040, 1, 0},
    {SYS_read, 0, 0x68000040, 1, 0},
    {SYS_kill, 1, 0, 0, 0},
    {SYS_ptrace, 0, 0, 0, 0},
    {SYS_memfd_create, 0x68000040, 0, 0, 0},
    {SYS_recvmsg, 4, 0x68001000, 0, 0},
    {SYS_prctl, PR_SET_SECCOMP, 0, 0, 0},
    {SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0},
    {SYS_arch_prctl, 0x1002, 0, 0, 0},
    {SYS_madvise, 0x10000000, LZ_PAGE, 100 /* MADV_HWPOISON */, 0},
    {SYS_mmap, 0x10000000, LZ_PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED},
    {SYS_mmap, 0x10000000, LZ_PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE},
    {SYS_mmap, 0x10000000, LZ_PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB},
    {SYS_getpid, 0, 0, 0, 0},
    {SYS_shmget, 0, LZ_PAGE, 0, 0},
    {SYS_exit_group, 0, 0, 0, 0},
    {SYS_io_uring_setup, 1, 0x68000040, 0, 0},
    {0x40000000 | SYS_getpid, 0, 0, 0, 0},
};

START_TEST(filter_kills)
{
	struct lz_proc p = start();

	ck_assert_int_eq(call(&p, forbidden[_i].nr, forbidden[_i].a, forbidden[_i].b,
	                      forbidden[_i].c, forbidden[_i].d, (uint64_t)-1),
	                 -1);
	ck_assert_msg(strstr(lz_error(), "killed by its system call filter") != NULL, "%s",
	              lz_error());
	lz_stub_kill(&p);
}
END_TEST

/* The same call, allowed from the stub, is not from anywhere else. */
START_TEST(filter_knows_the_place)
{
	static const uint8_t code[] = {0x0f, 0x05, 0xcc};
	struct lz_proc p = start();

	ck_assert_int_eq(call(&p, SYS_close, 99, 0, 0, 0, 0), EBADF);
	ck_assert_int_eq(call(&p, SYS_mmap, elsewhere, LZ_PAGE, 7, fixed, (uint64_t)-1),
	                 -(int)elsewhere);
	ck_assert_int_eq(lz_proc_write(&p, elsewhere, code, sizeof code), 0);
	p.syscall_insn = elsewhere;
	ck_assert_int_eq(call(&p, SYS_close, 99, 0, 0, 0, 0), -1);
	ck_assert_msg(strstr(lz_error(), "killed by its system call filter") != NULL, "%s",
	              lz_error());
	lz_stub_kill(&p);
}
END_TEST

/* ---- calls that the process makes itself ---- */

enum { own = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE };

/* Room for code that ends with an int3, and its stack. */
static struct lz_proc start_own(void)
{
	struct lz_proc p = start();

	ck_assert_int_eq(call(&p, SYS_mmap, elsewhere, LZ_PAGE, 7, fixed, (uint64_t)-1),
	                 -(int)elsewhere);
	ck_assert_int_eq(lz_proc_write(&p, elsewhere, &(uint64_t[]){0xcc050f}, 8), 0);
	return p;
}

/* The process makes that call at INSN and returns to the int3. Returns how it stops. */
static int makes(struct lz_proc *p, bool barred, uint64_t insn, uint64_t nr, const uint64_t a[6],
                 struct user_regs_struct *r)
{
	const uint64_t sp = elsewhere + LZ_PAGE - 64, back = elsewhere + 2;
	int status = 0;

	ck_assert_int_eq(lz_proc_write(p, sp, &back, sizeof(back)), 0);
	ck_assert_int_eq(lz_proc_regs(p, r), 0);
	r->rip = insn;
	r->rsp = sp;
	r->rax = nr;
	r->orig_rax = (uint64_t)-1;
	r->rdi = a[0], r->rsi = a[1], r->rdx = a[2], r->r10 = a[3], r->r8 = a[4], r->r9 = a[5];
	ck_assert_int_eq(lz_proc_set_regs(p, r), 0);
	ck_assert_int_eq(lz_proc_bar(p, barred), 0);
	ck_assert_int_eq(ptrace(PTRACE_CONT, p->pid, 0, 0), 0);
	ck_assert_int_eq(waitpid(p->pid, &status, __WALL), p->pid);
	if (WIFSTOPPED(status))
		ck_assert_int_eq(lz_proc_regs(p, r), 0);
	return status;
}

static bool was_killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static const struct {
	uint64_t nr, a[6], result;
} allowed[] = {
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own, UINT64_MAX, 0}, 0x20000000},
    {SYS_mmap, {0x20000000, 1ULL << 29, 0, own, UINT64_MAX, 0}, 0x20000000},
    {SYS_mmap, {0x68010000, LZ_PAGE, 1, own, UINT64_MAX, 0}, 0x68010000},
    {SYS_mmap, {0x67fd0000, LZ_PAGE, 3, own, UINT64_MAX, 0}, 0x67fd0000},
    {SYS_mmap, {0x7ffff0000000, 0xffff0000, 3, own, UINT64_MAX, 0}, (uint64_t)-ENOMEM},
    {SYS_munmap, {0x20000000, 1ULL << 29}, 0},
    {SYS_munmap, {0x7f0000000000, 1ULL << 30}, 0},
    {SYS_mprotect, {0x10000000, LZ_PAGE, 3}, 0},
    {SYS_madvise, {0x10000000, 1, MADV_DONTNEED}, 0},
};

START_TEST(own_calls)
{
	struct lz_proc p = start_own();
	struct user_regs_struct r;

	ck_assert_int_eq(lz_stub_can_bar(&p), 1);
	int status = makes(&p, true, p.stub->map_insn, allowed[_i].nr, allowed[_i].a, &r);
	/* what it returns to may be gone, or not to be executed */
	ck_assert_msg(WIFSTOPPED(status), "status %#x", status);
	ck_assert_uint_eq(r.rax, allowed[_i].result);
	lz_stub_kill(&p);
}
END_TEST

static const struct {
	uint64_t nr, a[6];
} not_own[] = {
    {SYS_mmap, {0x20000000, LZ_PAGE, 7, own, UINT64_MAX, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3 | 1ULL << 32, own, UINT64_MAX, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own & ~MAP_FIXED, UINT64_MAX, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own ^ (MAP_PRIVATE | MAP_SHARED), UINT64_MAX, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own & ~MAP_ANONYMOUS, 3, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own | MAP_POPULATE, UINT64_MAX, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own | MAP_LOCKED, UINT64_MAX, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own | MAP_HUGETLB, UINT64_MAX, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own | MAP_GROWSDOWN, UINT64_MAX, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own, 0, 0}},
    {SYS_mmap, {0x20000000, LZ_PAGE, 3, own, UINT64_MAX, LZ_PAGE}},
    {SYS_mmap, {0x68000000, LZ_PAGE, 3, own, UINT64_MAX, 0}},
    {SYS_mmap, {0x6800f000, LZ_PAGE, 3, own, UINT64_MAX, 0}},
    {SYS_mmap, {0x67fff000, 2 * LZ_PAGE, 3, own, UINT64_MAX, 0}},
    {SYS_mmap, {0x10000000, 0x58001000, 3, own, UINT64_MAX, 0}},
    {SYS_mmap, {0x10000000, 1ULL << 46, 3, own, UINT64_MAX, 0}},
    {SYS_mmap, {0x20000000, UINT64_MAX, 3, own, UINT64_MAX, 0}},
    {SYS_mmap, {1ULL << 63, LZ_PAGE, 3, own, UINT64_MAX, 0}},
    {SYS_munmap, {0x68000000, LZ_PAGE}},
    {SYS_munmap, {0, 1ULL << 46}},
    {SYS_munmap, {0x10000000, 0xffffffff}},
    {SYS_munmap, {UINT64_MAX - 4095, 4097}},
    {SYS_mprotect, {0x68000000, LZ_PAGE, 3}},
    {SYS_mprotect, {0x10000000, LZ_PAGE, 7}},
    {SYS_mprotect, {0x10000000, LZ_PAGE, 3 | PROT_GROWSDOWN}},
    {SYS_madvise, {0x68000000, LZ_PAGE, MADV_DONTNEED}},
    {SYS_madvise, {0x10000000, LZ_PAGE, 100 /* MADV_HWPOISON */}},
    {SYS_mremap, {0x10000000, LZ_PAGE, 2 * LZ_PAGE, MREMAP_MAYMOVE}},
    {SYS_clone, {CLONE_PARENT | SIGCHLD}},
    {SYS_recvmsg, {3, 0x68001000}},
    {SYS_dup2, {3, 5}},
    {SYS_close, {3}},
    {SYS_setitimer, {ITIMER_REAL, 0, 0}},
    {SYS_prctl, {PR_SET_TSC, PR_TSC_ENABLE}},
    {SYS_prctl, {PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF}},
    {SYS_arch_prctl, {0x1012, 1}},
    {SYS_getpid, {0}},
    {0x40000000 | SYS_munmap, {0x20000000, LZ_PAGE}},
};

START_TEST(own_calls_are_few)
{
	struct lz_proc p = start_own();
	struct user_regs_struct r;

	ck_assert_int_eq(lz_stub_can_bar(&p), 1);
	int status = makes(&p, true, p.stub->map_insn, not_own[_i].nr, not_own[_i].a, &r);
	ck_assert_msg(was_killed(status), "status %#x", status);
	lz_proc_close(&p);
	p.pid = -1;
	lz_stub_kill(&p);
}
END_TEST

/* What else the process calls is not made, be it at the instruction of injected calls, and that is
 * told. */
START_TEST(bar_holds)
{
	struct lz_proc p = start_own(), copy;
	const uint64_t at[] = {elsewhere, stub}, none[6] = {elsewhere, LZ_PAGE};
	struct user_regs_struct r;
	siginfo_t info;

	ck_assert_int_eq(lz_stub_can_bar(&p), 1);
	for (int i = 0; i < 2; i++) {
		int status = makes(&p, true, at[i], SYS_munmap, none, &r);

		ck_assert_msg(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSYS, "status %#x",
		              status);
		ck_assert_int_eq(ptrace(PTRACE_GETSIGINFO, p.pid, 0, &info), 0);
		ck_assert_int_eq(info.si_code, 2 /* SYS_USER_DISPATCH */);
		ck_assert_uint_eq(r.rip, at[i] + 2);
		ck_assert_uint_eq(r.orig_rax, SYS_munmap);
	}
	/* injected calls are made, and after them it can be barred again */
	ck_assert_int_eq(call(&p, SYS_close, 99, 0, 0, 0, 0), EBADF);
	ck_assert_int_eq(WSTOPSIG(makes(&p, true, elsewhere, SYS_munmap, none, &r)), SIGSYS);
	/* where the kernel does not bar calls, the filter kills */
	ck_assert_int_eq(lz_stub_fork(&p, &copy), 0);
	ck_assert(!copy.stub->can_bar && !copy.stub->barred);
	ck_assert(was_killed(makes(&copy, true, elsewhere, SYS_munmap, none, &r)));
	ck_assert(was_killed(makes(&p, false, elsewhere, SYS_munmap, none, &r)));
	copy.pid = p.pid = -1;
	lz_stub_kill(&copy);
	lz_stub_kill(&p);
}
END_TEST

/* The stub says of a range what the filter does. */
START_TEST(apart)
{
	const struct lz_stub s = {.start = 0x68000000, .end = 0x68002000};

	ck_assert(lz_stub_is_apart(&s, 0x67fd0000, LZ_PAGE));
	ck_assert(!lz_stub_is_apart(&s, 0x67fe0000, LZ_PAGE));
	ck_assert(!lz_stub_is_apart(&s, 0x68002000, LZ_PAGE));
	ck_assert(lz_stub_is_apart(&s, 0x68010000, 1ULL << 46));
	ck_assert(!lz_stub_is_apart(&s, 0, 1ULL << 46));
	ck_assert(!lz_stub_is_apart(&s, 0, 1ULL << 47));
	ck_assert(!lz_stub_is_apart(&s, 1ULL << 47, LZ_PAGE));
	ck_assert(!lz_stub_is_apart(&s, UINT64_MAX, 1));
	ck_assert(!lz_stub_is_apart(&s, LZ_PAGE, UINT64_MAX));
}
END_TEST

/* In 32-bit code number 11 is execve, and number 91 munmap. */
START_TEST(in_32_bit_code)
{
	struct lz_proc p = start();
	struct user_regs_struct r;

	ck_assert_int_eq(call(&p, SYS_mmap, elsewhere, LZ_PAGE, 7, fixed, (uint64_t)-1),
	                 -(int)elsewhere);
	ck_assert_int_eq(lz_proc_regs(&p, &r), 0);
	r.cs = USER32_CS;
	ck_assert_int_eq(lz_proc_set_regs(&p, &r), 0);
	ck_assert_msg(call(&p, SYS_munmap, elsewhere, LZ_PAGE, 0, 0, 0) == 0, "%s", lz_error());
	ck_assert_int_eq(lz_proc_regs(&p, &r), 0);
	ck_assert_uint_eq(r.cs, USER32_CS);
	lz_stub_kill(&p);
}
END_TEST

/* Nothing of the kernel's is watched. */
START_TEST(debug_registers)
{
	struct lz_proc p = start();

	ck_assert_int_eq(lz_proc_set_debug(&p, 0, 0xffffffff81000000, 1, 'x'), -1);
	ck_assert_int_eq(lz_proc_set_debug(&p, 0, 1ULL << 47, 8, 'w'), -1);
	ck_assert_int_eq(lz_proc_set_debug(&p, 0, elsewhere, 8, 'w'), 0);
	lz_stub_kill(&p);
}
END_TEST

static const struct lz_meta places[] = {
    {.stub_addr = 0x68000001, .stub_len = STUB_LEN},
    {.stub_addr = 0x68000000, .stub_len = 1},
    {.stub_addr = 0x68000000, .stub_len = LZ_PAGE},
    {.stub_addr = 0x68000000, .stub_len = 1ULL << 47},
    {.stub_addr = 4096, .stub_len = STUB_LEN},
    {.stub_addr = 1ULL << 47, .stub_len = STUB_LEN},
    {.stub_addr = 1ULL << 63, .stub_len = STUB_LEN},
    {.stub_addr = UINT64_MAX - 4095, .stub_len = STUB_LEN},
};

START_TEST(no_place_for_the_stub)
{
	struct lz_proc p;

	ck_assert_int_eq(lz_stub_start(&p, &places[_i]), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "no valid range"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walls");
	TCase *t = tcase_create("walls");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, gate_refuses, 0, sizeof bad / sizeof *bad);
	tcase_add_test(t, gate_passes);
	tcase_add_loop_test(t, filter_kills, 0, sizeof forbidden / sizeof *forbidden);
	tcase_add_test(t, filter_knows_the_place);
	tcase_add_loop_test(t, own_calls, 0, sizeof allowed / sizeof *allowed);
	tcase_add_loop_test(t, own_calls_are_few, 0, sizeof not_own / sizeof *not_own);
	tcase_add_test(t, bar_holds);
	tcase_add_test(t, apart);
	tcase_add_test(t, in_32_bit_code);
	tcase_add_test(t, debug_registers);
	tcase_add_loop_test(t, no_place_for_the_stub, 0, sizeof places / sizeof *places);
	suite_add_tcase(s, t);
	return run_suite(s);
}
