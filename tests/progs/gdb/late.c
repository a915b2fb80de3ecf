/* The library that events.c loads. */
int triple(int n)
{
	int r = n;

	r += n;
	r += n;
	return r;
}
