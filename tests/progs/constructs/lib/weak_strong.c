/* The strong definition for weak.c. */
int overridden(int x);

int overridden(int x)
{
	return x * 10 + 4;
}
