// C++ exceptions: thrown through instrumented C++ and C frames, caught, rethrown, with destructors
// watch: destroyed
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#include <algorithm>

static int destroyed;

struct guard {
	int weight;
	~guard() { destroyed += weight; }
};

__attribute__((noinline)) static int thrower(int n)
{
	guard g{1};
	if (n == 0)
		throw std::runtime_error("bottom");
	return thrower(n - 1) + 1;
}

static int catcher(int n)
{
	guard g{100};
	int before = n * 3;
	try {
		return thrower(n);
	} catch (const std::runtime_error &e) {
		return before + (e.what()[0] == 'b');
	}
}

static int rethrower(int n)
{
	try {
		try {
			thrower(n);
		} catch (...) {
			guard g{1000};
			throw;
		}
	} catch (std::exception &) {
		return 5;
	}
	return 0;
}

int main()
{
	int s = 0;
	std::vector<int> v;
	for (int i = 0; i < 20; i++) {
		s += catcher(i % 5) + rethrower(i % 3);
		v.push_back((i * 7) % 20);
	}
	try {
		std::sort(v.begin(), v.end(), [](int a, int b) {
			if (a + b == 37)
				throw 7;
			return a < b;
		});
	} catch (int x) {
		s += x;
	}
	std::printf("%d %d\n", s, destroyed);
	if (s != 247 || destroyed != 22099)
		return 1;
	std::puts("done exceptions");
}
