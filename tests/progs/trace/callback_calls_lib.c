/* No markers here. Calls back, and makes a system call with whatever that has left in r15: the caller's value, which is the
 * write pointer as it was before, or one of its own. */
#include <sys/syscall.h>
#include <unistd.h>

long plain(long (*fn)(long), long x)
{
	long sum = fn(x);

	return sum + (syscall(SYS_getppid) > 0);
}

long with_r15(long (*fn)(long), long x)
{
	register long keep __asm__("r15") = x;

	__asm__ volatile("" : "+r"(keep));
	long sum = fn(x) + (syscall(SYS_getppid) > 0);
	__asm__ volatile("" : "+r"(keep));
	return sum + keep - x;
}
