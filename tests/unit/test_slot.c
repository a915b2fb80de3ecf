/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slot of __lizard_pos: readelf and nm say where it is and where the code is. */
#include "tests/unit/suite.h"

#include <check.h>
#include <lizard/error.h>
#include <lizard/slot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[256];

/* The number that a command prints. */
static unsigned long sh(const char *command)
{
	char line[1000];
	unsigned long number = 0;

	snprintf(line, sizeof(line), "cd '%s' && %s", dir, command);
	FILE *f = popen(line, "r");
	ck_assert_ptr_nonnull(f);
	if (fscanf(f, "%lx", &number) != 1)
		number = 0;
	ck_assert_int_eq(pclose(f), 0);
	return number;
}

static void build(void)
{
	const char *tmp = getenv("LIZARD_TMP");

	snprintf(dir, sizeof(dir), "%s/slot-XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	sh("cat >lib.c <<'END'\n"
	   "extern __thread char *other __attribute__((tls_model(\"initial-exec\")));\n"
	   "extern __thread char *__lizard_pos __attribute__((tls_model(\"initial-exec\")));\n"
	   "char *code(void) { return other ? other : __lizard_pos; }\n"
	   "END\n"
	   "gcc -O1 -fPIC -shared -Wl,-z,separate-code lib.c -o lib.so\n"
	   "gcc -O1 -fPIC -shared -Wl,-Ttext-segment=0x400000 lib.c -o moved.so\n"
	   "gcc -O1 -fPIC -shared -Wl,-z,noseparate-code lib.c -o one.so\n"
	   "sed s/__lizard_pos/another/ lib.c >plain.c\n"
	   "gcc -O1 -fPIC -shared plain.c -o plain.so");
}

static void clean(void)
{
	sh("rm -rf \"$PWD\"");
}

static int find(const char *name, uint64_t offset, int64_t *distance)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return lz_slot_find(path, offset, distance);
}

/* BASE: how far link-time addresses of code lie above file offsets. */
static void check_slot(const char *name, uint64_t base)
{
	char readelf[200], nm[200];
	int64_t distance = 0;

	snprintf(readelf, sizeof(readelf), "readelf -rW %s | grep __lizard_pos", name);
	snprintf(nm, sizeof(nm), "nm -D %s | grep code", name);
	uint64_t slot = sh(readelf) - base, code = sh(nm) - base;
	ck_assert(slot && code);
	ck_assert_int_eq(find(name, code & -4096ULL, &distance), 1);
	ck_assert_int_eq(distance, (int64_t)(slot - (code & -4096ULL)));
	ck_assert_int_eq(find(name, code, &distance), 1);
	ck_assert_int_eq(distance, (int64_t)(slot - code));
}

START_TEST(test_found)
{
	check_slot("lib.so", 0);
	check_slot("one.so", 0);
	check_slot("moved.so", 0x400000);
}
END_TEST

START_TEST(test_none)
{
	int64_t distance;

	ck_assert_int_eq(find("plain.so", 0x1000, &distance), 0);
	ck_assert_int_eq(find("lib.so", 0x100000, &distance), 0);
	ck_assert_int_eq(find("lib.so", 0, &distance), 0); /* no code */
	ck_assert_int_eq(find("lib.c", 0, &distance), 0);
	ck_assert_int_eq(find("missing", 0, &distance), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "missing"));
}
END_TEST

/* A library that was cut, or whose tables lie, has none, or one; it must not crash. */
START_TEST(test_damaged)
{
	char path[400], damaged[400];
	int64_t distance;

	snprintf(path, sizeof(path), "%s/lib.so", dir);
	snprintf(damaged, sizeof(damaged), "%s/damaged.so", dir);
	FILE *f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	static uint8_t file[1 << 17];
	size_t size = fread(file, 1, sizeof(file), f);
	fclose(f);
	srand(1);
	for (int i = 0; i < 500; i++) {
		size_t at = (size_t)rand() % size, len = i % 2 ? size : at;
		uint8_t was = file[at];
		f = fopen(damaged, "w");
		ck_assert_ptr_nonnull(f);
		file[at] = (uint8_t)rand();
		ck_assert_uint_eq(fwrite(file, 1, len, f), len);
		fclose(f);
		file[at] = was;
		ck_assert_int_ge(find("damaged.so", 0x1000, &distance), 0);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slot");
	TCase *t = tcase_create("all");

	tcase_add_unchecked_fixture(t, build, clean);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_found);
	tcase_add_test(t, test_none);
	tcase_add_test(t, test_damaged);
	suite_add_tcase(s, t);
	return run_suite(s);
}
