/* Functions with names that only C++ has, each called another number of times. */
#include <cstdio>

namespace
{
struct Shape {
	int side;
	int area() const { return side * side; }
	int area(int height) const { return side * height; }
	int operator()(int times) { return side *= times; }
	Shape &operator+=(const Shape &other)
	{
		side += other.side;
		return *this;
	}
};

template <typename T> T most(T a, T b)
{
	return a > b ? a : b;
}

static int helper(int n)
{
	return n ? helper(n - 1) + 1 : 0;
}
}

int main()
{
	Shape shape = {1};
	int sum = helper(6);
	auto add = [&](int n) { sum += n; };

	for (int i = 0; i < 5; i++)
		sum += shape.area();
	for (int i = 0; i < 4; i++)
		sum += shape.area(i);
	for (int i = 0; i < 3; i++)
		sum = most<int>(sum, i);
	for (int i = 0; i < 2; i++)
		sum += shape(2);
	for (int i = 0; i < 8; i++)
		shape += Shape{i};
	add(most<long>(3, 4));
	printf("%d\n", sum);
}
