// C++ objects: constructors and destructors in order, bases, thunks, templates, lambdas
// levels: -O0 -O2
// watch: alive
#include <new>
#include <utility>
#include "check.h"

static int alive, order[32], n_orders;

struct tracked {
	int id;
	explicit tracked(int id) : id(id)
	{
		alive++;
		order[n_orders++] = id;
	}
	tracked(const tracked &other) : id(other.id + 100) { alive++; }
	tracked(tracked &&other) noexcept : id(std::exchange(other.id, 0)) { alive++; }
	~tracked()
	{
		alive--;
		if (n_orders < 32)
			order[n_orders++] = -id;
	}
};

static tracked global_one(1), global_two(2);
__attribute__((init_priority(200))) static tracked first(3);

struct base {
	virtual ~base() = default;
	virtual int value(int x) { return x; }
};
struct left : virtual base {
	int value(int x) override { return 2 * x; }
};
struct right : virtual base {
	tracked member{4};
};
struct both : left, right {
	int value(int x) override { return left::value(x) + member.id; }
};

__attribute__((noinline)) static int ask(base *b, int x)
{
	return b->value(x);
}

template <int N> struct fib {
	static int get() { return fib<N - 1>::get() + fib<N - 2>::get(); }
};
template <> struct fib<0> {
	static int get() { return 0; }
};
template <> struct fib<1> {
	static int get() { return 1; }
};

template <typename T> T sum(T t)
{
	return t;
}
template <typename T, typename... Rest> T sum(T t, Rest... rest)
{
	return t > 0 ? t + sum<T>(rest...) : sum<T>(rest...) - t;
}

template <typename F> __attribute__((noinline)) static int times(int n, F f)
{
	int total = 0;

	for (int i = 0; i < n; i++)
		total += f(i);
	return total;
}

struct thrower {
	tracked before{5}, after;
	explicit thrower(int n) try : after(n > 0 ? n : throw n) {
	} catch (int) {
		order[n_orders++] = 99;
	}
};

static int lambdas()
{
	int seen = 0;
	auto count = [&seen](int i) { return i % 2 ? ++seen : 0; };
	auto make = [](int by) { return [by](int i) mutable { return by += i; }; };
	int (*plain)(int) = [](int i) { return i * i; };

	return times(5, count) + times(4, make(10)) + times(3, plain) + seen;
}

static int thrown_from_constructor(int n)
{
	try {
		thrower t(n);

		return t.after.id;
	} catch (int e) {
		return e - 1;
	}
}

static void exercise()
{
	n_orders = 0;
	{
		both b;
		CHECK(ask(&b, 5) == 14 && ask(static_cast<right *>(&b), 1) == 6);
		base *heap = new both;
		CHECK(ask(heap, 2) == 8);
		delete heap;
	}
	CHECK(alive == 3);
	CHECK(fib<10>::get() == 55 && sum(1, -2, 3, -4) == 2);
	CHECK(lambdas() == (0 + 1 + 0 + 2 + 0) + (10 + 11 + 13 + 16) + (0 + 1 + 4) + 2);
	CHECK(thrown_from_constructor(7) == 7 && thrown_from_constructor(-3) == -4);
	CHECK(alive == 3);
	alignas(tracked) char room[sizeof(tracked)];
	tracked *placed = new (room) tracked(std::move(tracked(6)));
	CHECK(placed->id == 6 && alive == 4);
	placed->~tracked();
	CHECK(alive == 3);
	for (int i = 0; i < n_orders; i++)
		printf("%d ", order[i]);
}

int main()
{
	CHECK(alive == 3 && order[0] == 3 && order[1] == 1 && order[2] == 2);
	for (int round = 0; round < 3; round++)
		exercise();
	DONE("objects");
}
