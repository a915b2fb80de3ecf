/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many system call instructions, each of which makes one call. */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL                                                                                       \
	__asm__ volatile("syscall\n\tmov %%rax, %%rdx\n\tadd %%rdx, %[sum]"                        \
	                 : [sum] "+r"(sum), "=a"(result)                                           \
	                 : "a"(SYS_getppid)                                                        \
	                 : "rcx", "r11", "rdx", "memory")
#define CALLS_8                                                                                    \
	CALL;                                                                                      \
	CALL;                                                                                      \
	CALL;                                                                                      \
	CALL;                                                                                      \
	CALL;                                                                                      \
	CALL;                                                                                      \
	CALL;                                                                                      \
	CALL

int main(void)
{
	long sum = 0, result;

	for (int i = 0; i < 100; i++) /* from here on it is worth it */
		getuid();
	CALLS_8;
	CALLS_8;
	CALLS_8;
	CALLS_8;
	puts(sum == 32 * (long)getppid() ? "all is well" : "they differ");
	return result < 0;
}
