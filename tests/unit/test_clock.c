/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread without the time-stamp counter: the library's clock works, what reads the counter nevertheless gets it, and what it
 * starts has it. */
#include "tests/unit/suite.h"

#include <check.h>
#include <common/base/clock.h>
#include <common/base/thread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

static bool may_read(void)
{
	int mode = 0;

	ck_assert_int_eq(prctl(PR_GET_TSC, &mode), 0);
	return mode == PR_TSC_ENABLE;
}

START_TEST(forgone)
{
	ck_assert(lz_counter_allow(false));
	ck_assert(!may_read());
	uint64_t a = lz_now();
	ck_assert_uint_ge(lz_now(), a);
	ck_assert_msg(!may_read(), "the clock reads the counter");
	ck_assert(!lz_counter_allow(false));
	ck_assert(!lz_counter_allow(true));
	ck_assert(may_read());
	ck_assert(lz_counter_allow(true));
}
END_TEST

START_TEST(read_anyway)
{
	unsigned aux;

	lz_counter_allow(false);
	ck_assert_uint_gt(__rdtsc(), 0);
	ck_assert(may_read());
	lz_counter_allow(false);
	ck_assert_uint_gt(__rdtscp(&aux), 0);
	ck_assert(lz_counter_allow(false)); /* it could again */
	lz_counter_allow(true);
}
END_TEST

static void *ask(void *arg)
{
	*(bool *)arg = may_read();
	return NULL;
}

START_TEST(thread)
{
	pthread_t it;
	bool could = false;

	lz_counter_allow(false);
	ck_assert_int_eq(lz_thread_start(&it, "test", ask, &could), 0);
	pthread_join(it, NULL);
	ck_assert(could);
	ck_assert(!may_read());
	lz_counter_allow(true);
}
END_TEST

/* The signal that a child without the counter ends with, or minus its exit status. */
static int child_status(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		lz_counter_allow(false);
		run();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void store_nowhere(void)
{
	*(volatile char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

static void get_signal(void)
{
	kill(getpid(), SIGSEGV);
}

/* Faults of another kind, and signals that are sent, end the process as ever. */
START_TEST(other_faults)
{
	ck_assert_int_eq(child_status(store_nowhere), SIGSEGV);
	ck_assert_int_eq(child_status(get_signal), SIGSEGV);
}
END_TEST

static void read_it(void)
{
	__rdtsc();
}

/* Who starts us may block all signals. */
START_TEST(blocked)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	ck_assert_int_eq(child_status(read_it), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clock");
	TCase *t = tcase_create("counter");

	tcase_add_test(t, forgone);
	tcase_add_test(t, read_anyway);
	tcase_add_test(t, thread);
	tcase_add_test(t, other_faults);
	tcase_add_test(t, blocked);
	suite_add_tcase(s, t);
	return run_suite(s);
}
