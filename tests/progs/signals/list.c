/* A handler that uses the list that main is just changing: natively the list is a ring, or lost, within a second.
 * With an argument, which is a number of ticks, the handler looks at the list only, and all goes well. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

struct node {
	struct node *next;
	int v;
};

static struct node *head, *pool;
static volatile int ticks, seen;
static int only_looks;

static struct node *get(void)
{
	struct node *n = pool;
	pool = n->next;
	return n;
}

static void put(struct node *n)
{
	n->next = pool;
	pool = n;
}

static void on_tick(int signo)
{
	ticks++;
	if (only_looks) {
		seen = seen * 31 + (head ? head->v : -1) + (pool ? pool->v : -2);
		return;
	}
	struct node *n = get();
	n->v = -ticks;
	n->next = head;
	head = n;
}

int main(int argc, char **argv)
{
	static struct node store[256];
	int most = argc > 1 ? atoi(argv[1]) : 20000;

	only_looks = argc > 1;
	for (int i = 0; i < 256; i++)
		put(&store[i]);
	signal(SIGALRM, on_tick);
	struct itimerval every = {{0, 300}, {0, 300}};
	setitimer(ITIMER_REAL, &every, NULL);
	for (long r = 0; ticks < most; r++) {
		struct node *n = get();
		n->v = (int)r;
		n->next = head;
		head = n;
		int c = 0;
		while (head) {
			struct node *f = head;
			head = f->next;
			put(f);
			if (++c > 256) {
				fprintf(stderr, "the list is a ring after %ld rounds\n", r);
				abort();
			}
		}
	}
	printf("well %d\n", seen);
	return 0;
}
