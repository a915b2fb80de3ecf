/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each line of /proc/PID/maps is read as sscanf() would read it. */
#include "suite.h"

#include <fcntl.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <lizard/proc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static FILE *lines;
static unsigned n_lines, n_shared, n_nameless;

static int compare(void *arg, const struct lz_maps_entry *e)
{
	char line[8192], perm[8], path[4096] = "";
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	int at = 0;

	ck_assert_ptr_nonnull(fgets(line, sizeof(line), lines));
	ck_assert_int_eq(sscanf(line,
	                        "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
	                        &start, &end, perm, &offset, &major, &minor, &inode, &at),
	                 7);
	snprintf(path, sizeof(path), "%s", line + at);
	path[strcspn(path, "\n")] = 0;
	ck_assert(e->start == start && e->end == end && e->offset == offset && e->inode == inode);
	ck_assert(e->dev_major == major && e->dev_minor == minor);
	ck_assert(e->shared == (perm[3] == 's') && !(e->prot & PROT_READ) == (perm[0] != 'r') &&
	          !(e->prot & PROT_WRITE) == (perm[1] != 'w') &&
	          !(e->prot & PROT_EXEC) == (perm[2] != 'x'));
	ck_assert_str_eq(e->path, path);
	/* asked for alone, it is the same; of what the kernel has besides it need not tell */
	struct lz_maps_entry one = {.path = "?"};
	const int found = lz_proc_map_at(getpid(), e->end - 1, &one);
	ck_assert(found == 1 || found == -1 || (found == 0 && !strcmp(path, "[vsyscall]")));
	if (found > 0) {
		ck_assert(one.start == start && one.end == end && one.offset == offset);
		ck_assert(one.inode == inode && one.dev_major == major && one.dev_minor == minor);
		ck_assert(one.shared == e->shared && one.prot == e->prot);
		ck_assert_str_eq(one.path, path);
	}
	n_lines++;
	n_shared += e->shared;
	n_nameless += !*path;
	return *(int *)arg && *(int *)arg == (int)n_lines ? 7 : 0;
}

static int pass(void *arg, const struct lz_maps_entry *e)
{
	return 0;
}

static int read_maps(int most)
{
	static char text[1 << 16], room[4096];
	size_t n;
	ssize_t got;

	n_lines = n_shared = n_nameless = 0;
	/* what all this takes of the heap is there then */
	lines = fmemopen(text, sizeof(text), "r");
	ck_assert(lines && setvbuf(lines, room, _IOFBF, sizeof(room)) == 0);
	ck_assert_int_eq(lz_proc_maps(getpid(), pass, NULL), 0);
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	for (n = 0; (got = read(fd, text + n, sizeof(text) - n)) > 0; n += (size_t)got)
		;
	ck_assert(n > 0 && n < sizeof(text));
	close(fd);
	int ret = lz_proc_maps(getpid(), compare, &most);
	fclose(lines);
	return ret;
}

static void map(int fd, int prot, int flags, off_t offset)
{
	ck_assert(mmap(NULL, 8192, prot, flags, fd, offset) != MAP_FAILED);
}

START_TEST(as_sscanf)
{
	int fd = (int)syscall(SYS_memfd_create, "with  blanks (deleted)\n and a line", 0);

	ck_assert(fd >= 0 && ftruncate(fd, 1 << 20) == 0);
	map(fd, PROT_READ | PROT_WRITE, MAP_SHARED, 0x12000);
	map(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE, 0);
	map(-1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
	map(-1, PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, 0);
	ck_assert_msg(read_maps(0) == 0, "%s", lz_error());
	ck_assert(n_lines > 10 && n_shared == 2 && n_nameless > 0);
	ck_assert(read_maps(3) == 7 && n_lines == 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proc_maps");
	TCase *c = tcase_create("proc_maps");

	tcase_add_test(c, as_sscanf);
	suite_add_tcase(s, c);
	return run_suite(s);
}
