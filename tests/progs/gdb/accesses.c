/* Accesses of all kinds to a few variables, each of which is told on the output as well: STEP KIND VARIABLE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES = 3, STEPS = 60, LONG = 24 };

volatile int v0, v1, v2, step;
volatile char text[LONG], other[LONG];
static volatile int *const variables[] = {&v0, &v1, &v2};
static int fds[2];

static void tell(const char *kind, int i)
{
	printf("%d %s v%d\n", step, kind, i);
}

static void tell_text(const char *kind)
{
	printf("%d %s text\n", step, kind);
}

static void store(int i)
{
	*variables[i] = step;
	tell("written", i);
}

static void store_same(int i)
{
	int now = *variables[i];

	*variables[i] = now;
	tell("read", i);
	tell("written", i);
}

static void load(int i)
{
	int now = *variables[i];

	(void)now;
	tell("read", i);
}

static void add(int i)
{
	__asm__ volatile("addl $3, %0" : "+m"(*variables[i]));
	tell("both", i);
}

static void exchange(int i)
{
	int with = step;

	__asm__ volatile("xchg %0, %1" : "+m"(*variables[i]), "+r"(with));
	tell("both", i);
}

static void push_and_pop(int i)
{
	__asm__ volatile("push %0\n\tpop %0" : "+m"(*(long *)text));
	tell_text("read");
	tell_text("written");
	(void)i;
}

static void receive(int i)
{
	int n = write(fds[1], (const void *)&step, sizeof step) == sizeof step;

	if (!n || read(fds[0], (void *)variables[i], sizeof(int)) != sizeof(int))
		exit(2);
	tell("written", i);
}

static void send_it(int i)
{
	int back;

	if (write(fds[1], (const void *)variables[i], sizeof(int)) != sizeof(int) ||
	    read(fds[0], &back, sizeof back) != sizeof back)
		exit(3);
	tell("read", i);
}

static void copy(int i)
{
	volatile char *to = i & 1 ? text : other, *from = i & 1 ? other : text;
	long n = LONG;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	tell_text(i & 1 ? "written" : "read");
}

static void fill(int i)
{
	memset((void *)text, i, LONG);
	tell_text("written");
}

static void loop(int i)
{
	for (int k = 0; k < 20; k++)
		*variables[i] = k;
	tell("written", i);
}

static void nothing(int i)
{
	(void)i;
}

static void (*const ways[])(int) = {store, store_same, load, add, exchange, push_and_pop,
                                    receive, send_it, copy, fill, loop, nothing};

int main(void)
{
	unsigned seed = 7;

	if (pipe(fds) < 0)
		return 1;
	for (step = 1; step <= STEPS; step++) {
		seed = seed * 1103515245 + 12345;
		ways[(seed >> 16) % (sizeof ways / sizeof *ways)]((int)(seed >> 24) % VARIABLES);
	}
	return 0;
}
