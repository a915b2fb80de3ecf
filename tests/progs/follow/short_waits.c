/* A child waits for a futex for moments only, again and again, and is to be woken within one of them: its parent does
 * nothing but wake. */
#include "check.h"
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

/* So much that to compare it takes longer than such a wait. */
enum { WOKEN = 10, SIZE = 4 << 20 };
static int *word; /* and whether the child has had enough */

static int wait_often(void *arg)
{
	const struct timespec moment = {0, 5000};

	(void)arg;
	for (int woken = 0; woken < WOKEN;)
		woken += syscall(SYS_futex, word, FUTEX_WAIT, 0, &moment, NULL, 0) == 0;
	__atomic_store_n(word + 1, 1, __ATOMIC_SEQ_CST);
	return 0;
}

int main(void)
{
	int status;

	word = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(word != MAP_FAILED);
	memset(word + SIZE / 8, 7, SIZE / 2);
	const pid_t pid = child(wait_often, NULL);
	while (!__atomic_load_n(word + 1, __ATOMIC_SEQ_CST))
		CHECK(syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	DONE();
}
