/* The markers' adds: objdump says where they are. */
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lizard/error.h>
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

static void check_file(const char *name)
{
	uint64_t want[256], *got;
	size_t n, wanted = truth(name, want);

	ck_assert_uint_gt(wanted, 8);
	ck_assert_int_eq(lz_widen_find(path(name), &got, &n), 0);
	ck_assert_uint_eq(n, wanted);
	ck_assert_mem_eq(got, want, n * sizeof(*got));
	free(got);
}

START_TEST(test_find)
{
	check_file("exe");
	check_file("fixed");
	check_file("lib.so");
}
END_TEST

START_TEST(test_none)
{
	uint64_t *sites;
	size_t n = 1;

	ck_assert_int_eq(lz_widen_find(path("plain"), &sites, &n), 0);
	ck_assert(n == 0 && !sites);
	ck_assert_int_eq(lz_widen_find(path("p.c"), &sites, &n), 0); /* not an ELF file */
	ck_assert(n == 0 && !sites);
	ck_assert_int_eq(lz_widen_find(path("missing"), &sites, &n), -1);
}
END_TEST

static void refused(const char *name, const char *why)
{
	uint64_t *sites;
	size_t n;

	ck_assert_int_eq(lz_widen_find(path(name), &sites, &n), 1);
	ck_assert(n == 0 && !sites);
	ck_assert_msg(strstr(lz_error(), why), "%s: %s", name, lz_error());
}

START_TEST(test_unknown)
{
	uint64_t at[256];

	sh("objcopy -R .lizard exe bare%s", "");
	refused("bare", ".lizard section is missing");
	sh("cp exe other%s", "");
	ck_assert_uint_gt(truth("other", at), 0);
	int fd = open(path("other"), O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "\x90", 1, (off_t)at[3]), 1);
	close(fd);
	refused("other", "no marker as this lizard writes them");
}
END_TEST

START_TEST(test_hide)
{
	uint64_t at[256];
	size_t n = truth("exe", at);
	int fd = open(path("exe"), O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *file = malloc((size_t)size), *code = malloc((size_t)size);

	ck_assert_int_eq(pread(fd, file, (size_t)size, 0), size);
	memcpy(code, file, (size_t)size);
	for (size_t i = 0; i < n; i++)
		code[at[i]] = LZ_ADD_WIDE;
	ck_assert_mem_ne(code, file, (size_t)size);
	lz_widen_hide(code + 1, (size_t)size - 1, fd, 1);
	ck_assert_mem_eq(code, file, (size_t)size);
	/* another change, and what is beyond the file, is shown as it is */
	code[at[0]] = 0xcc;
	code[at[0] + 1] = LZ_ADD_WIDE;
	lz_widen_hide(code + at[0], 2, fd, at[0]);
	ck_assert_uint_eq(code[at[0]], 0xcc);
	ck_assert_uint_eq(code[at[0] + 1], LZ_ADD_WIDE);
	code[size - 1] = LZ_ADD_WIDE;
	lz_widen_hide(code + size - 1, 1, fd, (uint64_t)size);
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
	tcase_add_test(t, test_find);
	tcase_add_test(t, test_none);
	tcase_add_test(t, test_unknown);
	tcase_add_test(t, test_hide);
	suite_add_tcase(s, t);
	return run_suite(s);
}
