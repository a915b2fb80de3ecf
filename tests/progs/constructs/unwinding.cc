// C++ exceptions on their way: out of destructors, nested, out of constructors of statics, through C frames and VLAs
// levels: -O0 -O2
// watch: unwound
#include <alloca.h>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include "check.h"

static int unwound, caught;

struct counts {
	int weight;
	~counts() { unwound += weight; }
};

struct base_error {
	virtual ~base_error() = default;
	virtual int code() const { return 1; }
};
struct error : virtual base_error {
	int value;
	explicit error(int value) : value(value) {}
	int code() const override { return value; }
};

// Throws while nothing else is thrown, and swallows its own exception while something is.
struct noisy {
	int before = std::uncaught_exceptions();
	~noisy() noexcept(false)
	{
		if (std::uncaught_exceptions() == before)
			throw error(30);
		try {
			throw error(4);
		} catch (const base_error &e) {
			caught += e.code();
		}
	}
};

__attribute__((noinline)) static int deep(int n, int *room)
{
	counts c{1};
	int *mine = static_cast<int *>(alloca(sizeof(int) * (n + 1)));

	mine[n] = *room + n;
	if (n == 0)
		throw error(mine[0]);
	return deep(n - 1, &mine[n]) + mine[n];
}

static int from_depth(int n)
{
	int room = 7;

	try {
		return deep(n, &room);
	} catch (const base_error &e) {
		return e.code();
	}
}

static int from_destructor(bool also)
{
	try {
		noisy n;
		counts c{10};
		if (also)
			throw std::string("first");
	} catch (const std::string &s) {
		return static_cast<int>(s.size());
	} catch (const base_error &e) {
		return e.code();
	}
	return 0;
}

static void inner()
{
	try {
		throw std::out_of_range("inside");
	} catch (...) {
		std::throw_with_nested(error(2));
	}
}

static int nested()
{
	try {
		inner();
	} catch (const error &outer) {
		try {
			std::rethrow_if_nested(outer);
		} catch (const std::logic_error &e) {
			return outer.value + e.what()[0];
		}
	}
	return 0;
}

static int attempts;

struct third_time {
	counts c{100};
	int number;
	third_time() : number(++attempts)
	{
		if (number < 3)
			throw number;
	}
};

static int lazily()
{
	for (;;) {
		try {
			static third_time only;
			return only.number;
		} catch (int n) {
			caught += n;
		}
	}
}

// qsort() of the C library is compiled for exceptions to go through it.
static int compare(const void *a, const void *b)
{
	counts c{1000};
	int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);

	if (x - y == 1 || y - x == 1)
		throw x * y;
	return x - y;
}

static int through_c(int odd)
{
	int values[] = {2, 9, 4, 6, odd};

	try {
		qsort(values, 5, sizeof(*values), compare);
	} catch (int product) {
		return product;
	}
	return values[4];
}

static int many_ways_out(int n)
{
	int rounds = 0;

again:
	try {
		counts c{0};
		rounds++;
		if (n == 1)
			return rounds;
		if (n == 2)
			goto out;
		if (n == 3)
			throw "text";
		for (int i = 0; i < n; i++) {
			counts d{0};
			if (i == 2)
				continue;
			if (i == 4)
				break;
		}
	} catch (const char *) {
		n = 2;
		goto again;
	}
	return -rounds;
out:
	return 10 * rounds;
}

int main()
{
	for (int i = 0; i < 3; i++) {
		CHECK(from_depth(3) == 7 + 3 + 2 + 1);
		CHECK(from_destructor(false) == 30 && from_destructor(true) == 5);
	}
	CHECK(unwound == 3 * (4 + 20) && caught == 3 * 4);
	CHECK(nested() == 2 + 'i');
	CHECK(lazily() == 3 && lazily() == 3 && caught == 12 + 3 && unwound == 72 + 200);
	unwound = 0;
	CHECK(through_c(7) == 42 && through_c(20) == 20 && unwound >= 5000);
	CHECK(many_ways_out(1) == 1 && many_ways_out(2) == 10 && many_ways_out(3) == 20);
	CHECK(many_ways_out(6) == -1);
	auto escape = [](int n) noexcept(false) -> int { return n ? throw std::make_unique<int>(n) : 0; };
	try {
		escape(9);
	} catch (const std::unique_ptr<int> &p) {
		caught += *p;
	}
	CHECK(caught == 24 && std::uncaught_exceptions() == 0);
	DONE("unwinding");
}
