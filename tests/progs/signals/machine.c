/* Instants that an address alone does not name: loops that an asm statement has, with all that changes in
 * memory; string instructions; retries of an atomic operation; stacks that the program changes by itself, so
 * that two activations of one function stand at one place with no marker in between. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile uint64_t ticks, mixed = 1, at_work, rounds;

static void mix(uint64_t x)
{
	mixed = (mixed ^ x) * 6364136223846793005u + 1442695040888963407u;
}

static void on_tick(int signo)
{
	ticks++;
	mix(at_work);
	mix(rounds);
}

static void in_memory(uint64_t n)
{
	rounds = n;
	__asm__ volatile("1:	decq %0\n	jnz 1b" : "+m"(rounds) : : "cc");
	at_work++;
}

static char from[1 << 16], to[1 << 16];

static void strings(void)
{
	void *d = to, *s = from;
	size_t n = sizeof(to);

	from[at_work % sizeof(from)]++;
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
	at_work += (uint8_t)to[at_work % sizeof(to)];
}

static void atomics(void)
{
	for (int i = 0; i < 200; i++) {
		__atomic_fetch_nand(&at_work, 3, __ATOMIC_SEQ_CST);
		__atomic_xor_fetch(&at_work, (uint64_t)i, __ATOMIC_SEQ_CST);
	}
}

/* ---- stacks ---- */

static struct stack {
	void *sp;
	uint64_t room[2048];
} stack[2];
static void *main_sp;

/* Callee-saved registers on the stack, but r15, which is no program's own. */
void change(void **save, void *sp);
__asm__(".text\n"
	".type change,@function\n"
	"change:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n"
	"	mov %rsp, (%rdi)\n	mov %rsi, %rsp\n"
	"	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n	ret\n"
	".size change, .-change\n");

static int turn;

static volatile uint64_t own[2];

/* Both stacks run it; the pieces between the calls have no marker. */
static void body(void)
{
	for (;;) {
		int me = turn;
		volatile uint64_t *mine = &own[me];

		turn = !me;
		change(&stack[me].sp, stack[!me].sp);
		*mine += 1; at_work = *mine * 2 + (uint64_t)me; *mine ^= at_work & 1;
		turn = !me;
		change(&stack[me].sp, stack[!me].sp);
		*mine += 3; at_work = *mine * 3 + (uint64_t)me; *mine ^= at_work & 1;
		turn = !me;
		change(&stack[me].sp, stack[!me].sp);
		*mine += 5; at_work = *mine * 5 + (uint64_t)me; *mine ^= at_work & 1;
		if (*mine % 1000 < 9 && me == 0)
			change(&stack[0].sp, main_sp);
	}
}

static void begin(struct stack *s)
{
	uint64_t *top = s->room + 2040;

	*--top = 0;
	*--top = (uint64_t)(uintptr_t)body;
	top -= 5;
	s->sp = top;
}

static void stacks(void)
{
	change(&main_sp, stack[0].sp);
}

int main(int argc, char **argv)
{
	uint64_t end = argc > 1 ? strtoull(argv[1], NULL, 0) : 300;
	struct itimerval every = {{0, 400}, {0, 400}};

	begin(&stack[0]);
	begin(&stack[1]);
	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &every, NULL);
	for (uint64_t i = 0; ticks < end; i++) {
		in_memory(2000);
		strings();
		atomics();
		stacks();
		if (i % 300 == 0)
			printf("%llu %llu\n", (unsigned long long)ticks, (unsigned long long)mixed);
	}
	printf("end %llu\n", (unsigned long long)mixed);
	return 0;
}
