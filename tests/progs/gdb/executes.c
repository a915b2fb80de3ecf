/* Executes itself anew twice, with more arguments each time, so that each stack begins elsewhere. */
#include <stdio.h>
#include <unistd.h>

int words;

static void note(int n)
{
	words = n;
}

int main(int argc, char **argv)
{
	char *second[] = {argv[0], "--config=/etc/executes.conf", NULL};
	char *third[] = {argv[0], second[1], "--log=/var/log/executes.log", NULL};

	note(argc);
	if (argc < 3) {
		execv("/proc/self/exe", argc == 1 ? second : third);
		return 1;
	}
	printf("%d words\n", words);
	return 0;
}
