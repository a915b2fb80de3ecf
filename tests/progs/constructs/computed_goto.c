/* computed goto: a small interpreter with a table of labels, and labels as values in a loop */
#include "check.h"

enum { PUSH, ADD, MUL, JNZ, DEC, HALT };

static long interpret(const int *code)
{
	static void *const ops[] = {&&push, &&add, &&mul, &&jnz, &&dec, &&halt};
	long stack[16], *sp = stack;
	const int *pc = code;
	long steps = 0;

#define NEXT goto *ops[(steps++, *pc++)]
	NEXT;
push:
	*sp++ = *pc++;
	NEXT;
add:
	sp--;
	sp[-1] += sp[0];
	NEXT;
mul:
	sp--;
	sp[-1] *= sp[0];
	NEXT;
dec:
	sp[-1]--;
	NEXT;
jnz:
	if (sp[-1])
		pc += *pc;
	else
		pc++;
	NEXT;
halt:
	printf("steps %ld\n", steps);
	return steps * 1000 + sp[-1];
}

int main(void)
{
	static const int code[] = {PUSH, 3, PUSH, 4, ADD, PUSH, 5, MUL, DEC, JNZ, -2, HALT};

	CHECK(interpret(code) == 76000);
	DONE("computed_goto");
}
