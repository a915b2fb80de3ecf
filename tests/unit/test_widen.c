/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The markers' adds: objdump says where they are. */
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lizard/widen.h>

static char dir[256];

static void sh(const char *format, const char *file)
{
	char line[1000], command[1400];

	snprintf(line, sizeof(line), format, file);
	snprintf(command, sizeof(command), "cd '%s' && %s", dir, line);
	ck_assert_int_eq(system(command), 0);
}

static void build(void)
{
	const char *bin = getenv("LIZARD_BIN"), *tmp = getenv("LIZARD_TMP");
	char cwd[400], cc[800];

	snprintf(dir, sizeof(dir), "%s/widen-XXXXXX", tmp ? tmp : "/tmp");
	ck_assert(mkdtemp(dir) && getcwd(cwd, sizeof(cwd)));
	if (bin)
		snprintf(cwd, sizeof(cwd), "%s", bin);
	else
		strcat(cwd, "/build/bin");
	sh("cat >p.c <<'END'\n"
	   "#include <setjmp.h>\n"
	   "jmp_buf b;\n"
	   "int f(int n) { return n %% 3 ? f(n - 1) + f(n / 2) : n; }\n"
	   "int main(int argc, char **argv) { return setjmp(b) ? f(argc) : argc > 9 ? 1 : 0; }\n"
	   "END%s",
	   "");
	snprintf(cc, sizeof(cc), "%s/lizard-cc -O1", cwd);
	sh("%s p.c -o exe", cc);
	sh("%s -no-pie p.c -o fixed", cc);
	sh("%s -fPIC -shared -Wl,-z,noseparate-code p.c -o lib.so", cc);
	sh("gcc -O1 %s -o plain", "p.c");
}

static void clean(void)
{
	sh("rm -rf '%s'", dir);
}

static const char *path(const char *name)
{
	static char p[400];

	snprintf(p, sizeof(p), "%s/%s", dir, name);
	return p;
}

/* The file offsets of the adds' prefixes. */
static size_t truth(const char *name, uint64_t *at)
{
	char command[1000];
	size_t n = 0;

	/* offset of an instruction: its address less that of .text, plus the section's offset */
	snprintf(
	    command, sizeof(command),
	    "cd '%s' && objdump -h %s | awk '$2 == \".text\" { print $4, $6 }' >text && "
	    "objdump -d -j .text %s | awk '/add .*,%%r15w/ { sub(\":\", \"\", $1); print $1 }'",
	    dir, name, name);
	FILE *f = popen(command, "r");
	unsigned long addr, start = 0, offset = 0;

	ck_assert_ptr_nonnull(f);
	while (fscanf(f, "%lx", &addr) == 1) {
		if (!n) {
			FILE *text = fopen(path("text"), "r");
			ck_assert(text && fscanf(text, "%lx %lx", &start, &offset) == 2);
			fclose(text);
		}
		at[n++] = addr - start + offset + 1;
	}
	ck_assert_int_eq(pclose(f), 0);
	return n;
}

static uint8_t *contents(const char *name, size_t *size)
{
	int fd = open(path(name), O_RDONLY);

	ck_assert_int_ge(fd, 0);
	*size = (size_t)lseek(fd, 0, SEEK_END);
	uint8_t *code = malloc(*size);
	ck_assert_int_eq(pread(fd, code, *size, 0), *size);
	close(fd);
	return code;
}

static void check_code(const uint8_t *code, size_t size, const uint64_t *want, size_t wanted)
{
	size_t at = 0, n = 0;

	while ((at = lz_widen_next(code, size, at)) < size) {
		ck_assert_uint_lt(n, wanted);
		ck_assert_uint_eq(at + LZ_SITE_PREFIX, want[n++]);
		at++;
	}
	ck_assert_uint_eq(n, wanted);
}

static void check_file(const char *name)
{
	uint64_t want[256];
	size_t size, n = truth(name, want);
	uint8_t *code = contents(name, &size);

	ck_assert_uint_gt(n, 8);
	check_code(code, size, want, n);
	for (size_t i = 0; i < n; i += 2)
		code[want[i]] = LZ_ADD_WIDE;
	check_code(code, size, want, n);
	code[want[3]] = 0x90;
	memmove(&want[3], &want[4], (n - 4) * sizeof(*want));
	check_code(code, size, want, n - 1);
	free(code);
}

START_TEST(test_next)
{
	check_file("exe");
	check_file("fixed");
	check_file("lib.so");
}
END_TEST

START_TEST(test_none)
{
	size_t size;
	uint8_t *code = contents("plain", &size);

	ck_assert_uint_eq(lz_widen_next(code, size, 0), size);
	ck_assert_uint_eq(lz_widen_next(code, size, size), size);
	ck_assert_uint_eq(lz_widen_next(code, 0, 0), 0);
	free(code);
}
END_TEST

/* No byte outside is looked at, and all inside are. */
START_TEST(test_ends)
{
	static const uint8_t site[LZ_SITE_LEN] = {0x41, 0xc6, 0x07, 1, 0x66, 0x41, 0x83, 0xc7, 1};

	for (size_t len = 0; len <= 2 * LZ_SITE_LEN; len++) {
		uint8_t *code = calloc(1, len + !len);
		for (size_t from = 0; from <= len; from++) {
			size_t room = len - from < LZ_SITE_LEN ? len - from : LZ_SITE_LEN;
			memset(code, 0, len);
			memcpy(code + from, site, room);
			size_t want = room == LZ_SITE_LEN ? from : len;
			ck_assert_uint_eq(lz_widen_next(code, len, 0), want);
			ck_assert_uint_eq(lz_widen_next(code, len, from), want);
			ck_assert_uint_eq(lz_widen_next(code, len, from + 1 < len ? from + 1 : len),
			                  len);
		}
		free(code);
	}
}
END_TEST

START_TEST(test_hide)
{
	uint64_t at[256];
	size_t n = truth("exe", at);
	int fd = open(path("exe"), O_RDONLY);
	size_t size;
	uint8_t *file = contents("exe", &size), *code = contents("exe", &size);

	for (size_t i = 0; i < n; i++)
		code[at[i]] = LZ_ADD_WIDE;
	ck_assert_mem_ne(code, file, size);
	lz_widen_hide(code + 1, size - 1, fd, 1);
	ck_assert_mem_eq(code, file, size);
	/* another change, and what is beyond the file, is shown as it is */
	code[at[0]] = 0xcc;
	code[at[0] + 1] = LZ_ADD_WIDE;
	lz_widen_hide(code + at[0], 2, fd, at[0]);
	ck_assert_uint_eq(code[at[0]], 0xcc);
	ck_assert_uint_eq(code[at[0] + 1], LZ_ADD_WIDE);
	code[size - 1] = LZ_ADD_WIDE;
	lz_widen_hide(code + size - 1, 1, fd, size);
	ck_assert_uint_eq(code[size - 1], LZ_ADD_WIDE);
	close(fd);
	free(file);
	free(code);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("widen");
	TCase *t = tcase_create("all");

	tcase_add_unchecked_fixture(t, build, clean);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_next);
	tcase_add_test(t, test_none);
	tcase_add_test(t, test_ends);
	tcase_add_test(t, test_hide);
	suite_add_tcase(s, t);
	return run_suite(s);
}
