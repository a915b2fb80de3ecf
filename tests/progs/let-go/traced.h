/* Is this process recorded still? Until it is not, or for half a minute, the programs here go on. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIMIT_MS = 30000, FREE_MS = 300 };

static inline long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline bool is_traced(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long pid = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "TracerPid:", 10))
			pid = atol(line + 10);
	if (f)
		fclose(f);
	return pid != 0;
}
