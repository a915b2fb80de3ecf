/* inline asm: r15 in a clobber list, in a local register variable, an asm that calls, one that makes a
 * system call, asm goto */
#include <sys/syscall.h>
#include <unistd.h>
#include "check.h"

static long clobbering(long x)
{
	long r;

	__asm__ volatile("mov %1, %%r15\n\tadd $5, %%r15\n\tmov %%r15, %0"
	                 : "=r"(r)
	                 : "r"(x)
	                 : "r15");
	return r;
}

static long in_register(long x)
{
	register long v __asm__("r15") = x;

	__asm__ volatile("add $7, %0" : "+r"(v));
	return v;
}

__attribute__((used, noinline)) static long called_from_asm(long x)
{
	return x > 3 ? x * 2 : x;
}

static long calling(long x)
{
	long r;

	__asm__ volatile("sub $128, %%rsp\n\tpush %%rbp\n\tmov %%rsp, %%rbp\n\tand $-16, %%rsp\n\t"
	                 "call called_from_asm\n\tmov %%rbp, %%rsp\n\tpop %%rbp\n\tadd $128, %%rsp"
	                 : "=a"(r)
	                 : "D"(x)
	                 : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	return r;
}

static long pid(void)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(SYS_getpid) : "rcx", "r11", "memory");
	return r;
}

static int asm_goto(int x)
{
	__asm__ goto("test %0, %0\n\tjs %l1" : : "r"(x) : "cc" : negative);
	return x + 1;
negative:
	return -x;
}

int main(void)
{
	long s = 0;

	for (long i = 0; i < 100; i++)
		s += clobbering(i) + in_register(i) + calling(i);
	printf("%ld\n", s);
	CHECK(s == 20994 && pid() == getpid());
	CHECK(asm_goto(4) == 5 && asm_goto(-9) == 9);
	DONE("inline_asm");
}
