/* What a runtime of the first version does: its hello is a system call that no kernel has. To be compiled without markers
 * and linked with lizard-cc, whose runtime then keeps quiet. */
#include <stdint.h>
#include <lizard/marker.h>

extern unsigned char __lizard_sink[];
extern uint32_t __lizard_traced, __lizard_greeted;
extern __thread unsigned char *__lizard_pos __attribute__((tls_model("initial-exec")));

static void hello(void)
{
	uintptr_t sink = ((uintptr_t)__lizard_sink + LZ_SINK_SIZE - 1) & -(uintptr_t)LZ_SINK_SIZE;
	uintptr_t thread;
	long result;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	register long r10 __asm__("r10") = (long)((uintptr_t)&__lizard_pos - thread);
	register uint32_t *r8 __asm__("r8") = &__lizard_traced;
	register long r9 __asm__("r9") = 0;
	__lizard_greeted = 1;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"((long)LZ_HELLO_NR_1), "D"(1L), "S"(sink), "d"(&__lizard_pos),
	                   "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
}

__attribute__((section(".preinit_array"), used)) static void (*const hello_entry)(void) = hello;
