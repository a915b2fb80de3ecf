/* A function that is not reentrant, like getenv, is called by a handler while it runs. */
#include "rings.h"

static volatile int wrong;

static const char *name_of(int i)
{
	static char name[16];
	char *at = name;

	for (int k = 0; k < 4; k++)
		*at++ = (char)('a' + i); /* race: 1 writes, 2 writes */
	*at = 0;
	return name;
}

static void on_signal(int signo)
{
	name_of(25);
	rung++;
}

static void names(void)
{
	for (int i = 0; i < 800; i++) {
		const char *name = name_of(i % 20);

		for (int k = 0; k < 4; k++)
			if (name[k] != 'a' + i % 20) /* race: 3 reads */
				wrong = 1; /* seen by: name[k] */
	}
}

int main(void)
{
	rung_at(on_signal, names);
	return wrong;
}
