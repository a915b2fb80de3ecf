// std::thread: a mutex, a condition variable, thread_local objects, call_once, an exception brought home
// build: -pthread -Wl,-z,now
// levels: -O2
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include "check.h"

static std::mutex lock;
static std::condition_variable changed;
static std::once_flag once;
static int turn, sum, gone, onces;

struct mine {
	int n = 0;
	~mine()
	{
		std::lock_guard<std::mutex> hold(lock);
		gone += n;
	}
};
static thread_local mine counter;

static void work(int me, int rounds, std::exception_ptr *failure)
{
	try {
		std::call_once(once, [] { onces++; });
		for (int i = 0; i < rounds; i++) {
			std::unique_lock<std::mutex> hold(lock);

			changed.wait(hold, [me] { return turn % 3 == me; });
			turn++;
			sum += me * i;
			counter.n++;
			changed.notify_all();
		}
		throw me;
	} catch (...) {
		*failure = std::current_exception();
	}
}

int main()
{
	std::thread threads[3];
	std::exception_ptr failures[3];
	int caught = 0;

	for (int i = 0; i < 3; i++)
		threads[i] = std::thread(work, i, 5, &failures[i]);
	for (std::thread &t : threads)
		t.join();
	for (const std::exception_ptr &failure : failures)
		try {
			std::rethrow_exception(failure);
		} catch (int e) {
			caught += e;
		}
	CHECK(turn == 15 && sum == 30 && gone == 15 && onces == 1 && caught == 3);
	DONE("threads");
}
