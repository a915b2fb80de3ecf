/* A handler does not put errno back. */
#include "rings.h"

static volatile int wrong;

static void on_signal(int signo)
{
	close(-1);
	rung++;
}

static void asks(void)
{
	for (int i = 0; i < 300; i++)
		if (access("/does not exist", F_OK) < 0 && errno != ENOENT)
			wrong = 1;
}

int main(void)
{
	rung_at(on_signal, asks);
	return wrong;
}
