/* A library without markers that has a function of the same name as the program. */
static int __attribute__((noinline)) visit(int x)
{
	return x * 3 + 1;
}

int library(int x)
{
	return visit(x) + visit(x + 1);
}
