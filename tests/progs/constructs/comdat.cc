// C++ code in two files: inline functions, their statics, templates, one instance of which the other file has, virtual tables
// build: -std=c++17 lib/comdat_other.cc -I.
// levels: -O0 -O2
// watch: shared_count
#include "comdat.h"
#include "check.h"

namespace
{
struct bird : animal {
	int legs() const override { return 2; }
};
} // namespace

int main()
{
	animal *other;
	int total = other_file(other);
	bird b;
	stack<int> numbers;
	stack<std::string> words;
	stack<long> longs;

	CHECK(total == 1 + 2 + 7 && shared_count == 101);
	for (int i = 0; i < 5; i++) {
		numbers.push(next_number());
		words.push(std::to_string(i));
		longs.push(largest(i, 2L));
	}
	CHECK(numbers.pop() == 7 && words.pop() == "4" && longs.pop() == 4);
	CHECK(numbers.size() + words.size() + longs.size() == 12);
	CHECK(stack<int>::pushed == 6 && stack<std::string>::pushed == 5 && stack<long>::pushed == 5);
	CHECK(other->legs() == 6 && b.legs() == 2 && largest(3, 2.5) == 3);
	delete other;
	CHECK(shared_count == 102);
	DONE("comdat");
}
