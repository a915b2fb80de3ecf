// C++ threads of the library: std::async, promises, packaged tasks, jthread with stop tokens, thread_local objects
// build: -std=c++20 -pthread -Wl,-z,now
// levels: -O0 -O2
// watch: made
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <thread>
#include <vector>
#include "check.h"

static std::atomic<int> made, gone;

struct local {
	int n = ++made;
	~local() { gone++; }
};
static thread_local local here;

static int add_up(const std::vector<int> &v, size_t from, size_t to)
{
	if (!here.n)
		return -1;
	if (to - from <= 8)
		return std::accumulate(v.begin() + from, v.begin() + to, 0);
	size_t half = from + (to - from) / 2;
	auto rest = std::async(std::launch::async, add_up, std::cref(v), half, to);
	return add_up(v, from, half) + rest.get();
}

static int failing(int n)
{
	if (n > 2)
		throw std::range_error("too large");
	return n;
}

static int tasks()
{
	std::packaged_task<int(int)> good(failing), bad(failing);
	std::future<int> g = good.get_future(), b = bad.get_future();
	std::thread worker([&good, &bad] {
		good(1);
		bad(3);
	});

	int caught = 0;
	try {
		b.get();
	} catch (const std::runtime_error &e) {
		caught = e.what()[0];
	}
	worker.join();
	return g.get() + caught;
}

class channel {
	std::mutex lock;
	std::condition_variable_any changed;
	std::queue<int> waiting;

      public:
	void send(int n)
	{
		std::lock_guard hold(lock);
		waiting.push(n);
		changed.notify_one();
	}
	int receive(std::stop_token stop)
	{
		std::unique_lock hold(lock);
		if (!changed.wait(hold, stop, [this] { return !waiting.empty(); }))
			return -1;
		int n = waiting.front();
		waiting.pop();
		return n;
	}
};

static int stopped()
{
	channel c;
	int sum = 0;
	std::promise<void> enough;
	{
		std::jthread reader([&](std::stop_token stop) {
			for (int n, count = 0; (n = c.receive(stop)) >= 0;) {
				sum += n * here.n / here.n;
				if (++count == 4)
					enough.set_value();
			}
		});
		for (int i = 1; i <= 4; i++)
			c.send(i * i);
		enough.get_future().wait();
	}
	return sum;
}

static int brought_home()
{
	std::promise<int> promise;
	std::shared_future<int> shared = promise.get_future().share();
	std::thread setter([&promise] {
		try {
			throw 42;
		} catch (...) {
			promise.set_exception(std::current_exception());
		}
	});
	int caught = 0;

	for (int i = 0; i < 2; i++)
		try {
			shared.get();
		} catch (int n) {
			caught += n;
		}
	setter.join();
	return caught;
}

int main()
{
	std::vector<int> v(32);

	std::iota(v.begin(), v.end(), 1);
	CHECK(add_up(v, 0, v.size()) == 32 * 33 / 2);
	CHECK(made == 4 && gone == 3);
	CHECK(tasks() == 1 + 't');
	CHECK(stopped() == 30);
	CHECK(brought_home() == 84);
	auto later = std::async(std::launch::deferred, [] { return here.n; });
	CHECK(later.get() == 1);
	DONE("async");
}
