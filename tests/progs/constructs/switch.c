/* switch: dense, sparse, strings of cases, fall-through, nested, in a loop */
#include "check.h"

static int dense(int x)
{
	switch (x) {
	case 0: return 10;
	case 1: return 21;
	case 2: return 32;
	case 3: return 43;
	case 4: return 54;
	case 5: return 65;
	default: return -1;
	}
}

static int sparse(long x)
{
	int r = 0;

	switch (x) {
	case -1000000:
		r++;
		/* fall through */
	case 7:
		r += 2;
		/* fall through */
	case 1L << 40: r += 4; break;
	case 100 ... 200:
		r = 50;
		switch (x % 3) {
		case 0: r++; break;
		case 1: return r;
		}
		break;
	}
	return r;
}

int main(void)
{
	long sum = 0;

	for (int i = -1; i < 8; i++)
		sum = sum * 3 + dense(i);
	printf("dense %ld\n", sum);
	CHECK(sum == 43916);
	CHECK(sparse(-1000000) == 7 && sparse(7) == 6 && sparse(1L << 40) == 4);
	CHECK(sparse(102) == 51 && sparse(103) == 50 && sparse(104) == 50 && sparse(5) == 0);
	DONE("switch");
}
