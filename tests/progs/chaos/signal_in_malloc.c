/* A handler allocates memory, as what it has interrupted does: the lock is taken. */
#include "rings.h"

static void on_signal(int signo)
{
	free(malloc(5000));
	rung++;
}

static void allocates(void)
{
	void *held[8] = {NULL};

	for (int i = 0; i < 2000; i++) {
		free(held[i % 8]);
		held[i % 8] = malloc(3000 + (size_t)(i * 37 % 2000));
	}
}

int main(void)
{
	return rung_at(on_signal, allocates);
}
