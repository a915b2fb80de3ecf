/* A thread without the time-stamp counter: the library's clock works, what reads the counter nevertheless gets it, and what it
 * starts has it. */
#include "tests/unit/suite.h"

#include <check.h>
#include <common/clock.h>
#include <common/thread.h>
#include <signal.h>
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

/* A fault of another kind ends the process as ever. */
START_TEST(other_fault)
{
	volatile int *volatile nowhere = NULL;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		lz_counter_allow(false);
		*nowhere = 1;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clock");
	TCase *t = tcase_create("counter");

	tcase_add_test(t, forgone);
	tcase_add_test(t, read_anyway);
	tcase_add_test(t, thread);
	tcase_add_test(t, other_fault);
	suite_add_tcase(s, t);
	return run_suite(s);
}
