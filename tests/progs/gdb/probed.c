/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A longjmp of which a probe tells, as in the C libraries of some releases: out of two calls, out of one that is called from
 * elsewhere and comes back, and within a call. */
#include <stdio.h>

typedef unsigned long buffer[8];

__attribute__((returns_twice)) int set_here(buffer b);
__attribute__((noreturn)) void go_there(buffer b, int value);

asm(".text\n"
    ".globl set_here, go_there\n"
    ".type set_here, @function\n"
    "set_here:\n"
    "	.cfi_startproc\n"
    "	mov %rbx, (%rdi)\n"
    "	mov %rbp, 8(%rdi)\n"
    "	mov %r12, 16(%rdi)\n"
    "	mov %r13, 24(%rdi)\n"
    "	mov %r14, 32(%rdi)\n"
    "	mov %r15, 40(%rdi)\n"
    "	lea 8(%rsp), %rax\n"
    "	mov %rax, 48(%rdi)\n"
    "	mov (%rsp), %rax\n"
    "	mov %rax, 56(%rdi)\n"
    "	xor %eax, %eax\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size set_here, . - set_here\n"
    ".type go_there, @function\n"
    "go_there:\n"
    "	.cfi_startproc\n"
    "	mov 56(%rdi), %rdx\n"
    "0:	nop\n"
    "	mov (%rdi), %rbx\n"
    "	mov 8(%rdi), %rbp\n"
    "	mov 16(%rdi), %r12\n"
    "	mov 24(%rdi), %r13\n"
    "	mov 32(%rdi), %r14\n"
    "	mov 40(%rdi), %r15\n"
    "	mov 48(%rdi), %rsp\n"
    "	mov %esi, %eax\n"
    "	jmp *%rdx\n"
    "	.cfi_endproc\n"
    ".size go_there, . - go_there\n"
    ".section .note.stapsdt, \"\", @note\n"
    "	.balign 4\n"
    "	.long 2f - 1f, 4f - 3f, 3\n"
    "1:	.asciz \"stapsdt\"\n"
    "2:	.balign 4\n"
    "3:	.quad 0b, base, 0\n"
    "	.asciz \"libc\"\n"
    "	.asciz \"longjmp\"\n"
    "	.asciz \"8@%rdi -4@%esi 8@%rdx\"\n"
    "4:	.balign 4\n"
    ".section .stapsdt.base, \"a\", @progbits\n"
    "base:	.byte 0\n"
    ".text\n");

static buffer out;
static int n;

static void leave(int value)
{
	n++;
	go_there(out, value);
}

static void deep(int value)
{
	n += value;
	leave(value);
	n = 0;
}

static int within(int value)
{
	int s = 1;

	if (!set_here(out))
		deep(value);
	s += value;
	return s;
}

int main(void)
{
	volatile int s = 0;

	for (int i = 1; i < 4; i++) {
		if (!set_here(out))
			deep(i);
		s += n;
		s += within(i);
	}
	return printf("%d\n", s) < 0;
}
