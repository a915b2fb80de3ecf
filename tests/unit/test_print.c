/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <common/base/print.h>
#include <common/base/printable.h>
#include <lizard/text.h>

static char *shown;

/* Into `shown`, what PRINT prints of the rest. */
#define SHOW(print, ...)                                                                           \
	do {                                                                                       \
		size_t len_;                                                                       \
		free(shown);                                                                       \
		FILE *to_ = open_memstream(&shown, &len_);                                         \
		print(to_, __VA_ARGS__);                                                           \
		fclose(to_);                                                                       \
	} while (0)

static const char *printable(const char *text)
{
	free(shown);
	shown = lz_dup_printable(text);
	return shown;
}

START_TEST(text_stays)
{
	static const char text[] = "a b~ \303\251 \316\261 \342\202\254 \360\237\246\216 \\x1b";

	ck_assert_str_eq(printable(text), text);
	/* what joins letters, and the first character behind C1 */
	ck_assert_str_eq(printable("\342\200\215\302\240"), "\342\200\215\302\240");
}
END_TEST

START_TEST(what_steers_is_escaped)
{
	ck_assert_str_eq(printable("\033]0;x\a\b\r\n\t\177"),
	                 "\\x1b]0;x\\x07\\x08\\x0d\\x0a\\x09\\x7f");
	ck_assert_str_eq(printable("\302\233\302\237"), "\\xc2\\x9b\\xc2\\x9f");
	ck_assert_str_eq(printable("\342\200\256x\342\201\246\330\234"),
	                 "\\xe2\\x80\\xaex\\xe2\\x81\\xa6\\xd8\\x9c");
	ck_assert_str_eq(printable("\342\200\250\342\200\217"), "\\xe2\\x80\\xa8\\xe2\\x80\\x8f");
}
END_TEST

/* Alone, cut, too long for their characters, surrogates, beyond the last one. */
START_TEST(what_is_no_utf8_is_escaped)
{
	ck_assert_str_eq(printable("\233m\200"), "\\x9bm\\x80");
	ck_assert_str_eq(printable("\303"), "\\xc3");
	ck_assert_str_eq(printable("\342\202x"), "\\xe2\\x82x");
	ck_assert_str_eq(printable("\300\233\340\200\233"), "\\xc0\\x9b\\xe0\\x80\\x9b");
	ck_assert_str_eq(printable("\355\240\200"), "\\xed\\xa0\\x80");
	ck_assert_str_eq(printable("\364\220\200\200\370\377"), "\\xf4\\x90\\x80\\x80\\xf8\\xff");
}
END_TEST

START_TEST(a_buffer_ends_with_a_whole_character)
{
	char to[8];

	lz_copy_printable(to, sizeof to, "abcd\033", "");
	ck_assert_str_eq(to, "abcd");
	lz_copy_printable(to, sizeof to, "abcdef\303\251", "");
	ck_assert_str_eq(to, "abcdef");
	lz_copy_printable(to, sizeof to, "abcde\303\251", "");
	ck_assert_str_eq(to, "abcde\303\251");
}
END_TEST

START_TEST(the_format_is_ours)
{
	SHOW(lz_print, "\r%s\033[K\n\t%d\n", "a\033[K\r\nb", 7);
	ck_assert_str_eq(shown, "\ra\\x1b[K\\x0d\\x0ab\033[K\n\t7\n");
}
END_TEST

/* Of every kind of argument, each in its place. */
START_TEST(arguments_are_printf_s)
{
	uint64_t big = UINT64_C(1) << 40;

	SHOW(lz_print, "%s\t%c\t%*d|%-4s|%.*s\n%zu\t%" PRIu64 "\t%ld\t%hhu\t%p\n%.1f\t%Lg%%\t%s\n",
	     "\1", '\2', 3, 4, "\3", 2, "xyz", (size_t)5, big, -6L, 7, (void *)8, 9.5, 0.25L,
	     "end");
	ck_assert_str_eq(shown, "\\x01\t\\x02\t  4|\\x03   |xy\n5\t1099511627776\t-6\t7\t0x8\n"
	                        "9.5\t0.25%\tend\n");
}
END_TEST

START_TEST(long_ones_are_whole)
{
	char *text = malloc(5001);

	memset(text, 'x', 5000);
	text[5000] = 0;
	SHOW(lz_print, "%s%s\n", text, "\a");
	ck_assert_uint_eq(strlen(shown), 5005);
	SHOW(lz_print, "%s\n", text);
	ck_assert_uint_eq(strlen(shown), 5001);
	free(text);
}
END_TEST

START_TEST(further_lines_are_indented)
{
	SHOW(lz_print_lines, "lizard: %s: %s\n", "dir", "no\ndir: clean\033");
	ck_assert_str_eq(shown, "lizard: dir: no\n  dir: clean\\x1b\n");
	SHOW(lz_print, "lizard: %s\n", "no\ndir: clean");
	ck_assert_str_eq(shown, "lizard: no\\x0adir: clean\n");
}
END_TEST

static const char *feed(struct lz_text_stream *s, const char *bytes, size_t n, bool colours)
{
	free(shown);
	shown = lz_text_stream(s, bytes, n, colours);
	return shown;
}

START_TEST(a_stream_waits_for_characters)
{
	struct lz_text_stream s = {0};

	ck_assert_str_eq(feed(&s, "a\n\t\303", 4, true), "a\n\t");
	ck_assert_str_eq(feed(&s, "\251b\033", 3, true), "\303\251b");
	ck_assert_str_eq(feed(&s, "[1;3", 4, true), "");
	ck_assert_str_eq(feed(&s, "1mred", 5, true), "\033[1;31mred");
	ck_assert_str_eq(feed(&s, "\342\202", 2, true), "");
	ck_assert_str_eq(feed(&s, "x\0\r", 3, true), "\\xe2\\x82x\\x00\\x0d");
}
END_TEST

START_TEST(only_colours_are_let_through)
{
	struct lz_text_stream s = {0};
	static const char endless[] = "\033[1111111111111111111111111111111111111";

	ck_assert_str_eq(feed(&s, "\033[0m\033[2J\033]0;x\033(0", 16, true),
	                 "\033[0m\\x1b[2J\\x1b]0;x\\x1b(0");
	ck_assert_str_eq(feed(&s, "\033[0m", 4, false), "\\x1b[0m");
	ck_assert_int_eq(strncmp(feed(&s, endless, sizeof endless - 1, true), "\\x1b[1", 6), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("print");
	TCase *t = tcase_create("text");

	tcase_add_test(t, text_stays);
	tcase_add_test(t, what_steers_is_escaped);
	tcase_add_test(t, what_is_no_utf8_is_escaped);
	tcase_add_test(t, a_buffer_ends_with_a_whole_character);
	tcase_add_test(t, the_format_is_ours);
	tcase_add_test(t, arguments_are_printf_s);
	tcase_add_test(t, long_ones_are_whole);
	tcase_add_test(t, further_lines_are_indented);
	tcase_add_test(t, a_stream_waits_for_characters);
	tcase_add_test(t, only_colours_are_let_through);
	suite_add_tcase(s, t);
	return run_suite(s);
}
