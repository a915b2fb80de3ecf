// C++ callables and the library's templates: std::function, generic and recursive lambdas, variants, algorithms, containers
// build: -std=c++17
// levels: -O0 -O2
// watch: destroyed
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>
#include "check.h"

static int destroyed;

struct counted {
	int n;
	explicit counted(int n) : n(n) {}
	counted(const counted &) = default;
	~counted() { destroyed += n; }
	int operator()(int x) const { return n * x; }
};

template <typename... F> struct overloaded : F... {
	using F::operator()...;
};
template <typename... F> overloaded(F...) -> overloaded<F...>;

using value = std::variant<int, std::string, std::vector<int>>;

static int weigh(const value &v)
{
	return std::visit(overloaded{[](int i) { return i; },
	                             [](const std::string &s) { return static_cast<int>(s.size()); },
	                             [](const auto &all) { return std::accumulate(all.begin(), all.end(), 0); }},
	                  v);
}

template <typename... T> static auto product(T... t)
{
	return (... * t);
}

template <typename T> static std::string describe(const T &t)
{
	if constexpr (std::is_integral_v<T>)
		return std::to_string(t);
	else
		return "<" + t + ">";
}

static std::function<int(int)> choose(int kind)
{
	switch (kind) {
	case 0: return counted(3);
	case 1: return [big = std::vector<int>{1, 2, 3}](int x) { return big[x % 3]; };
	case 2: return std::bind([](int a, int b) { return a - b; }, 50, std::placeholders::_1);
	}
	return nullptr;
}

static std::optional<int> lookup(const std::map<std::string, int> &m, const std::string &key)
{
	auto at = m.find(key);

	return at == m.end() ? std::nullopt : std::optional<int>(at->second);
}

int main()
{
	int total = 0;
	for (int kind = 0; kind < 4; kind++)
		if (std::function<int(int)> f = choose(kind))
			total += f(kind + 4);
	CHECK(total == 12 + 3 + 44 && destroyed > 0 && destroyed % 3 == 0);
	try {
		choose(7)(1);
		CHECK(false);
	} catch (const std::bad_function_call &) {
		total++;
	}
	std::function<int(int)> fibonacci = [&fibonacci](int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); };
	CHECK(fibonacci(9) == 34);
	CHECK(weigh(5) + weigh("four") + weigh(std::vector<int>{1, 2, 3}) == 15);
	CHECK(product(2, 3, 4) == 24 && describe(12) + describe(std::string("x")) == "12<x>");
	std::map<std::string, int> words;
	for (const char *w : {"one", "two", "one", "three", "two", "one"})
		words[w]++;
	std::vector<std::pair<std::string, int>> sorted(words.begin(), words.end());
	std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
	for (const auto &[word, n] : sorted)
		total += n * static_cast<int>(word.size());
	CHECK(sorted[0].first == "one" && total == 60 + 9 + 6 + 5);
	CHECK(lookup(words, "two").value_or(0) == 2 && !lookup(words, "four"));
	auto last = [](counted *c) { delete c; };
	{
		std::shared_ptr<counted> shared(new counted(1000), last);
		std::weak_ptr<counted> weak = shared;
		std::unique_ptr<counted, decltype(last)> owner(new counted(3000), last);
		auto twice = [shared](int x) { return (*shared)((*shared)(x)); };
		CHECK(twice(2) == 2000000 && weak.use_count() == 2);
	}
	CHECK(destroyed >= 4000);
	DONE("functional");
}
