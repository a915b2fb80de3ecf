/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of the vDSO that programs find while they are recorded: each makes its system call. */
#include <sys/syscall.h>

	.macro function name, number
	.text
	.balign 16
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	movl $\number, %eax
	syscall
	ret
	.cfi_endproc
	.size \name, . - \name
	.endm

	function __vdso_clock_gettime, SYS_clock_gettime
	function __vdso_gettimeofday, SYS_gettimeofday
	function __vdso_time, SYS_time
	function __vdso_clock_getres, SYS_clock_getres
	function __vdso_getcpu, SYS_getcpu
	/* A changed instruction may need what is behind it. */
	.balign 64, 0xcc
	.section .note.GNU-stack, "", @progbits
