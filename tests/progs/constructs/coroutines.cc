// C++20 coroutines: generators, one that waits for another, one that throws, one that is destroyed half way
// build: -std=c++20
// levels: -O0 -O2
#include <coroutine>
#include <exception>
#include <utility>
#include "check.h"

static int frames;

struct generator {
	struct promise_type {
		int value = 0;
		std::exception_ptr failure;

		promise_type() { frames++; }
		~promise_type() { frames--; }
		generator get_return_object() { return generator{handle::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void() {}
		void unhandled_exception() { failure = std::current_exception(); }
	};
	using handle = std::coroutine_handle<promise_type>;
	handle h;

	explicit generator(handle h) : h(h) {}
	generator(generator &&other) : h(std::exchange(other.h, {})) {}
	~generator()
	{
		if (h)
			h.destroy();
	}
	bool next()
	{
		h.resume();
		if (h.promise().failure)
			std::rethrow_exception(h.promise().failure);
		return !h.done();
	}
	int value() { return h.promise().value; }
};

static generator count_to(int n)
{
	for (int i = 1; i <= n; i++)
		co_yield i;
}

static generator squares(int n)
{
	generator numbers = count_to(n);

	while (numbers.next())
		if (numbers.value() % 2)
			co_yield numbers.value() * numbers.value();
}

// Inlined, it makes GDB 13 abort: GDB takes the code of this coroutine for part of main() then (docs/limits.md).
__attribute__((noinline)) static generator failing()
{
	co_yield 1;
	throw 5;
}

static int drain(generator g)
{
	int total = 0;

	while (g.next())
		total += g.value();
	return total;
}

int main()
{
	CHECK(drain(count_to(10)) == 55);
	CHECK(drain(squares(7)) == 1 + 9 + 25 + 49);
	int caught = 0;
	try {
		drain(failing());
	} catch (int e) {
		caught = e;
	}
	CHECK(caught == 5);
	{
		generator half = squares(100);
		CHECK(half.next() && half.next() && half.value() == 9);
	}
	CHECK(frames == 0);
	DONE("coroutines");
}
