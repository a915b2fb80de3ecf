/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluates agent expressions that nobody has checked: agent FROM TO
 *
 * For each seed from FROM to TO: bytes at random, mostly operations that exist. Each ends, and touches only its own memory.
 * What lz_agent_check() accepts never jumps into nowhere and has no unknown operation. */
#include <stdio.h>
#include <stdlib.h>
#include <replayer/agent/agent.h>
#include <tests/fuzz/random.h>

static volatile uint64_t sink;

static bool reg(void *arg, unsigned nr, uint64_t *value)
{
	(void)arg;
	*value = (uint64_t)rnd() << rnd() % 40;
	return nr < 60;
}

static bool read_memory(void *arg, uint64_t addr, void *buf, size_t len)
{
	(void)arg;
	memset(buf, (int)rnd(), len);
	return addr % 16;
}

/* Numbers first, so that the stack holds something; the jumps are short. */
static size_t make(uint8_t *code, size_t room)
{
	size_t n = 0;

	for (unsigned k = rnd() % 12; k; k--) {
		code[n++] = 0x22;
		code[n++] = (uint8_t)rnd();
	}
	while (n < room) {
		code[n] = (uint8_t)(rnd() % 8 ? 2 + rnd() % 0x33 : rnd());
		bool jump = (code[n] == 0x20 || code[n] == 0x21) && n + 2 < room;
		n++;
		if (jump) {
			code[n++] = 0;
			code[n++] = (uint8_t)(rnd() % room);
		}
	}
	return n;
}

/* Without what the check refuses, most of which has no operand. */
static void mend(uint8_t *code, size_t n)
{
	static const uint8_t good[] = {2, 3, 0xf, 0x13, 0x28, 0x2b, 0x27, 0x17, 0x33, 0x0e};

	for (size_t i = 0; i < n && !lz_agent_check(code, n); i++)
		if (rnd() % 2)
			code[i] = good[rnd() % sizeof good];
	if (n)
		code[n - 1] = 0x27;
}

static void one(void)
{
	static const struct lz_agent_state seen = {NULL, reg, read_memory};
	size_t room = 1 + rnd() % 200;
	uint8_t *code = malloc(room + 40);
	uint64_t value = 0;
	size_t n = make(code, room);

	if (rnd() % 2)
		mend(code, n);
	/* of its own size: the sanitizer sees what is read behind it */
	code = realloc(code, n);
	bool good = lz_agent_check(code, n);
	enum lz_agent_result ret = lz_agent_eval(code, n, &seen, &value);

	sink += value;
	if (good && ret == LZ_AGENT_BAD_JUMP)
		abort();
	free(code);
}

int main(int argc, char **argv)
{
	uint64_t from = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t to = argc > 2 ? strtoull(argv[2], NULL, 0) : from;

	for (uint64_t i = from; i <= to; i++) {
		seed(i);
		one();
	}
	printf("%lu\n", (unsigned long)to);
	return 0;
}
