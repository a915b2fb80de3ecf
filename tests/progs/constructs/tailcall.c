/* tail calls: ten million mutual ones must not overflow the stack (-O2 and up; a loop below that)
 * levels: -O2 -O3 -Os
 */
#include "check.h"

struct state {
	long odd, even, dispatched;
};

__attribute__((noinline)) static long is_even(long n, struct state *s);

__attribute__((noinline)) static long is_odd(long n, struct state *s)
{
	s->odd++;
	return n == 0 ? 0 : is_even(n - 1, s);
}

__attribute__((noinline)) static long is_even(long n, struct state *s)
{
	s->even++;
	return n == 0 ? 1 : is_odd(n - 1, s);
}

/* the same with one public member */
__attribute__((noinline)) long public_ping(long n);

__attribute__((noinline)) static long static_pong(long n)
{
	return n <= 0 ? n : public_ping(n - 3);
}

__attribute__((noinline)) long public_ping(long n)
{
	return n <= 0 ? n : static_pong(n - 2);
}

/* and through pointers, back into a static dispatcher */
typedef long handler(long n, long acc, struct state *s);
static handler add, twice;
static handler *volatile table[] = {add, twice};

__attribute__((noinline)) static long dispatch(long n, long acc, struct state *s)
{
	s->dispatched++;
	return n == 0 ? acc : table[n & 1](n, acc, s);
}

static long add(long n, long acc, struct state *s)
{
	return dispatch(n - 1, acc + n, s);
}

static long twice(long n, long acc, struct state *s)
{
	return dispatch(n - 1, acc * 2 % 1000003, s);
}

int main(void)
{
	struct state s = {0};
	long even = is_even(10000000, &s), ping = public_ping(10000001),
	     d = dispatch(1000000, 1, &s);

	printf("%ld %ld %ld %ld %ld %ld\n", even, s.even, s.odd, ping, d, s.dispatched);
	CHECK(even == 1 && s.even == 5000001 && s.odd == 5000000 && s.dispatched == 1000001);
	CHECK(ping == -1 || ping == -2 || ping == 0 || ping == -4);
	DONE("tailcall");
}
