/* Calls in a row: no branch, so no marker of the function is between them. */
static volatile int a, b, c;
static int one(int n)
{
	return n ? n + 1 : 0;
}
static void row(int n)
{
	a = one(n);
	b = a + 1;
	c = one(b) + 2;
	a = c;
	b = one(a);
	c = b + a;
	a = one(c) + one(b);
}
int main(void)
{
	for (int i = 0; i < 3; i++)
		row(i);
	return 0;
}
