/* A loop of computed gotos, whose edges cannot be marked: dispatch TIMES */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf env;

static int run(const unsigned char *code, int times)
{
	static const void *const way[] = {&&add, &&sub, &&loop, &&leap, &&end};
	volatile int acc = 0, pc = 0, left = times;

	if (setjmp(env))
		acc += 100;
	goto *way[code[pc++]];
add:
	acc += 2;
	goto *way[code[pc++]];
sub:
	if (acc % 3)
		acc -= 1;
	goto *way[code[pc++]];
loop:
	if (--left > 0)
		pc = 0;
	goto *way[code[pc++]];
leap:
	if (left == 0)
		longjmp(env, 1);
	goto *way[code[pc++]];
end:
	return acc;
}

static int plain(const unsigned char *code)
{
	static const void *const way[] = {&&add, &&sub, &&end};
	int acc = 7;

	goto *way[*code];
add:
	acc += 2;
	goto *way[*++code];
sub:
	if (acc % 3)
		acc -= 1;
	goto *way[*++code];
end:
	return acc;
}

int main(int argc, char **argv)
{
	static const unsigned char code[] = {0, 0, 1, 1, 2, 3, 4};
	static const unsigned char short_one[] = {0, 1, 1, 0, 0, 1, 2};
	const int times = argc > 1 ? atoi(argv[1]) : 5;

	printf("%d %d\n", run(code, times), plain(short_one));
	return 0;
}
