/* Counts its runs in the file FILE, and fails in the Nth one, from 0, as HOW says: with that exit
 * status, by SIGABRT (abort), or by going on for ever (wait). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count(const char *path)
{
	FILE *f = fopen(path, "r+");
	int n = 0;

	if (!f)
		f = fopen(path, "w+");
	else if (fscanf(f, "%d", &n) != 1)
		exit(99);
	rewind(f);
	fprintf(f, "%d\n", n + 1);
	fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	char c;

	puts("out");
	fprintf(stderr, "err\n");
	if (read(0, &c, 1) != 0)
		return 98;
	if (argc != 4 || count(argv[1]) != atoi(argv[2]))
		return 0;
	if (!strcmp(argv[3], "abort"))
		abort();
	while (!strcmp(argv[3], "wait"))
		pause();
	return atoi(argv[3]);
}
