/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says on which visits what holds that the debugger's conditions ask for by calls. */
#include <stdio.h>
#include <string.h>

static char name[16];
static int total;

int same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

int odd(int n)
{
	return n % 2 != 0;
}

int crashes(int n)
{
	return n == 5 ? *(volatile int *)8 : odd(n);
}

int hangs(int n)
{
	volatile int spin = n == 5;

	while (spin)
		continue;
	return odd(n);
}

int length(void)
{
	return (int)strlen(name);
}

static void visit(const char *id, int n)
{
	total += n;
	strcpy(name, id);
}

static void leave(int n)
{
	total += n & 1;
}

int main(void)
{
	static const char *ids[] = {"a", "x", "bcd", "x", "cc", "dd", "x", "e", "x", "ff"};

	for (int i = 0; i < 10; i++) {
		visit(ids[i], i);
		leave(i);
		printf("%d %s %d %d\n", i, ids[i], length(), total);
	}
	return 0;
}
