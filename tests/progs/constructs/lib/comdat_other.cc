// The other file of comdat.cc.
#include "comdat.h"

template struct stack<long>;

namespace
{
struct bird : animal { // another one than comdat.cc's
	int legs() const override { return 6; }
	~bird() override { shared_count++; }
};
} // namespace

int other_file(animal *&made)
{
	stack<int> numbers;

	numbers.push(next_number());
	shared_count++;
	made = new bird;
	return numbers.pop() + next_number() + largest(2, 7);
}
