/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many system call instructions, each of which makes one call. With an argument, SIGSYS is ignored. */
#include <signal.h>
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

int main(int argc, char **argv)
{
	long sum = 0, result;

	(void)argv;
	signal(SIGSYS, argc > 1 ? SIG_IGN : SIG_DFL);
	for (int i = 0; i < 100; i++) /* from here on it is worth it */
		getuid();
	CALLS_8;
	CALLS_8;
	CALLS_8;
	CALLS_8;
	puts(sum == 32 * (long)getppid() ? "all is well" : "they differ");
	return result < 0;
}
