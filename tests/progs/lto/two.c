/* What one.c calls. */
int even(int);
__attribute__((noinline)) static int helper(int x)
{
	if (x > 3)
		return x * 2;
	return x + x;
}
int twice(int x)
{
	int y = helper(x);

	return y;
}
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int sum_to(int n)
{
	int s = 0;

	for (int i = 1; i <= n; i++)
		s += i;
	return s;
}
