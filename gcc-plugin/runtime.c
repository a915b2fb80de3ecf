/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The in-process runtime: where markers go, and the hello to a tracer. It
 * depends on no library and is not instrumented itself. */
#include <lizard/marker.h>
#include "runtime.h"

#ifdef __PIC__
#ifndef __PIE__
#define LZ_SHARED 1
#endif
#endif

/* Twice the window, so that an aligned window fits wherever it is loaded. All
 * threads share it as long as no tracer gives them buffers. */
unsigned char __lizard_sink[2 * LZ_SINK_SIZE + LZ_SINK_PAD] __attribute__((aligned(4096)));

#define FIRST_POSITION (__lizard_sink + LZ_SINK_SIZE - 1)

__thread unsigned char *__lizard_pos __attribute__((tls_model("initial-exec"))) = FIRST_POSITION;

/* Checking mode: where r15 must be. */
__thread unsigned char *__lizard_expect __attribute__((tls_model("initial-exec"))) = FIRST_POSITION;

uint32_t __lizard_traced;
/* Set by the first hello: a shared library's runtime then keeps quiet. */
uint32_t __lizard_greeted;

/* The bounds of a section that only code built in checking mode has. */
extern const char __start_lizard_check[] __attribute__((weak, visibility("hidden")));

/* r9 is cleared behind it: no later brk(0) looks like a hello. */
static void hello_call(unsigned char *sink, unsigned char **pos, long offset, uint64_t flags)
{
	register long r10 __asm__("r10") = offset;
	register uint32_t *r8 __asm__("r8") = &__lizard_traced;
	register uint64_t r9 __asm__("r9") =
	    LZ_HELLO_MAGIC << 16 | (uint64_t)LZ_HELLO_VERSION << 8 | flags;
	long result = LZ_HELLO_NR;

	__asm__ volatile("syscall\n\txorl %%r9d, %%r9d"
	                 : "+a"(result), "+r"(r9)
	                 : "D"(0L), "S"(sink), "d"(pos), "r"(r10), "r"(r8)
	                 : "rcx", "r11", "cc", "memory");
}

static void hello(void)
{
	uintptr_t sink = ((uintptr_t)__lizard_sink + LZ_SINK_SIZE - 1) & -(uintptr_t)LZ_SINK_SIZE;
	uintptr_t thread;

	if (__lizard_greeted)
		return;
	__lizard_greeted = 1;
	__asm__("mov %%fs:0, %0" : "=r"(thread));
	hello_call((unsigned char *)sink, &__lizard_pos, (long)((uintptr_t)&__lizard_pos - thread),
	           &__start_lizard_check ? LZ_HELLO_CHECKING : 0);
}

void __lizard_begin(void)
{
	__lizard_pos = FIRST_POSITION;
	__lizard_expect = FIRST_POSITION;
	hello();
}

/* A shared library can't greet earlier than its constructors. */
#ifdef LZ_SHARED
__attribute__((section(".init_array"), used)) static void (*const hello_entry)(void) = hello;
#else
__attribute__((section(".preinit_array"), used)) static void (*const hello_entry)(void) = hello;
#endif

/* Called by a marker in checking mode that found r15 elsewhere than expected;
 * all registers are preserved. Under a tracer, which moves r15, it adopts the
 * new place; otherwise it stops the program. */
__asm__(".text\n"
        ".globl __lizard_unexpected\n"
        ".type __lizard_unexpected, @function\n"
        "__lizard_unexpected:\n"
        "	pushq %rax\n"
#ifdef LZ_SHARED
        "	movq __lizard_traced@GOTPCREL(%rip), %rax\n"
        "	cmpl $0, (%rax)\n"
#else
        "	cmpl $0, __lizard_traced(%rip)\n"
#endif
        "	jne 1f\n"
        "	ud2\n"
        "1:	movq __lizard_expect@gottpoff(%rip), %rax\n"
        "	movq %r15, %fs:(%rax)\n"
        "	popq %rax\n"
        "	ret\n"
        ".size __lizard_unexpected, .-__lizard_unexpected\n");
