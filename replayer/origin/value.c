/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/origin/value.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

/* The area of xsave: Intel SDM volume 1, section 13.4; where the components are, the processor says,
 * volume 2, CPUID leaf 0DH. */
enum { XSTATE_MAX = 16384, LEAF_XSTATE = 0xd, XMM_AT = 160, VECTOR_MAX = 64 };
enum component { UPPER_YMM = 2, UPPER_ZMM = 6, ZMM16_ON = 7 };

/* LEN bytes of register number NR in a component, whose registers have that length. */
static void take(const uint8_t *area, enum component c, size_t nr, uint8_t *to, size_t len)
{
	unsigned size, at, more, flags;

	if (__get_cpuid_count(LEAF_XSTATE, c, &size, &at, &more, &flags) && at &&
	    at + (nr + 1) * len <= XSTATE_MAX)
		memcpy(to, area + at + nr * len, len);
}

static void take_whole(const uint8_t *area, size_t nr, uint8_t v[VECTOR_MAX])
{
	if (nr >= 16) {
		take(area, ZMM16_ON, nr - 16, v, VECTOR_MAX);
		return;
	}
	memcpy(v, area + XMM_AT + nr * 16, 16);
	take(area, UPPER_YMM, nr, v + 16, 16);
	take(area, UPPER_ZMM, nr, v + 32, 32);
}

static size_t read_vector(struct lz_session *s, const struct lz_location *l,
                          uint8_t v[LZ_VALUE_MAX])
{
	uint8_t *area = calloc(1, XSTATE_MAX), whole[VECTOR_MAX] = {0};
	uint32_t len = XSTATE_MAX;
	size_t n = 0;

	if (area && lz_session_xstate(s, area, &len) == 0 && l->at < sizeof whole) {
		take_whole(area, (size_t)ZydisRegisterGetId(l->reg), whole);
		n = sizeof whole - l->at < l->len ? sizeof whole - l->at : l->len;
		n = n < LZ_VALUE_MAX ? n : LZ_VALUE_MAX;
		memcpy(v, whole + l->at, n);
	}
	free(area);
	return n;
}

size_t lz_value_read(struct lz_session *s, const struct lz_location *l, uint8_t v[LZ_VALUE_MAX])
{
	const size_t len = l->len < LZ_VALUE_MAX ? l->len : LZ_VALUE_MAX;
	struct user_regs_struct r;

	if (l->in_memory)
		return lz_session_read(s, l->addr, v, len);
	if (ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, l->reg) > 64)
		return read_vector(s, l, v);
	if (lz_session_regs(s, &r) < 0 || l->at >= 8)
		return 0;
	const uint64_t value = lz_register_value(&r, l->reg) >> (8 * l->at);
	const size_t n = len < 8 - l->at ? len : 8 - l->at;
	memcpy(v, &value, n);
	return n;
}
