/* CHECK() for the construct programs: says what failed and exits. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define DONE(name)                                                                                 \
	do {                                                                                       \
		printf("done " name "\n");                                                         \
		return 0;                                                                          \
	} while (0)

#endif
