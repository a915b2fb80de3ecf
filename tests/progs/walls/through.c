// SPDX-License-Identifier: GPL-3.0-or-later
// Calls that replay answers without a stop. A forged recording has another `choice`: then control goes through replay's own code,
// and spins. The argument is where the replay stub is; the code that answers calls is below it.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BELOW = 0x20000000, CODE = 0x1000, TARGET = 16, INT3 = 3, MAP_INSN = 8 };

struct choice {
	char tag[16];
	int way;
};
const volatile struct choice choice __attribute__((section(".rodata.choice"))) = {"which-way-to-go", 0};
static unsigned long stub;
static char room[4096];

// In the code that answers calls: where it restores registers, and its jump back.
static unsigned char *find(const char *bytes, size_t n)
{
	return memmem((void *)(stub - BELOW), CODE, bytes, n);
}

static void set_target(void *to)
{
	*(void *volatile *)(stub - BELOW + CODE + TARGET) = to;
}

static void go_through(int way)
{
	extern char spin[];
	unsigned char *back = find("\x58\x5f\x5e\x5a\x41\x5a", 6), *jump = find("\xff\x25", 2);

	set_target(way == 3 ? (void *)jump : spin);
	switch (way) {
	case 1: // the instruction for mapping calls
		__asm__ volatile("mov $39, %%eax\n call *%0\n jmp spin\n" : : "r"(stub + MAP_INSN) : "rax", "rcx", "r11", "memory");
		break;
	case 2: // an int3 of the process's stub
		__asm__ volatile("lea spin(%%rip), %%rcx\n push %%rcx\n jmp *%0\n" : : "r"(stub + INT3), "a"(room) : "rcx", "memory");
		break;
	case 3: // a jump to itself
		__asm__ volatile("jmp *%0\n" : : "r"(jump) : "memory");
		break;
	case 4: // the instruction for injected calls
		__asm__ volatile("mov $39, %%eax\n jmp *%0\n" : : "r"(stub) : "rax", "rcx", "r11", "memory");
		break;
	default: // as 1, then by the way back from an answered call
		__asm__ volatile("mov $39, %%eax\n call *%0\n mov $9, %%ecx\n 1: push $0x202\n loop 1b\n jmp *%1\n"
		                 ".globl spin\n spin: jmp spin\n"
		                 : : "r"(stub + MAP_INSN), "r"(back) : "rax", "rcx", "r11", "memory");
	}
}

int main(int argc, char **argv)
{
	stub = strtoul(argv[argc - 1], NULL, 0);
	for (int i = 0; i < 6000; i++) {
		getppid();
		if (i == 3000 && choice.way)
			go_through(choice.way);
	}
	return 0;
}
