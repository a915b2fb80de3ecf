// C++ classes: virtual bases, thunks that adjust results, dynamic_cast, typeid, pointers to members, calls while constructing
// levels: -O0 -O2
// watch: calls
#include <memory>
#include <typeinfo>
#include <vector>
#include "check.h"

static int calls;

struct shape {
	int sides;
	explicit shape(int sides) : sides(sides) { calls += name(); }
	virtual ~shape() { calls += 10 * name(); }
	virtual int name() const { return 1; }
	virtual shape *copy() const { return new shape(*this); }
};
struct coloured : virtual shape {
	int colour;
	explicit coloured(int colour) : shape(0), colour(colour) { calls += 100 * name(); }
	int name() const override { return 2; }
	coloured *copy() const override { return new coloured(*this); }
};
struct sized : virtual shape {
	int size;
	explicit sized(int size) : shape(0), size(size) {}
	int name() const override { return 3; }
	sized *copy() const override { return new sized(*this); }
	virtual int area() const { return size * size; }
};
struct square final : coloured, sized {
	square(int colour, int size) : shape(4), coloured(colour), sized(size) {}
	int name() const override { return 4; }
	square *copy() const override { return new square(*this); }
	int area() const override { return sized::area() + colour; }
};
struct alien {
	virtual ~alien() = default;
};

__attribute__((noinline)) static int classify(const shape *s)
{
	if (const square *q = dynamic_cast<const square *>(s))
		return 1000 + q->area();
	if (const sized *z = dynamic_cast<const sized *>(s))
		return 100 + z->area();
	return typeid(*s) == typeid(coloured) ? 10 : 1;
}

__attribute__((noinline)) static int across(coloured *c)
{
	try {
		return dynamic_cast<sized &>(*c).size;
	} catch (const std::bad_cast &) {
		return -1;
	}
}

__attribute__((noinline)) static int through(const sized *s, int (sized::*area)() const, int sized::*member)
{
	return (s->*area)() + s->*member;
}

int main()
{
	{
		std::vector<std::unique_ptr<shape>> all;

		all.emplace_back(new shape(3));
		all.emplace_back(new coloured(7));
		all.emplace_back(new sized(5));
		all.emplace_back(new square(9, 6));
		int sum = 0;
		for (const auto &s : all) {
			std::unique_ptr<shape> twin(s->copy());

			CHECK(typeid(*twin) == typeid(*s) && twin->name() == s->name());
			sum += classify(twin.get());
		}
		CHECK(sum == 1 + 10 + 125 + 1045);
	}
	CHECK(calls == 4 * 1 + 2 * 200 + 10 * 2 * 4);
	square q(1, 2);
	coloured c(3);
	CHECK(across(&q) == 2 && across(&c) == -1);
	CHECK(through(&q, &sized::area, &sized::size) == 7);
	std::unique_ptr<sized> z(static_cast<const sized &>(q).copy());
	CHECK(z->area() == 5 && dynamic_cast<void *>(z.get()) != static_cast<void *>(z.get()));
	shape *s = &q;
	CHECK(!dynamic_cast<alien *>(s) && dynamic_cast<coloured *>(s)->colour == 1);
	DONE("casts");
}
