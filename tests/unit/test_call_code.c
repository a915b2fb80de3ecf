/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that a stopped process makes with one stop, one call and several: their results, and that nothing of it is left, whatever
 * becomes of SIGTRAP. */
#include "suite.h"
#include <common/process/call_code.h>
#include <lizard/error.h>
#include <lizard/proc.h>
#include <lizard/recording.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 8 }; /* more than one piece of code makes */
static struct lz_proc p;
static uint64_t handler;
static struct user_regs_struct before;
static uint8_t *code;

static void on_trap(int signo)
{
	_exit(signo);
}

/* A process that stands; what it does about SIGTRAP is ACTION. */
static void start(void (*action)(int))
{
	static const uint8_t call[] = {0x0f, 0x05, 0xcc};
	int status, ready[2];
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	code = mmap(NULL, 2 * LZ_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(code != MAP_FAILED);
	memcpy(code, call, sizeof(call));
	handler = (uint64_t)(uintptr_t)action;
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGTRAP, action);
		while (write(ready[1], "", 1) == 1)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	ck_assert(ptrace(PTRACE_SEIZE, pid, 0,
	                 PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT) == 0 &&
	          ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0 && waitpid(pid, &status, __WALL) == pid);
	ck_assert_int_eq(lz_proc_open(&p, pid), 0);
	p.syscall_insn = (uintptr_t)code;
	p.calls_at = (uintptr_t)code + LZ_PAGE;
	p.on_trap = &handler;
	ck_assert_int_eq(lz_proc_regs(&p, &before), 0);
}

static void end(void)
{
	struct user_regs_struct now;

	ck_assert(lz_proc_regs(&p, &now) == 0 && now.rip == before.rip && now.rsp == before.rsp &&
	          now.rbx == before.rbx && now.r12 == before.r12 && now.rax == before.rax);
	kill(p.pid, SIGKILL);
	waitpid(p.pid, NULL, __WALL);
	lz_proc_close(&p);
}

/* The value behind KEY in /proc/PID/status, a mask of signals. */
static bool has_trap(const char *key)
{
	char path[64], line[256];
	uint64_t mask = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)p.pid);
	FILE *f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			mask = strtoull(line + strlen(key), NULL, 16);
	fclose(f);
	return mask >> (SIGTRAP - 1) & 1;
}

/* Of one SIGTRAP that waits: who has sent it; 0: none does. */
static pid_t waits(void)
{
	struct __ptrace_peeksiginfo_args which = {.nr = 1};
	siginfo_t info;

	return ptrace(PTRACE_PEEKSIGINFO, p.pid, &which, &info) == 1 && info.si_signo == SIGTRAP
	           ? info.si_pid
	           : 0;
}

static void make_calls(uint64_t last, uint64_t arg2)
{
	struct lz_proc_call c[CALLS];

	for (int i = 0; i < CALLS; i++)
		c[i] = (struct lz_proc_call){
		    .nr = SYS_mmap,
		    .args = {0x10000000 + (uint64_t)i * LZ_PAGE, LZ_PAGE, PROT_READ,
		             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (uint64_t)-1, 0}};
	c[3] = (struct lz_proc_call){.nr = SYS_close, .args = {99}};
	c[CALLS - 1] =
	    (struct lz_proc_call){.nr = last, .args = {(uint64_t)p.pid, (uint64_t)p.pid, arg2}};
	ck_assert_msg(lz_proc_calls(&p, c, CALLS) == 0, "%s", lz_error());
	for (int i = 0; i < CALLS - 1; i++)
		ck_assert_int_eq(c[i].result, i == 3 ? -EBADF : 0x10000000 + i * (int64_t)LZ_PAGE);
	ck_assert_int_eq(c[CALLS - 1].result, last == SYS_getpid ? p.pid : 0);
}

static void make_one(void)
{
	int64_t result;

	ck_assert(lz_proc_syscall(&p, &result, SYS_getpid, 0, 0, 0, 0, 0, 0) == 0 &&
	          result == p.pid);
}

START_TEST(results)
{
	start(_i ? on_trap : SIG_DFL);
	make_calls(SYS_getpid, 0);
	make_one();
	ck_assert_int_eq(has_trap("SigCgt:"), _i);
	ck_assert(!has_trap("SigBlk:") && !waits());
	end();
}
END_TEST

/* An int3 would end that. */
START_TEST(ignored)
{
	start(SIG_IGN);
	make_calls(SYS_getpid, 0);
	make_one();
	ck_assert(has_trap("SigIgn:"));
	end();
}
END_TEST

START_TEST(blocked)
{
	uint64_t mask = 1ULL << (SIGTRAP - 1);

	start(on_trap);
	ck_assert(ptrace(PTRACE_SETSIGMASK, p.pid, sizeof(mask), &mask) == 0);
	ck_assert(syscall(SYS_tgkill, p.pid, p.pid, SIGTRAP) == 0);
	make_calls(SYS_getpid, 0);
	make_one();
	ck_assert(has_trap("SigBlk:") && has_trap("SigCgt:") && waits() == getpid());
	end();
}
END_TEST

/* It comes in front of the calls, and waits behind them as before. */
START_TEST(sent_before)
{
	start(on_trap);
	ck_assert(syscall(SYS_tgkill, p.pid, p.pid, SIGTRAP) == 0);
	if (_i)
		make_calls(SYS_getpid, 0);
	else
		make_one();
	ck_assert(waits() == getpid() && has_trap("SigCgt:") && !has_trap("SigBlk:"));
	end();
}
END_TEST

/* The last call has been made then. */
START_TEST(sent_behind)
{
	int64_t result;

	start(on_trap);
	if (_i)
		make_calls(SYS_tgkill, SIGTRAP);
	else
		ck_assert(lz_proc_syscall(&p, &result, SYS_tgkill, (uint64_t)p.pid, (uint64_t)p.pid,
		                          SIGTRAP, 0, 0, 0) == 0 &&
		          result == 0);
	ck_assert(waits() == p.pid && has_trap("SigCgt:") && !has_trap("SigBlk:"));
	end();
}
END_TEST

static bool has_descriptor(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)p.pid, fd);
	return access(path, F_OK) == 0;
}

/* The address of the second one depends on the first one, which fails or not. */
START_TEST(left_out)
{
	const uint64_t at = 0x20000000, anon = MAP_PRIVATE | MAP_ANONYMOUS;
	uint8_t byte;

	start(_i & 1 ? on_trap : SIG_IGN);
	const bool fails = _i & 2;
	struct lz_proc_call c[] = {
	    {.nr = SYS_getpid, .untold = true, .result = 4711},
	    {.nr = SYS_mmap, .args = {at, fails ? 0 : LZ_PAGE, PROT_READ, anon | MAP_FIXED, ~0ULL}},
	    {.nr = SYS_mmap,
	     .args = {at + LZ_PAGE, LZ_PAGE, PROT_READ, anon | MAP_FIXED, ~0ULL},
	     .if_done = true},
	    {.nr = SYS_munmap, .args = {at, LZ_PAGE}, .if_done = true}};
	ck_assert_int_eq(lz_proc_calls(&p, c, 4), 0);
	ck_assert_int_eq(c[1].result, fails ? -EINVAL : (int64_t)at);
	ck_assert_int_eq(c[2].result, fails ? -EINVAL : (int64_t)at + LZ_PAGE);
	ck_assert_int_eq(c[3].result, fails ? -EINVAL : 0);
	ck_assert_int_eq(lz_proc_read_some(&p, at + LZ_PAGE, &byte, 1), !fails);
	ck_assert_int_eq(lz_proc_read_some(&p, at, &byte, 1), 0);
	end();
}
END_TEST

/* Where one piece of code ends and the next begins, too. */
START_TEST(left_out_anywhere)
{
	struct lz_proc_call c[LZ_CALLS_AT_ONCE + 2];
	const size_t n = sizeof(c) / sizeof(*c);

	start(on_trap);
	for (size_t i = 0; i < n; i++)
		c[i] = (struct lz_proc_call){.nr = SYS_getpid, .if_done = i > (size_t)_i};
	c[_i] = (struct lz_proc_call){.nr = SYS_close, .args = {99}};
	ck_assert_int_eq(lz_proc_calls(&p, c, n), 0);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(c[i].result, i < (size_t)_i ? p.pid : -EBADF);
	end();
}
END_TEST

/* Along with one call, with several, and with none. */
START_TEST(closed_later)
{
	struct lz_proc_call c[] = {{.nr = SYS_getpid}, {.nr = SYS_getppid}};
	int64_t fd[LZ_LATER + 1];

	start(_i & 1 ? on_trap : SIG_IGN);
	for (int i = 0; i <= LZ_LATER; i++)
		ck_assert(lz_proc_syscall(&p, &fd[i], SYS_dup, 1, 0, 0, 0, 0, 0) == 0 &&
		          fd[i] >= 0);
	for (int i = 0; i <= LZ_LATER; i++) {
		ck_assert(has_descriptor((int)fd[i]));
		ck_assert_int_eq(lz_proc_close_later(&p, (int)fd[i]), 0);
	}
	ck_assert(!has_descriptor((int)fd[0]) && has_descriptor((int)fd[LZ_LATER]));
	if (_i < 2)
		make_one();
	else if (_i < 4)
		ck_assert(lz_proc_calls(&p, c, 2) == 0 && c[0].result == p.pid &&
		          c[1].result == getpid());
	else
		ck_assert_int_eq(lz_proc_close_now(&p), 0);
	ck_assert(!has_descriptor((int)fd[LZ_LATER]) && p.n_later == 0);
	end();
}
END_TEST

/* A replayed process makes none that touches the stub, several calls or one. */
START_TEST(guarded)
{
	const uint64_t at = 0x20000000;
	const uint64_t how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	struct lz_stub stub = {.start = at, .end = at + LZ_PAGE, .socket = -1};
	struct lz_proc_call c[] = {{.nr = SYS_getpid},
	                           {.nr = SYS_mmap, .args = {at, LZ_PAGE, PROT_READ, how, ~0ULL}}};
	uint8_t byte;

	start(on_trap);
	p.on_trap = NULL;
	p.stub = &stub;
	ck_assert_int_eq(lz_proc_calls(&p, c + !_i, _i ? 2 : 1), -1);
	ck_assert_msg(strstr(lz_error(), "touches the replay stub"), "%s", lz_error());
	ck_assert_int_eq(lz_proc_read_some(&p, at, &byte, 1), 0);
	p.stub = NULL;
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("call_code");
	TCase *c = tcase_create("call_code");

	tcase_add_loop_test(c, results, 0, 2);
	tcase_add_test(c, ignored);
	tcase_add_test(c, blocked);
	tcase_add_loop_test(c, sent_before, 0, 2);
	tcase_add_loop_test(c, sent_behind, 0, 2);
	tcase_add_loop_test(c, left_out, 0, 4);
	tcase_add_loop_test(c, left_out_anywhere, 0, LZ_CALLS_AT_ONCE + 1);
	tcase_add_loop_test(c, closed_later, 0, 6);
	tcase_add_loop_test(c, guarded, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
