/* Small system calls, thousands of them, whose results decide where the program goes; it reads its own code between them, and
 * comes to the instruction behind a system call by a jump. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 3000 };

int sum, turns;
char bytes[16];

/* getppid; with JUMP nothing is called, but the instruction behind the call is gone to. */
long call(long jump);
extern const uint8_t call_begin[], call_end[];
__asm__(".pushsection .text.call,\"ax\",@progbits\n"
	".globl call, call_begin, call_end\n"
	"call_begin:\n"
	"call:	movl $110, %eax\n"
	"	testq %rdi, %rdi\n"
	"	jne 1f\n"
	"	syscall\n"
	"1:	cmpq $-4095, %rax\n"
	"	jae 2f\n"
	"	ret\n"
	"2:	xorl %eax, %eax\n"
	"	ret\n"
	"call_end:\n"
	".popsection\n");

/* getppid as the C library 2.41 makes calls that can be cancelled: behind the instruction are pop and ret. */
long popped(void);
__asm__(".pushsection .text.popped,\"ax\",@progbits\n"
	".globl popped\n"
	"popped:\n"
	"	.cfi_startproc\n"
	"	pushq %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbx, -16\n"
	"	movl $110, %eax\n"
	"	syscall\n"
	"	popq %rbx\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.balign 16, 0x90\n"
	".popsection\n");

static void turn(int i)
{
	turns += i;
}

static int own_code(void)
{
	int n = 0;

	for (const uint8_t *p = call_begin; p < call_end; p++)
		n = n * 31 + *p;
	return n;
}

int main(int argc, char **argv)
{
	int file = open(argv[0], O_RDONLY), null = open("/dev/null", O_WRONLY);
	int reads_code = argc > 1;

	for (int i = 0; i < ROUNDS; i++) {
		if (pread(file, bytes, sizeof(bytes), i * 5) != sizeof(bytes))
			return 1;
		for (int k = 0; k < 16; k++)
			if (bytes[k] & 1)
				sum = sum * 3 + bytes[k];
		if (write(null, bytes, sizeof(bytes)) != sizeof(bytes))
			return 2;
		if (sum & 8)
			turn(i);
		sum += call(0) == getppid();
		sum += popped() == getppid();
		if (i % 500 == 7)
			sum += call(1);
		if (reads_code && i % 1000 == 5)
			sum += own_code();
		lseek(file, sum & 0xff, SEEK_SET);
	}
	printf("%d %d\n", sum, turns);
	return 0;
}
