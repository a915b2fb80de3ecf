/* A child has the flags that its parent has set for itself. */
#include "check.h"
#include <sys/personality.h>

static int has(void *flag)
{
	const unsigned long now = (unsigned long)personality(0xffffffff);

	return (now & STICKY_TIMEOUTS) == (unsigned long)(uintptr_t)flag ? 0 : 1;
}

static void check_child(unsigned long flag)
{
	int status;

	CHECK(waitpid(child(has, (void *)(uintptr_t)flag), &status, 0) > 0 && status == 0);
}

int main(void)
{
	const unsigned long before =
	    (unsigned long)personality(0xffffffff) & ~(unsigned long)STICKY_TIMEOUTS;

	check_child(0);
	CHECK(personality(before | STICKY_TIMEOUTS) != -1);
	check_child(STICKY_TIMEOUTS);
	CHECK(personality(before) != -1);
	check_child(0);
	DONE();
}
