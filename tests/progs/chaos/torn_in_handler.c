/* What a handler reads takes more than one store, and is no sig_atomic_t. */
#include "rings.h"

static struct time {
	int seconds, parts;
} now;
static volatile int wrong;

static void on_signal(int signo)
{
	if (now.seconds * 10 != now.parts)
		wrong = 1;
	rung++;
}

static void tells_time(void)
{
	for (int i = 0; i < 2000; i++) {
		now.seconds = i;
		now.parts = i * 10;
	}
}

int main(void)
{
	rung_at(on_signal, tells_time);
	return wrong;
}
