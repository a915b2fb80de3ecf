// Virtual functions called by a base that is not the first: through thunks, of which that of twin() calls its function.
#include <stdio.h>

struct first {
	long a = 1;
	virtual ~first() { a = 0; }
};
struct second {
	long b = 2;
	virtual long get() const { return b; }
	virtual second *twin() { return this; }
	virtual ~second() { b = 0; }
};
struct both : first, second {
	long get() const override { return a + b; }
	both *twin() override
	{
		a++;
		return this;
	}
	~both() override { a = b = 7; }
};

static long ask(second *s)
{
	long n = s->get();
	second *t = s->twin();

	n += t->get();
	delete t;
	return n;
}

int main()
{
	second plain, *s = new both;

	return printf("%ld\n", plain.twin()->get() + ask(s)) < 0;
}
