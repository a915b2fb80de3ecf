/* setjmp and longjmp: a loop, out of nested activations of a recursion, into a frame that returns twice
 * more than once, sigsetjmp, __builtin_setjmp
 * watch: outer; builtin_buffer[1]
 */
#include <setjmp.h>
#include "check.h"

static jmp_buf outer, at_depth[8];

__attribute__((noinline)) static void thrower(int x)
{
	if (x > 2)
		longjmp(outer, x);
}

static int looped(void)
{
	volatile int n = 0, log = 0;
	int r = setjmp(outer);

	log = log * 10 + r;
	for (n = n; n < 6; n++) {
		if (n > 2) {
			n++;
			thrower(n);
		}
		log += 1;
	}
	return log;
}

/* Each activation sets its own buffer; the innermost jumps to the one in the middle, which jumps on. */
static int recurse(int depth, volatile int *trace)
{
	volatile int mine = depth * 11;
	int r = setjmp(at_depth[depth]);

	if (r) {
		CHECK(mine == depth * 11);
		*trace = *trace * 10 + r;
		if (depth > 2)
			longjmp(at_depth[depth - 2], r + 1);
		return depth;
	}
	if (depth == 6)
		longjmp(at_depth[5], 1);
	r = recurse(depth + 1, trace);
	*trace = *trace * 10 + 9;
	return r;
}

static int returns_twice_in_callee(void)
{
	static sigjmp_buf again;
	volatile int count = 0;

	if (sigsetjmp(again, 1) < 5) {
		count++;
		siglongjmp(again, count);
	}
	return count;
}

static void *builtin_buffer[5];

__attribute__((noinline)) static void builtin_jump(void)
{
	__builtin_longjmp(builtin_buffer, 1);
}

static int builtin_pair(void)
{
	volatile int n = 0;

	if (__builtin_setjmp(builtin_buffer) == 0 || n < 3) {
		n++;
		builtin_jump();
	}
	return n;
}

int main(void)
{
	volatile int trace = 0;
	int r, l;

	l = looped();
	printf("looped %d\n", l);
	CHECK(l == 3456);
	r = recurse(0, &trace);
	printf("recurse %d trace %d\n", r, trace);
	CHECK(r == 1 && trace == 1239);
	CHECK(returns_twice_in_callee() == 5);
	CHECK(builtin_pair() == 3);
	DONE("setjmp");
}
