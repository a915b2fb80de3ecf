/* The flag is set before what it stands for is whole. */
#include "bugs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table {
	int a, b;
} *volatile table;
static volatile int wrong;

static struct table *get(void)
{
	if (!table) {
		pthread_mutex_lock(&lock);
		if (!table) {
			table = calloc(1, sizeof(*table));
			table->a = 1;
			table->b = 2; /* race: 1 writes */
		}
		pthread_mutex_unlock(&lock);
	}
	return table;
}

static void *uses(void *arg)
{
	struct table *t = get();

	if (t->a + t->b != 3) /* race: 2 reads */
		wrong = 1;
	return NULL;
}

int main(void)
{
	two(uses, uses);
	return wrong; /* seen by: table->b */
}
