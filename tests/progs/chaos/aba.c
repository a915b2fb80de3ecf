/* A stack without locks: the head is the same again, what is below it is not. */
#include "bugs.h"

enum { ORDER = __ATOMIC_SEQ_CST };

static struct node {
	struct node *next;
	int taken;
} store[4];
static struct node *head;
static volatile int wrong;

static void push(struct node *n)
{
	struct node *old;

	__atomic_store_n(&n->taken, 0, ORDER);
	do {
		old = __atomic_load_n(&head, ORDER); /* race: 1 reads */
		n->next = old;
	} while (!__atomic_compare_exchange_n(&head, &old, n, 0, ORDER, ORDER)); /* race: 2 writes */
}

static struct node *pop(void)
{
	struct node *old, *next;

	do {
		old = __atomic_load_n(&head, ORDER); /* race: 1 reads */
		if (!old)
			return NULL;
		next = old->next;
	} while (!__atomic_compare_exchange_n(&head, &old, next, 0, ORDER, ORDER)); /* race: 2 writes, 3 writes */
	if (__atomic_exchange_n(&old->taken, 1, ORDER))
		wrong = 1;
	return old;
}

static void *work(void *arg)
{
	for (int i = 0; i < 300 && !wrong; i++) {
		struct node *a = pop(), *b = pop();
		if (a)
			push(a);
		if (b)
			push(b);
	}
	return NULL;
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		push(&store[i]);
	two(work, work);
	return wrong; /* seen by: head */
}
