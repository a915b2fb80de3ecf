/* What both files of comdat.cc have: each compiles it, and the linker keeps one. */
#ifndef COMDAT_H
#define COMDAT_H

#include <string>
#include <utility>
#include <vector>

inline int shared_count;

inline int next_number()
{
	static int last = [] {
		shared_count += 100;
		return 0;
	}();

	return ++last;
}

template <typename T> struct stack {
	std::vector<T> items;
	static inline int pushed = 0;
	void push(T t)
	{
		items.push_back(std::move(t));
		pushed++;
	}
	T pop()
	{
		T t = std::move(items.back());
		items.pop_back();
		return t;
	}
	size_t size() const;
};

template <typename T> size_t stack<T>::size() const
{
	size_t n = 0;

	for (auto at = items.begin(); at != items.end(); ++at)
		n++;
	return n;
}

extern template struct stack<long>;

struct animal {
	virtual ~animal() {}
	virtual int legs() const { return 4; }
};

template <typename A, typename B> inline auto largest(A a, B b)
{
	if (a < b)
		return b;
	return static_cast<B>(a);
}

int other_file(animal *&made);

#endif
