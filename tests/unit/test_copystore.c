/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store of copies: what is linked is what was mapped, whatever is in the store. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>
#include <common/base/cleanup.h>
#include <common/recording/copystore.h>
#include <common/base/tree.h>

enum { LEN = 9000, OLD_ENOUGH = 3 };

static char dir[] = "/tmp/lizard-copystore-XXXXXX", store_path[64];
static struct lz_copystore *store;
static int at; /* where the copies go */
static const struct lz_extent all = {0, UINT64_MAX};

/* Programs NAME, each with other bytes; all are old enough for their times to tell a change. */
static const char *const programs[] = {"one", "two", "three"};
enum { N = 3 };

static const char *path_of(const char *name)
{
	static char path[4][128];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void write_at(const char *path, off_t where, const char *bytes)
{
	int fd = open(path, O_WRONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, strlen(bytes), where), strlen(bytes));
	close(fd);
}

static void set_up(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (int i = 0; i < N; i++) {
		FILE *f = fopen(path_of(programs[i]), "we");

		fputs("\177ELF", f);
		for (int k = 4; k < LEN; k++)
			fputc(i * 50 + k % 41, f);
		fclose(f);
	}
	snprintf(store_path, sizeof(store_path), "%s/store", dir);
	sleep(OLD_ENOUGH);
}

static void tear_down(void)
{
	lz_remove_tree(dir);
}

/* Each test has a store of its own. */
static void fresh(void)
{
	store = lz_copystore_open(store_path);
	ck_assert_ptr_nonnull(store);
	ck_assert_int_eq(mkdir(path_of("copies"), 0700), 0);
	at = open(path_of("copies"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void gone(void)
{
	lz_copystore_close(store);
	lz_remove_tree(store_path);
	close(at);
	lz_remove_tree(path_of("copies"));
}

static bool same(const char *program, const char *copy)
{
	char command[300];

	snprintf(command, sizeof(command), "cmp -s %s %s/copies/%s", path_of(program), dir, copy);
	return system(command) == 0;
}

static ino_t inode(const char *copy)
{
	struct stat st;

	ck_assert_int_eq(fstatat(at, copy, &st, AT_SYMLINK_NOFOLLOW), 0);
	ck_assert(S_ISREG(st.st_mode));
	return st.st_ino;
}

static nlink_t links(const char *copy)
{
	struct stat st;

	ck_assert_int_eq(fstatat(at, copy, &st, 0), 0);
	return st.st_nlink;
}

/* Copies PROGRAM to COPY; it has the program's bytes, and what is told of it is right. */
static void get(const char *program, const char *copy)
{
	int fd = open(path_of(program), O_RDONLY | O_CLOEXEC);
	struct lz_copy c;
	char command[300], sum[16], crc[16] = "";

	ck_assert_int_eq(lz_copystore_get(store, fd, all, at, copy, &c), 0);
	ck_assert_int_eq(c.size, LEN);
	snprintf(command, sizeof(command), "gzip -c <%s | tail -c8 | od -An -tx4 -N4",
	         path_of(program));
	FILE *f = popen(command, "r");
	ck_assert_ptr_nonnull(fgets(crc, sizeof(crc), f));
	pclose(f);
	snprintf(sum, sizeof(sum), " %08x\n", c.crc);
	ck_assert_str_eq(sum, crc);
	ck_assert_msg(same(program, copy), "%s is not %s", copy, program);
	lz_copy_free(&c);
	close(fd);
}

/* The store's first entry that begins with PREFIX. */
static const char *entry(const char *prefix)
{
	static char found[400];
	char command[200];

	snprintf(command, sizeof(command), "ls -d %s/%s* 2>/dev/null", store_path, prefix);
	FILE *f = popen(command, "r");
	*found = 0;
	if (fgets(found, sizeof(found), f))
		found[strcspn(found, "\n")] = 0;
	pclose(f);
	return *found ? found : NULL;
}

START_TEST(shared)
{
	struct stat st;

	get("one", "a");
	get("one", "b");
	get("two", "c");
	ck_assert_int_eq(inode("a"), inode("b"));
	ck_assert_int_ne(inode("a"), inode("c"));
	ck_assert_int_eq(links("a"), 3);
	ck_assert_int_eq(stat(entry("c-"), &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0400);
	/* the program's own file is nobody's copy */
	ck_assert_int_eq(stat(path_of("one"), &st), 0);
	ck_assert_int_eq(st.st_nlink, 1);
}
END_TEST

/* The same bytes in another file. */
START_TEST(by_content)
{
	char command[300];

	get("one", "a");
	snprintf(command, sizeof(command), "cp %s %s", path_of("one"), path_of("other"));
	ck_assert_int_eq(system(command), 0);
	get("other", "b");
	ck_assert_int_eq(inode("a"), inode("b"));
}
END_TEST

START_TEST(changed_in_place)
{
	struct stat st;

	get("three", "a");
	ck_assert_int_eq(stat(path_of("three"), &st), 0);
	const struct timespec times[] = {st.st_atim, st.st_mtim};

	write_at(path_of("three"), 5000, "changed");
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of("three"), times, 0), 0);
	ck_assert_msg(!same("three", "a"), "the copy has changed with the program");
	get("three", "b");
	/* so young a change may be followed by one with the same time */
	write_at(path_of("three"), 5000, "CHANGED");
	get("three", "c");
}
END_TEST

START_TEST(damaged_facts)
{
	get("one", "a");
	lz_auto_free char *facts = strdup(entry("f-"));
	struct stat st;
	char name[16];

	ck_assert_int_eq(stat(facts, &st), 0);
	for (off_t i = 0; i < st.st_size; i++) {
		int fd = open(facts, O_RDWR);
		uint8_t byte;

		ck_assert_int_eq(pread(fd, &byte, 1, i), 1);
		byte ^= 1 << i % 8;
		ck_assert_int_eq(pwrite(fd, &byte, 1, i), 1);
		close(fd);
		snprintf(name, sizeof(name), "d%d", (int)i);
		get("one", name);
	}
	ck_assert_int_eq(truncate(facts, 3), 0);
	get("one", "e");
}
END_TEST

START_TEST(facts_of_another_file)
{
	get("one", "a");
	lz_auto_free char *one = strdup(entry("f-"));
	ck_assert_int_eq(rename(one, path_of("facts")), 0);
	get("two", "b");
	lz_auto_free char *two = strdup(entry("f-"));
	ck_assert_int_eq(rename(path_of("facts"), two), 0);
	get("two", "c");
}
END_TEST

/* What is in a copy's place leads elsewhere, or is none. $C: the copy, $O: another program. */
START_TEST(forged_copy)
{
	static const char *const forge[] = {"ln -s $O $C", "ln $O $C", "mkfifo $C",
	                                    "mkdir $C",    "cp $O $C", "cp $O $C && chmod 400 $C"};
	char name[16];

	setenv("O", path_of("two"), 1);
	for (int i = 0; i < (int)(sizeof(forge) / sizeof(*forge)); i++) {
		snprintf(name, sizeof(name), "a%d", i);
		get("one", name);
		setenv("C", entry("c-"), 1);
		unlink(getenv("C"));
		ck_assert_msg(system(forge[i]) == 0, "%s", forge[i]);
		snprintf(name, sizeof(name), "b%d", i);
		get("one", name);
		rmdir(getenv("C"));
	}
	ck_assert_msg(access(path_of("two"), F_OK) == 0, "the other program is gone");
}
END_TEST

START_TEST(written_copy)
{
	get("one", "a");
	lz_auto_free char *copy = strdup(entry("c-"));

	chmod(copy, 0600);
	write_at(copy, 100, "x");
	chmod(copy, 0400);
	get("one", "b");
	ck_assert_int_ne(inode("a"), inode("b"));
}
END_TEST

/* What the disk has lost shows after the next boot, without a later time. */
START_TEST(another_boot)
{
	get("one", "a");
	lz_auto_free char *copy = strdup(entry("c-")), *facts = strdup(entry("f-"));
	uint8_t bytes[1000];
	struct stat st;

	ck_assert_int_eq(stat(copy, &st), 0);
	const struct timespec times[] = {st.st_atim, st.st_mtim};
	chmod(copy, 0600);
	write_at(copy, 100, "x");
	chmod(copy, 0400);
	ck_assert_int_eq(utimensat(AT_FDCWD, copy, times, 0), 0);

	int fd = open(facts, O_RDWR);
	ssize_t n = read(fd, bytes, sizeof(bytes));
	bytes[4 + 1] ^= 1; /* the first letter of the boot's name */
	XXH64_hash_t sum = XXH64(bytes, (size_t)n - 8, 0);
	memcpy(bytes + n - 8, &sum, 8);
	ck_assert_int_eq(pwrite(fd, bytes, (size_t)n, 0), n);
	close(fd);
	get("one", "b");
}
END_TEST

START_TEST(at_the_same_time)
{
	enum { PROCESSES = 8 };
	char name[32];
	int status;

	for (int p = 0; p < PROCESSES; p++) {
		if (fork())
			continue;
		for (int i = 0; i < 3 * N; i++) {
			snprintf(name, sizeof(name), "p%d-%d", p, i);
			get(programs[i % N], name);
		}
		_exit(0);
	}
	for (int p = 0; p < PROCESSES; p++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	for (int p = 0; p < PROCESSES; p++)
		for (int i = 0; i < 3 * N; i++) {
			snprintf(name, sizeof(name), "p%d-%d", p, i);
			ck_assert_int_eq(links(name), 3 * PROCESSES + 1);
		}
}
END_TEST

START_TEST(other_file_system)
{
	char shm[] = "/dev/shm/lizard-copystore-XXXXXX";
	struct stat a, b;

	if (!mkdtemp(shm))
		return;
	int fd = open(path_of("one"), O_RDONLY | O_CLOEXEC);
	int to = open(shm, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct lz_copy c;

	get("one", "a");
	ck_assert_int_eq(lz_copystore_get(store, fd, all, to, "b", &c), 0);
	ck_assert_int_eq(fstatat(to, "b", &b, 0), 0);
	ck_assert_int_eq(fstatat(at, "a", &a, 0), 0);
	ck_assert_int_eq(b.st_size, LEN);
	ck_assert(a.st_dev == b.st_dev || b.st_nlink == 1);
	lz_copy_free(&c);
	close(fd);
	close(to);
	lz_remove_tree(shm);
}
END_TEST

START_TEST(not_ours)
{
	char command[200];

	chmod(store_path, 0777);
	ck_assert_ptr_null(lz_copystore_open(store_path));
	chmod(store_path, 0700);
	snprintf(command, sizeof(command), "ln -s %s %s", store_path, path_of("link"));
	ck_assert_int_eq(system(command), 0);
	ck_assert_ptr_null(lz_copystore_open(path_of("link")));
	unlink(path_of("link"));
	/* without one it is copied all the same */
	struct lz_copystore *had = store;
	store = NULL;
	get("one", "a");
	store = had;
	ck_assert_int_eq(links("a"), 1);
}
END_TEST

START_TEST(swept)
{
	int fd = open(store_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	get("one", "a");
	get("two", "b");
	ck_assert_int_eq(fstatat(at, "b", &st, 0), 0);
	unlinkat(at, "b", 0);
	lz_copystore_sweep(fd, 3600);
	ck_assert_msg(faccessat(at, "a", F_OK, 0) == 0 && entry("c-"), "too early");
	get("two", "c");
	ck_assert_int_eq(inode("c"), st.st_ino);
	unlinkat(at, "c", 0);
	lz_copystore_sweep(fd, 0);
	get("two", "d");
	ck_assert_int_eq(links("a"), 2);
	unlinkat(at, "a", 0);
	unlinkat(at, "d", 0);
	lz_copystore_sweep(fd, 0);
	ck_assert_ptr_null(entry("c-"));
	ck_assert_ptr_null(entry("f-"));
	close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("copystore");
	TCase *tc = tcase_create("copystore");

	tcase_add_unchecked_fixture(tc, set_up, tear_down);
	tcase_add_checked_fixture(tc, fresh, gone);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, shared);
	tcase_add_test(tc, by_content);
	tcase_add_test(tc, damaged_facts);
	tcase_add_test(tc, facts_of_another_file);
	tcase_add_test(tc, forged_copy);
	tcase_add_test(tc, written_copy);
	tcase_add_test(tc, another_boot);
	tcase_add_test(tc, at_the_same_time);
	tcase_add_test(tc, other_file_system);
	tcase_add_test(tc, not_ours);
	tcase_add_test(tc, swept);
	tcase_add_test(tc, changed_in_place);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
