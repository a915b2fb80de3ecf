/* Loops of rows that begin no statement, as optimization leaves them: a step goes round and round in them. Each line A is a
 * statement, each B is none. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define STRING(x) #x
#define NUMBER(x) STRING(x)
#define STATEMENT ".loc 1 " NUMBER(__LINE__) " 0 is_stmt 1\n"
#define NONE ".loc 1 " NUMBER(__LINE__) " 0 is_stmt 0\n"

enum { N = 200 };
int passed;

int __attribute__((noinline, no_instrument_function)) callee(void)
{
	return ++passed;
}

static int __attribute__((noinline)) plain(int n)
{
	int x = 0;

	__asm__ volatile(STATEMENT /* plain A */
	                 "1: add $1, %0\n"
	                 "in_plain: nop\n" /* */
	                 NONE              /* plain B */
	                 "add $1, %0\n"
	                 "in_b: sub $1, %1\n"
	                 "jnz 1b\n"
	                 : "+r"(x), "+r"(n));
	return x;
}

/* When 100 rounds are left it comes into the middle of B. */
static int __attribute__((noinline)) middle(int n)
{
	int x = 0;

	__asm__ volatile(STATEMENT /* middle A */
	                 "1: add $1, %0\n"
	                 "cmp $100, %1\n"
	                 "je 2f\n"
	                 "nop\n" /* */
	                 NONE    /* middle B */
	                 "nop\n"
	                 "2: sub $1, %1\n"
	                 "jnz 1b\n"
	                 : "+r"(x), "+r"(n));
	return x;
}

/* When 50 rounds are left. */
static int __attribute__((noinline)) calls(int n)
{
	__asm__ volatile("sub $128, %%rsp\n" /* */
	                 STATEMENT           /* calls A */
	                 "1: cmp $50, %0\n"
	                 "jne 2f\n"
	                 "call callee\n"
	                 "2: nop\n" /* */
	                 NONE       /* calls B */
	                 "sub $1, %0\n"
	                 "jnz 1b\n"
	                 "add $128, %%rsp\n"
	                 : "+b"(n)
	                 :
	                 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	return n;
}

/* It comes back into the middle of B, in which the step is then. */
static int __attribute__((noinline)) returns(int n)
{
	__asm__ volatile("sub $128, %%rsp\n" /* */
	                 STATEMENT           /* returns A */
	                 "1: nop\n"
	                 "nop\n" /* */
	                 NONE    /* returns B */
	                 "call callee\n"
	                 "sub $1, %0\n"
	                 "jnz 1b\n"
	                 "add $128, %%rsp\n"
	                 : "+b"(n)
	                 :
	                 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	return n;
}

static void handler(int sig)
{
	passed++;
}

/* In the middle of B, when 50 rounds are left. */
static int __attribute__((noinline)) signals(long n)
{
	__asm__ volatile(STATEMENT /* signals A */
	                 "1: nop\n"
	                 "nop\n" /* */
	                 NONE    /* signals B */
	                 "xor %%esi, %%esi\n"
	                 "mov %2, %%eax\n"
	                 "cmp $50, %%rbx\n"
	                 "cmove %%eax, %%esi\n"
	                 "mov $62, %%eax\n" /* kill(getpid(), 0 or SIGUSR2) */
	                 "syscall\n"
	                 "nop\n"
	                 "sub $1, %%rbx\n"
	                 "jnz 1b\n"
	                 : "+b"(n)
	                 : "D"(getpid()), "i"(SIGUSR2)
	                 : "rax", "rcx", "rsi", "r11", "memory");
	return (int)n;
}

int recurses(int n);

int __attribute__((noinline)) deeper(void)
{
	return passed++ < 200 ? 0 : recurses(9);
}

/* The loop is left by a jump, in a deeper activation first. */
int __attribute__((noinline)) recurses(int n)
{
	__asm__ volatile("sub $128, %%rsp\n" /* */
	                 STATEMENT           /* recurses A */
	                 "1: cmp $10, %0\n"
	                 "jne 2f\n"
	                 "call deeper\n"
	                 "2: nop\n" /* */
	                 NONE       /* recurses B */
	                 "sub $1, %0\n"
	                 "jnz 1b\n"
	                 "jmp behind\n"
	                 "nop\n" STATEMENT /* recurses C */
	                 "behind: nop\n"
	                 "add $128, %%rsp\n"
	                 : "+b"(n)
	                 :
	                 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	return n;
}

int main(void)
{
	signal(SIGUSR2, handler);
	int sum = plain(N);

	sum += middle(N);
	sum += calls(N);
	sum += returns(100);
	sum += signals(N);
	passed = 200;
	sum += recurses(30);
	printf("%d %d\n", sum, passed);
	return 0;
}
