/* A signal that arrives where a line begins: control comes back from its handler to the line's first instruction. */
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int handled;

static void on_alarm(int sig)
{
	handled += sig;
	handled++; /* the handler's last statement */
}

/* Instrumented code would load a register behind the asm statement, in the same line. */
__attribute__((no_instrument_function)) static void ring(int self)
{
	register long call asm("rax") = SYS_kill;
	register long pid asm("rdi") = self;
	register long sig asm("rsi") = SIGALRM;

	asm volatile("syscall" : "+r"(call) : "r"(pid), "r"(sig) : "rcx", "r11", "memory");
	handled++; /* behind the signal */
	handled++;
}

int main(void)
{
	signal(SIGALRM, on_alarm);
	for (int i = 0; i < 3; i++)
		ring(getpid());
	printf("%d\n", handled);
	return 0;
}
