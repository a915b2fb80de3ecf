/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Agent expressions: each operation as GDB's manual describes it, and whatever is wrong with the code. */
#include "tests/unit/suite.h"

#include <check.h>
#include <replayer/agent/agent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 0x1000 };
static const uint8_t memory[] = {0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

static bool reg(void *arg, unsigned nr, uint64_t *value)
{
	*value = 0xfffffffffffffff0 + nr;
	return nr < 16;
}

static bool read_memory(void *arg, uint64_t addr, void *buf, size_t len)
{
	if (addr < MEMORY || addr - MEMORY > sizeof memory - len)
		return false;
	memcpy(buf, memory + (addr - MEMORY), len);
	return true;
}

/* CODE as hexadecimal digits. */
static enum lz_agent_result eval(const char *code, uint64_t *value)
{
	static const struct lz_agent_state state = {NULL, reg, read_memory};
	size_t len = strlen(code) / 2;
	/* of its own size, so that the sanitizer sees a byte too much */
	uint8_t *bytes = malloc(len + !len);

	for (size_t i = 0; i < len; i++)
		sscanf(code + 2 * i, "%2hhx", &bytes[i]);
	enum lz_agent_result ret = lz_agent_eval(bytes, len, &state, value);

	if (ret == LZ_AGENT_VALUE)
		ck_assert(lz_agent_check(bytes, len));
	free(bytes);
	return ret;
}

static void gives(const char *code, uint64_t want)
{
	uint64_t value = ~want;

	ck_assert_msg(eval(code, &value) == LZ_AGENT_VALUE, "%s", code);
	ck_assert_msg(value == want, "%s: %lx, not %lx", code, value, want);
}

static void fails(const char *code, enum lz_agent_result want)
{
	uint64_t value;
	enum lz_agent_result got = eval(code, &value);

	ck_assert_msg(got == want, "%s: %d, not %d", code, got, want);
}

/* Two numbers and an operation. */
static void of_two(int64_t a, int64_t b, const char *op, int64_t want)
{
	char code[64];

	sprintf(code, "25%016lx25%016lx%s27", a, b, op);
	gives(code, (uint64_t)want);
}

START_TEST(constants)
{
	gives("22ff27", 0xff);
	gives("23123427", 0x1234);
	gives("249234567827", 0x92345678);
	gives("25923456789abcdef027", 0x923456789abcdef0);
	gives("26000327", 0xfffffffffffffff3);
}
END_TEST

START_TEST(arithmetic)
{
	of_two(7, -9, "02", -2);
	of_two(7, 9, "03", -2);
	of_two(-7, 9, "04", -63);
	of_two(-7, 2, "05", -3);
	of_two(-8, 2, "06", 0x7ffffffffffffffc);
	of_two(-7, 4, "07", -3);
	of_two(-7, 4, "08", 1);
	of_two(-1, 63, "09", INT64_MIN);
	of_two(-8, 2, "0a", -2);
	of_two(-8, 62, "0b", 3);
	of_two(12, 10, "0f", 8);
	of_two(12, 10, "10", 14);
	of_two(12, 10, "11", 6);
	of_two(5, 5, "13", 1);
	of_two(5, 6, "13", 0);
	of_two(-1, 1, "14", 1);
	of_two(1, 1, "14", 0);
	of_two(-1, 1, "15", 0);
	of_two(1, 2, "15", 1);
	gives("22050e27", 0);
	gives("22000e27", 1);
	gives("22051227", ~5ull);
}
END_TEST

START_TEST(widths)
{
	gives("22ff160827", ~0ull);
	gives("227f160827", 0x7f);
	gives("23ff80160827", ~0x7full);
	gives("2205160327", ~2ull);
	gives("25fedcba9876543210164027", 0xfedcba9876543210);
	gives("25fedcba98765432102a2027", 0x76543210);
	gives("25fedcba98765432102a4027", 0xfedcba9876543210);
	fails("2205160027", LZ_AGENT_BAD_CODE);
	fails("2205164127", LZ_AGENT_BAD_CODE);
	fails("22052a0027", LZ_AGENT_BAD_CODE);
}
END_TEST

START_TEST(memory_is_read)
{
	gives("2310001727", 0x88);
	gives("2310001827", 0x9988);
	gives("2310001927", 0xbbaa9988);
	gives("2310001a27", 0xffeeddccbbaa9988);
	fails("2310011a27", LZ_AGENT_UNREADABLE);
	fails("22001727", LZ_AGENT_UNREADABLE);
	fails("26001027", LZ_AGENT_UNREADABLE);
}
END_TEST

START_TEST(stack)
{
	gives("22032802"
	      "27",
	      6);
	gives("2203220429"
	      "27",
	      3);
	gives("22032204"
	      "2b03"
	      "27",
	      1);
	/* 1 2 3 becomes 3 1 2 */
	gives("220122022203"
	      "33"
	      "27",
	      2);
	gives("220122022203"
	      "33"
	      "29"
	      "27",
	      1);
	gives("220122022203"
	      "33"
	      "2929"
	      "27",
	      3);
	gives("220122022203"
	      "3202"
	      "27",
	      1);
	gives("220122022203"
	      "3200"
	      "27",
	      3);
	fails("2201"
	      "3201"
	      "27",
	      LZ_AGENT_BAD_STACK);
	fails("2203"
	      "02"
	      "27",
	      LZ_AGENT_BAD_STACK);
	fails("29"
	      "27",
	      LZ_AGENT_BAD_STACK);
	fails("22012203"
	      "33"
	      "27",
	      LZ_AGENT_BAD_STACK);
	fails("27", LZ_AGENT_BAD_STACK);
	/* up again and again */
	fails("2201"
	      "28"
	      "210002"
	      "27",
	      LZ_AGENT_BAD_STACK);
}
END_TEST

START_TEST(jumps)
{
	gives("2201"
	      "200008"
	      "2207"
	      "27"
	      "2209"
	      "27",
	      9);
	gives("2200"
	      "200008"
	      "2207"
	      "27"
	      "2209"
	      "27",
	      7);
	gives("210006"
	      "2207"
	      "27"
	      "2209"
	      "27",
	      9);
	/* 10 + 9 + ... + 1 */
	gives("2200"
	      "220a"
	      "28"
	      "33"
	      "02"
	      "2b"
	      "2201"
	      "03"
	      "28"
	      "200004"
	      "29"
	      "27",
	      55);
	fails("210000", LZ_AGENT_ENDLESS);
	fails("210003", LZ_AGENT_BAD_JUMP);
	fails("21ffff", LZ_AGENT_BAD_JUMP);
	fails("2201", LZ_AGENT_BAD_JUMP);
}
END_TEST

START_TEST(no_result)
{
	uint64_t value;

	for (const char *const *op = (const char *const[]){"05", "06", "07", "08", NULL}; *op;
	     op++) {
		char code[32];

		sprintf(code, "22052200%s27", *op);
		fails(code, LZ_AGENT_ARITHMETIC);
	}
	fails("25800000000000000025ffffffffffffffff0527", LZ_AGENT_ARITHMETIC);
	fails("25800000000000000025ffffffffffffffff0727", LZ_AGENT_ARITHMETIC);
	fails("220122400927", LZ_AGENT_ARITHMETIC);
	fails("220122400a27", LZ_AGENT_ARITHMETIC);
	fails("220122400b27", LZ_AGENT_ARITHMETIC);
	ck_assert_int_eq(eval("", &value), LZ_AGENT_BAD_JUMP);
}
END_TEST

static bool checks(const char *code)
{
	uint8_t bytes[64];
	size_t len = strlen(code) / 2;

	for (size_t i = 0; i < len; i++)
		sscanf(code + 2 * i, "%2hhx", &bytes[i]);
	return lz_agent_check(bytes, len);
}

START_TEST(checked)
{
	ck_assert(checks("220127"));
	ck_assert(!checks(""));
	ck_assert(!checks("2201")); /* no end */
	ck_assert(!checks("22"));   /* cut off */
	ck_assert(!checks("2500000027"));
	ck_assert(!checks("21000427")); /* to behind the code */
	ck_assert(!checks("2200012127"));
	ck_assert(!checks("210004220127")); /* into an operand */
	ck_assert(checks("210003220127"));
	/* for tracepoints, or unknown */
	static const char *const refused[] = {"00", "01",     "0c", "0d01",   "1b",     "1c",
	                                      "1d", "1e",     "1f", "2c0001", "2d0001", "2e0001",
	                                      "2f", "300001", "31", "34",     "35",     "ff"};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		char code[32];

		sprintf(code, "22012201%s27", refused[i]);
		ck_assert_msg(!checks(code), "%s", code);
		fails(code, LZ_AGENT_BAD_CODE);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent");
	TCase *t = tcase_create("all");

	tcase_add_test(t, constants);
	tcase_add_test(t, arithmetic);
	tcase_add_test(t, widths);
	tcase_add_test(t, memory_is_read);
	tcase_add_test(t, stack);
	tcase_add_test(t, jumps);
	tcase_add_test(t, no_result);
	tcase_add_test(t, checked);
	suite_add_tcase(s, t);
	return run_suite(s);
}
