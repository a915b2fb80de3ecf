/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A piece of machine code at the address START. */
#ifndef LIZARD_TESTS_CODE_AT_H
#define LIZARD_TESTS_CODE_AT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { START = 0x10000 };

struct code {
	const uint8_t *bytes;
	size_t n;
};

static size_t read_code(void *arg, uint64_t addr, void *buf, size_t len)
{
	const struct code *c = arg;

	if (addr < START || addr >= START + c->n)
		return 0;
	size_t left = START + c->n - addr, n = len < left ? len : left;
	memcpy(buf, c->bytes + (addr - START), n);
	return n;
}

#endif
