/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Visits with values of many types, for conditions: with an argument, so many; their values are printed. */
#include <stdio.h>
#include <stdlib.h>

enum colour { RED, GREEN, BLUE = 200, BLACK = -3 };

struct item {
	signed char tiny;
	unsigned char byte;
	short little;
	unsigned short port;
	int whole;
	unsigned count;
	long big;
	unsigned long mask;
	enum colour colour;
	_Bool odd;
	int low : 3;
	unsigned high : 5;
	double share;
	float part;
	struct item *next;
	char name[8];
};

struct item items[8];
struct item *present;
long total;
static int calls;

__attribute__((noinline)) int visit(int n, unsigned char seed, long wide, struct item *p)
{
	int local = n * 3 - 40;
	unsigned index = (unsigned)n % 8;

	total += wide + local;
	calls++;
	return local + (int)index + seed + p->tiny;
}

static unsigned long state = 12345;

static unsigned long draw(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 20;
}

static void change(struct item *p)
{
	static const enum colour colours[] = {RED, GREEN, BLUE, BLACK};

	p->tiny = (signed char)draw();
	p->byte = (unsigned char)draw();
	p->little = (short)draw();
	p->port = (unsigned short)draw();
	p->whole = (int)draw() >> draw() % 32;
	p->count = (unsigned)draw() >> draw() % 32;
	p->big = (long)(draw() << 20) >> draw() % 64;
	p->mask = (draw() << 30) >> draw() % 64;
	p->colour = colours[draw() % 4];
	p->odd = draw() & 1;
	p->low = (int)draw() & 3;
	p->high = draw() & 31;
	p->share = (double)(int)draw() / 65536;
	p->part = (float)p->share;
	p->next = draw() % 4 ? &items[draw() % 8] : NULL;
	p->name[0] = (char)('a' + draw() % 26);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 60, sum = 0;

	for (int i = 0; i < 8; i++)
		change(&items[i]);
	for (int n = 0; n < times; n++) {
		struct item *p = &items[draw() % 8];

		change(p);
		present = draw() % 3 ? p : NULL;
		printf("%d %d %ld %d %u %s\n", n, p->whole, p->big, p->tiny, p->count,
		       p->next ? "next" : "last");
		sum += visit(n, (unsigned char)draw(), (long)draw() - (1l << 43), p);
	}
	return sum & 1;
}
