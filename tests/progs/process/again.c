/* Executes itself anew twice, counting down in its argument. */
#include "selfcheck.h"
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	char next[16];

	printf("%d to go\n", n);
	fflush(stdout);
	if (n > 0) {
		snprintf(next, sizeof next, "%d", n - 1);
		execl("/proc/self/exe", argv[0], next, (char *)NULL);
		return 1;
	}
	DONE();
}
