/* System calls in a library between the markers of its callers and of what it calls back. */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

long plain(long (*fn)(long), long x);
long with_r15(long (*fn)(long), long x);

static long spin(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i & 1 ? i : 1;
	return sum;
}

/* The same, and a system call in the midst of it, with the pointer in r15 only. */
static long spin_and_call(long n)
{
	long sum = 0, parent;

	for (long i = 0; i < n; i++) {
		sum += i & 1 ? i : 1;
		if (i % 20000 == 19999) {
			__asm__ volatile("syscall"
			                 : "=a"(parent)
			                 : "a"(SYS_getppid)
			                 : "rcx", "r11", "memory");
			sum += parent > 0;
		}
	}
	return sum;
}

int main(void)
{
	long sum = 0;

	for (long i = 0; i < 300; i++) {
		long n = i * 7919 % 60000;

		sum += plain(spin, n) + with_r15(spin, n / 3) + plain(spin_and_call, n);
		sum += spin(n) + with_r15(spin_and_call, n / 2);
	}
	/* So many markers that the ring of buffers goes round: the old pointer may be before the end, or behind it. */
	for (long i = 0; i < 80; i++)
		sum += plain(spin, 400000 + i * 37000);
	printf("%ld\n", sum);
	return 0;
}
