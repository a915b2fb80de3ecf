/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that could have no stop, on a pipe, where they may wait. */
#include <unistd.h>

int main(void)
{
	char b[16] = "";
	int p[2];

	if (pipe(p) < 0)
		return 1;
	for (int i = 0; i < 100; i++)
		getppid();
	for (int i = 0; i < 2000; i++)
		if (write(p[1], b, sizeof(b)) != sizeof(b) || read(p[0], b, sizeof(b)) != sizeof(b))
			return 2;
	return 0;
}
