/* A function that ends in a tail call made in inlined calls, of which pieces lie apart (at -O2). */
#include <stdio.h>

struct mark {
	long *block, *next;
	long left;
};

static long base[8];
static long *block = base, *next = base;
static long left = 800;

__attribute__((noinline)) void grab(long len)
{
	long aligned = (len + 7) & ~7L;

	if (aligned > left) {
		left = 800;
		next = base;
	}
	next += aligned ? 1 : 0;
	left -= aligned;
}

static inline void grab_block(long len)
{
	grab(len);
}

void push_mark(struct mark *mark, long len)
{
	mark->block = block;
	mark->next = next;
	mark->left = left;
	grab_block(len);
}

__attribute__((noinline)) void set_mark(struct mark *mark)
{
	push_mark(mark, next == block && block != &base[1]);
}

int main(void)
{
	struct mark m;
	long sum = 0;

	for (int i = 0; i < 60; i++) {
		next = i % 3 ? base : base + 1;
		set_mark(&m);
		sum += m.left + left;
	}
	printf("%ld\n", sum);
	return 0;
}
