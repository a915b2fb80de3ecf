/* weak symbols: a weak definition in use, an undefined weak one, an alias
 * build: lib/weak_strong.c
 */
#include "check.h"

__attribute__((weak)) int overridden(int x)
{
	return x;
}

__attribute__((weak)) int kept(int x)
{
	return x > 2 ? x * 3 : x;
}

extern int missing(int) __attribute__((weak));
int kept_alias(int x) __attribute__((alias("kept")));

int main(void)
{
	printf("%d %d %d\n", overridden(4), kept(4), kept_alias(1));
	CHECK(overridden(4) == 44 && kept(4) == 12 && kept_alias(1) == 1 && !missing);
	DONE("weak");
}
