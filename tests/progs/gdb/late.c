/* The library that events.c loads. */
int tripled;

int triple(int n)
{
	int r = n;

	tripled = n;
	r += n;
	r += n;
	return r;
}
