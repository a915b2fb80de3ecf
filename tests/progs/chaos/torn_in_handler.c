/* What a handler reads takes more than one store, and is no sig_atomic_t. */
#include "rings.h"

static struct time {
	int seconds, parts;
} now;
static volatile int wrong;

static void on_signal(int signo)
{
	if (now.seconds * 10 != now.parts) /* race: 2 reads */
		wrong = 1; /* seen by: now */
	rung++;
}

static void tells_time(void)
{
	for (int i = 0; i < 2000; i++) {
		now.seconds = i; /* race: 1 writes */
		now.parts = i * 10; /* race: 1 writes */
	}
}

int main(void)
{
	rung_at(on_signal, tells_time);
	return wrong;
}
