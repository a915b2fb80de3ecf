/* constructors and destructors with priorities; cleanup attributes
 * watch: order
 */
#include <unistd.h>
#include <string.h>
#include "check.h"

static char order[16];

static void note(char c)
{
	order[strlen(order)] = c;
}

__attribute__((constructor(201))) static void second(void)
{
	note('b');
}
__attribute__((constructor(200))) static void first(void)
{
	note('a');
}
__attribute__((constructor)) static void third(void)
{
	note('c');
}

__attribute__((destructor)) static void end(void)
{
	printf("order %s\ndone ctor\n", order);
	if (strcmp(order, "abcmx") != 0)
		_exit(1);
}

static void leaving(int *p)
{
	note((char)*p);
}

static void scoped(void)
{
	__attribute__((cleanup(leaving))) int x = 'x';

	note('m');
}

int main(void)
{
	scoped();
	return 0;
}
