/* For the self-checking programs: CHECK says what failed and ends with status 1; DONE prints the token. */
#include <stdio.h>
#include <stdlib.h>
#define CHECK(x) \
	do { \
		if (!(x)) { \
			printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #x); \
			exit(1); \
		} \
	} while (0)
#define DONE() return puts("all is well"), 0
