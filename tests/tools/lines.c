/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Test tool: what the line tables say of each address of a stretch of code.
 *
 *   lines FILE LOW HIGH GDB     link-time addresses in hexadecimal, GDB's major version; a line for each address:
 *
 * address, inlined calls around it / how many of the innermost begin there; line, begin and end of the row, file. */
#include <replayer/program/lines.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INLINES = 64 };

static void print(struct lz_lines *l, uint64_t addr)
{
	struct lz_inline in[MAX_INLINES];
	size_t n = lz_lines_inlines(l, addr, in, MAX_INLINES), begin = 0;
	struct lz_sal sal = lz_lines_find(l, addr);

	while (begin < n && in[n - 1 - begin].start == addr)
		begin++;
	printf("%lx %zu/%zu %u", addr, n, begin, sal.line);
	if (sal.line) {
		const char *slash = strrchr(sal.file, '/');

		printf(" %lx %lx %s", sal.pc, sal.end, slash ? slash + 1 : sal.file);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct lz_lines *l = argc == 5 ? lz_lines_open(argv[1], argv[1]) : NULL;
	uint64_t high;

	if (!l)
		return 1;
	lz_lines_follow_gdb((unsigned)atoi(argv[4]));
	high = strtoull(argv[3], NULL, 16);
	for (uint64_t addr = strtoull(argv[2], NULL, 16); addr < high; addr++)
		print(l, addr);
	lz_lines_close(l);
	return 0;
}
