/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a user of LLDB looks at: calls, values, a signal, a thread with variables of its own. */
#define _GNU_SOURCE
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct point {
	int x, y;
	const char *name;
};

int values[4], sum;
__thread int own = 3;

__attribute__((noinline)) int twice(int n)
{
	return 2 * n;
}

double scale(double d, int n)
{
	return d * n;
}

int length(const char *s)
{
	return (int)strlen(s);
}

__attribute__((noinline)) void add(int i, int v)
{
	values[i & 3] = v;
	sum += v;
	printf("sum %d\n", sum);
}

static void on_usr1(int signo)
{
	sum += 1000;
}

static void *work(void *arg)
{
	struct point p = {1, 2, arg};

	pthread_setname_np(pthread_self(), "worker");
	own = 7;
	for (int i = 0; i < 3; i++)
		p.x += twice(i);
	printf("%s %d %d\n", p.name, p.x, own);
	return NULL;
}

int main(void)
{
	struct point here = {3, 4, "here"};
	pthread_t t;

	signal(SIGUSR1, on_usr1);
	for (int i = 0; i <= 4; i++)
		add(i, 10 * i);
	raise(SIGUSR1);
	pthread_create(&t, NULL, work, "thread");
	pthread_join(t, NULL);
	here.x += sum;
	printf("end %d\n", here.x);
	return sum != 60;
}
