/* SPDX-License-Identifier: GPL-3.0-or-later */
/* branchy N: calls and branches at the highest rate that real code has: recursion, a hash table, a
 * sort with a callback, a scan of text. N rounds of each; prints a checksum. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEENS = 8, SLOTS = 1 << 14, KEYS = 10000, SORTED = 20000, TEXT = 200000 };

static uint32_t seed = 1;

static uint32_t next_random(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* ---- recursion ---- */

static unsigned place(unsigned row, unsigned columns, unsigned left, unsigned right)
{
	unsigned found = 0;

	if (row == QUEENS)
		return 1;
	for (unsigned c = 0; c < QUEENS; c++) {
		if (columns >> c & 1 || left >> (row + c) & 1 || right >> (row + QUEENS - c) & 1)
			continue;
		found += place(row + 1, columns | 1u << c, left | 1u << (row + c),
		               right | 1u << (row + QUEENS - c));
	}
	return found;
}

static unsigned fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* ---- a hash table ---- */

static struct slot {
	uint32_t key, count;
} table[SLOTS];

static uint32_t hash_of(uint32_t key)
{
	key ^= key >> 15;
	return key * 0x9e3779b1u >> 8;
}

static struct slot *look_up(uint32_t key)
{
	uint32_t i = hash_of(key) % SLOTS;

	while (table[i].count && table[i].key != key)
		i = (i + 1) % SLOTS;
	return &table[i];
}

static uint32_t count_keys(void)
{
	uint32_t most = 0;

	memset(table, 0, sizeof table);
	for (int i = 0; i < 8 * KEYS; i++) {
		uint32_t key = next_random() % KEYS;
		struct slot *s = look_up(key);

		s->key = key;
		if (++s->count > most)
			most = s->count;
	}
	return most;
}

/* ---- a sort with a callback ---- */

static unsigned compared;

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	compared++;
	return x < y ? -1 : x > y;
}

static uint32_t sort_numbers(void)
{
	static uint32_t v[SORTED];

	for (int i = 0; i < SORTED; i++)
		v[i] = next_random();
	qsort(v, SORTED, sizeof *v, by_value);
	return v[SORTED / 2] + compared;
}

/* ---- a scan of text ---- */

static char text[TEXT];

static void write_text(void)
{
	for (int i = 0; i < TEXT; i++)
		text[i] = "abc de, 12 f(x) = \"yz\";\n"[next_random() % 24];
}

static const char *skip_word(const char *p, const char *end)
{
	while (p < end && (isalpha((unsigned char)*p) || *p == '_'))
		p++;
	return p;
}

static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"' && *p != '\n'; p++)
		;
	return p < end ? p + 1 : p;
}

static const char *skip_number(const char *p, const char *end)
{
	while (p < end && isdigit((unsigned char)*p))
		p++;
	return p;
}

static unsigned scan_text(void)
{
	const char *p = text, *end = text + TEXT;
	unsigned tokens = 0;

	while (p < end) {
		if (isalpha((unsigned char)*p))
			p = skip_word(p, end);
		else if (isdigit((unsigned char)*p))
			p = skip_number(p, end);
		else if (*p == '"')
			p = skip_string(p, end);
		else if (isspace((unsigned char)*p++))
			continue;
		tokens++;
	}
	return tokens;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint64_t sum = 0;

	write_text();
	for (int i = 0; i < rounds; i++) {
		sum = sum * 31 + place(0, 0, 0, 0) + fibonacci(20);
		sum = sum * 31 + count_keys() + sort_numbers();
		sum = sum * 31 + scan_text();
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
