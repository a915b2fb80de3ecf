/* Handlers that interrupt code without markers. They mix all registers that they have interrupted,
 * so any other instant gives other output. With memory_loops.c, which has no markers.
 * unmarked WORK TICKS MICROSECONDS [cpu]
 * cpu: by CPU time, at which the kernel looks each few milliseconds only. On a busy machine wall time runs out
 * while the program stands, most often at a call. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

static volatile uint64_t mixed = 1, ticks, most;
extern uint64_t counter;
void counts(uint64_t rounds);
uint64_t tables(uint64_t rounds);

static void mix(uint64_t x)
{
	mixed = (mixed ^ x) * 6364136223846793005u + 1442695040888963407u;
}

static void on_tick(int signo, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;

	ticks++;
	for (int i = 0; i <= REG_RIP; i++)
		mix((uint64_t)u->uc_mcontext.gregs[i]);
	mix(counter);
}

static void mallocs(void)
{
	static void *held[64];

	for (uint64_t i = 0; ticks < most; i++) {
		free(held[i * 7 % 64]);
		held[i * 7 % 64] = malloc(i * 37 % 3000 + 1);
		mix((uint64_t)held[i * 7 % 64]);
	}
}

static void prints(void)
{
	char text[200];
	FILE *f = fopen("/dev/null", "w");

	for (uint64_t i = 0; ticks < most; i++) {
		snprintf(text, sizeof(text), "%lu %s %g %p", i, "words", (double)i / 7, (void *)f);
		fprintf(f, "%s %d\n", text, (int)i);
		mix(strlen(text));
	}
	fclose(f);
}

static void strings(void)
{
	static char a[20000], b[20000];

	for (uint64_t i = 0; ticks < most; i++) {
		memset(a, 'a' + i % 20, sizeof(a) - 1);
		memcpy(b, a, sizeof(b));
		mix(strlen(b) + (uint64_t)memcmp(a, b, sizeof(a)));
		b[i % 19000] = 0;
		mix(strlen(b) + (uint64_t)strchr(a, 0));
	}
}

static int by_value(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void sorts(void)
{
	static unsigned v[700];

	for (uint64_t i = 0; ticks < most; i++) {
		for (int k = 0; k < 700; k++)
			v[k] = (unsigned)(k * 2654435761u ^ i * 40503u);
		qsort(v, 700, sizeof(*v), by_value);
		mix(v[i % 700]);
	}
}

static void memory(void)
{
	for (uint64_t i = 0; ticks < most; i++) {
		counts(i % 3000 + 1);
		mix(tables(i % 40) + counter);
	}
}

int main(int argc, char **argv)
{
	static const struct work {
		const char *name;
		void (*run)(void);
	} works[] = {{"malloc", mallocs}, {"printf", prints},  {"strings", strings},
	             {"qsort", sorts},    {"memory", memory}};
	struct sigaction act = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
	long us = argc > 3 ? atol(argv[3]) : 1000;
	struct itimerval every = {{0, us}, {0, us}}, none = {{0, 0}, {0, 0}};
	const bool cpu = argc > 4;
	const int which = cpu ? ITIMER_VIRTUAL : ITIMER_REAL;

	most = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
	sigaction(cpu ? SIGVTALRM : SIGALRM, &act, NULL);
	setitimer(which, &every, NULL);
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		if (argc > 1 && !strcmp(argv[1], works[i].name))
			works[i].run();
	setitimer(which, &none, NULL);
	printf("end %lu\n", (unsigned long)mixed);
	return 0;
}
