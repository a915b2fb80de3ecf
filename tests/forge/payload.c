/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine code of the forger's. It does its harm in the directory in which the command was run. */
#include "tests/forge/forge.h"

#include <string.h>

#define CODE(name, text)                                                                           \
	__asm__(".pushsection .rodata\n.globl " #name "," #name "_end\n" #name ":" text "\n" #name \
	        "_end:\n.code64\n.popsection\n");                                                  \
	extern const uint8_t name[], name##_end[]

CODE(code_creat, "mov $85, %eax; lea 1f(%rip), %rdi; mov $0600, %esi; syscall; int3\n"
                 "1: .asciz \"owned\"");
CODE(code_open, "mov $257, %eax; mov $-100, %edi; lea 1f(%rip), %rsi; mov $0101, %edx; mov $0600, "
                "%r10d; syscall; int3\n1: .asciz \"owned\"");
CODE(code_mkdir, "mov $83, %eax; lea 1f(%rip), %rdi; mov $0700, %esi; syscall; int3\n"
                 "1: .asciz \"owned\"");
/* The child's rdtsc and cpuid are let be again: the loader needs them. */
CODE(code_vfork, "mov $58, %eax; syscall; test %eax, %eax; jz 1f; int3\n"
                 "1: mov $157, %eax; mov $26, %edi; mov $1, %esi; syscall\n"
                 "mov $158, %eax; mov $0x1012, %edi; mov $1, %esi; syscall\n"
                 "mov $59, %eax; lea 2f(%rip), %rdi; push $0; lea 4f(%rip), %rsi; push %rsi\n"
                 "lea 3f(%rip), %rsi; push %rsi; push %rdi; mov %rsp, %rsi; xor %edx, %edx\n"
                 "syscall; int3\n"
                 "2: .asciz \"/bin/sh\"\n3: .asciz \"-c\"\n4: .asciz \"id >owned\"");
CODE(code_untraced, "mov $56, %eax; mov $0x00800011, %edi; xor %esi, %esi; syscall\n"
                    "test %eax, %eax; jz code_creat; int3");
CODE(code_execve,
     "mov $59, %eax; lea 1f(%rip), %rdi; xor %esi, %esi; xor %edx, %edx; syscall; int3\n"
     "1: .asciz \"/bin/true\"");
CODE(code_packet,
     "mov $41, %eax; mov $2, %edi; mov $2, %esi; xor %edx, %edx; syscall\n"
     "mov %eax, %edi; mov $44, %eax; lea 1f(%rip), %rsi; mov $5, %edx; xor %r10d, %r10d\n"
     "lea 2f(%rip), %r8; mov $16, %r9d; syscall; int3\n"
     "1: .asciz \"owned\"\n2: .byte 2, 0, 0, 9, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0");
CODE(code_int80, "mov $8, %eax; lea 1f(%rip), %rbx; mov $0600, %ecx; int $0x80; int3\n"
                 "1: .asciz \"owned\"");
CODE(code_sysenter, "mov $8, %eax; lea 1f(%rip), %rbx; mov $0600, %ecx; mov %rsp, %rbp; sysenter\n"
                    "1: .asciz \"owned\"");
CODE(code_endless, "1: jmp 1b");
CODE(code_clock, "mov $0xffffffffff600400, %rax; xor %edi, %edi; call *%rax; int3");
CODE(code_syscall32, ".code32\ncall 1f; .asciz \"owned\"\n"
                     "1: pop %ebx; mov $8, %eax; mov $0600, %ebp; mov %ebp, %ecx; syscall; int3");
CODE(code_int80_32, ".code32\ncall 1f; .asciz \"owned\"\n"
                    "1: pop %ebx; mov $8, %eax; mov $0600, %ecx; int $0x80; int3");
CODE(code_sysenter32, ".code32\ncall 1f; .asciz \"owned\"\n"
                      "1: pop %ebx; mov $8, %eax; mov $0600, %ecx; mov %esp, %ebp; sysenter");

#define P(name, bits)                                                                              \
	{                                                                                          \
		&#name[5], name, name##_end, bits == 32                                            \
	}
static const struct payload payloads[] = {
    P(code_creat, 64),    P(code_open, 64),       P(code_mkdir, 64),    P(code_vfork, 64),
    P(code_execve, 64),   P(code_packet, 64),     P(code_int80, 64),    P(code_sysenter, 64),
    P(code_endless, 64),  P(code_clock, 64),      P(code_untraced, 64), P(code_syscall32, 32),
    P(code_int80_32, 32), P(code_sysenter32, 32),
};

const struct payload *payload_pick(void)
{
	return &payloads[pick(N_OF(payloads))];
}

const struct payload *payload_named(const char *name)
{
	for (uint32_t i = 0; i < N_OF(payloads); i++)
		if (!strcmp(payloads[i].name, name))
			return &payloads[i];
	return NULL;
}
