/* Children that are over at once, and share memory with their parent. */
#include "check.h"
#include <string.h>
#include <sys/mman.h>

enum { CHILDREN = 20, SIZE = 1 << 20 };

static int see(void *shared)
{
	return *(char *)shared;
}

int main(void)
{
	char *shared =
	    mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(shared != MAP_FAILED);
	for (int i = 0; i < CHILDREN; i++) {
		memset(shared, i, SIZE);
		ends_with(child(see, shared), i);
	}
	DONE();
}
