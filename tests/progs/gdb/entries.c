/* Functions on whose first instructions control can stand: called by a line, by a library, by themselves, and by what starts
 * the program and a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int n;

static int plain(int by)
{
	n += by;
	return n;
}

static int fact(int of)
{
	int r = 1;

	if (of > 1)
		r = of * fact(of - 1);
	return r;
}

static int compare(const void *a, const void *b)
{
	n++;
	return *(const int *)a - *(const int *)b;
}

static void *run(void *arg)
{
	n += plain((int)(long)arg);
	return NULL;
}

int main(void)
{
	int v[4] = {4, 2, 3, 1};
	pthread_t t;

	v[0] += plain(1) + plain(2);
	qsort(v, 4, sizeof(v[0]), compare);
	n += fact(5);
	if (!pthread_create(&t, NULL, run, (void *)7L))
		pthread_join(t, NULL);
	return printf("%d %d\n", n, v[0]) < 0;
}
