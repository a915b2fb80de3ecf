/* A handler takes an element of the list that is just being changed: one is lost, or is there twice. */
#include "rings.h"

enum { N = 16 };
static struct node {
	struct node *next;
} store[N], *volatile list;

static struct node *get(void)
{
	struct node *n = list; /* race: 1 reads */

	list = n->next; /* race: 2 writes, 3 writes */
	return n;
}

static void put(struct node *n)
{
	n->next = list; /* race: 1 reads */
	list = n; /* race: 2 writes, 3 writes */
}

/* It keeps one, and gives back the one from before. */
static void on_signal(int signo)
{
	static struct node *kept;
	struct node *n = get();

	if (kept)
		put(kept);
	kept = n;
	rung++;
}

static void changes(void)
{
	for (int i = 0; i < 1000; i++) {
		struct node *a = get(), *b = get();

		put(a);
		put(b);
	}
}

int main(void)
{
	int n = 0;

	for (int i = 0; i < N; i++)
		put(&store[i]);
	rung_at(on_signal, changes);
	for (struct node *at = list; at && n <= N; at = at->next)
		n++;
	return n != N - (rung > 0); /* seen by: list */
}
