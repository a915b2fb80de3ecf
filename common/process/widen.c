/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <lizard/widen.h>

#include <stdbool.h>

#include <string.h>
#include <unistd.h>

static const uint8_t store[] = {0x41, 0xc6, 0x07};

static bool is_site(const uint8_t *code, uint8_t prefix)
{
	const uint8_t add[] = {0x66, prefix, 0x83, 0xc7};

	return memcmp(code, store, sizeof(store)) == 0 &&
	       memcmp(code + sizeof(store) + 1, add, sizeof(add)) == 0;
}

size_t lz_widen_next(const uint8_t *code, size_t len, size_t from)
{
	while (from + LZ_SITE_LEN <= len) {
		const uint8_t *at = memmem(code + from, len - LZ_SITE_LEN + sizeof(store) - from,
		                           store, sizeof(store));

		if (!at)
			break;
		if (is_site(at, LZ_ADD_NARROW) || is_site(at, LZ_ADD_WIDE))
			return (size_t)(at - code);
		from = (size_t)(at - code) + 1;
	}
	return len;
}

void lz_widen_hide(uint8_t *code, size_t len, int file, uint64_t offset)
{
	uint8_t original[4096];

	for (size_t at = 0; at < len; at += sizeof(original)) {
		size_t want = len - at < sizeof(original) ? len - at : sizeof(original);
		ssize_t n = pread(file, original, want, (off_t)(offset + at));

		for (ssize_t i = 0; i < n; i++)
			if (code[at + (size_t)i] == LZ_ADD_WIDE && original[i] == LZ_ADD_NARROW)
				code[at + (size_t)i] = LZ_ADD_NARROW;
	}
}
