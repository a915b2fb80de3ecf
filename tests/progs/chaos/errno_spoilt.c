/* A handler does not put errno back. */
#include "rings.h"

static volatile int wrong;

static void on_signal(int signo)
{
	close(-1); /* race: 2 writes */
	rung++;
}

static void asks(void)
{
	for (int i = 0; i < 300; i++)
		if (access("/does not exist", F_OK) < 0 && errno != ENOENT) /* race: 1 writes, 3 reads */
			wrong = 1; /* seen by: *__errno_location() */
}

int main(void)
{
	rung_at(on_signal, asks);
	return wrong;
}
