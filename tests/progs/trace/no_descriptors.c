/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Has all the descriptors that it may have, and makes calls that wait for nobody. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CALLS = 200 };

int main(void)
{
	const struct rlimit none = {3, 3};

	if (setrlimit(RLIMIT_NOFILE, &none) || dup(0) >= 0)
		return 1;
	for (int i = 0; i < CALLS; i++)
		getppid();
	puts("all is well");
	return 0;
}
