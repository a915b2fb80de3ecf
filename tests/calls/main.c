/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runner: makes calls, finds what they wrote, and checks that the recipe has shown what the table promises. */
#include "calls.h"

#include <lizard/syscalls.h>

static const struct entry {
	long nr;
	const char *name;
	void (*recipe)(void);
} entries[] = {
#define LZ_SYS(nr, name, ...) {nr, #name, NULL},
#include <lizard/syscalls.tbl>
#undef LZ_SYS
};

#define LZ_SYS(nr, name, ...) void recipe_##name(void);
#include <lizard/syscalls.tbl>
#undef LZ_SYS

static void (*const recipes[])(void) = {
#define LZ_SYS(nr, name, ...) recipe_##name,
#include <lizard/syscalls.tbl>
#undef LZ_SYS
};

enum { ARENA = 1 << 20, ALLOCS = 256, SKIPPED = 77 };

static uint8_t arena[ARENA] __attribute__((aligned(4096))), before[ARENA];
static struct {
	size_t at, size;
} alloc[ALLOCS];
static size_t used, n_allocs;
static long tested;
static const struct lz_syscall *row;
static unsigned calls, successes, written, sum;
static bool seen[LZ_SYS_OUTS], may_only_fail;
static const char *excuse[LZ_SYS_OUTS];
bool native;

static void die(const char *what, const char *text, int line)
{
	printf("%s: %s (line %d)\n", what, text, line);
	fflush(stdout);
	_exit(1);
}

void see(bool condition, const char *text, int line)
{
	if (!condition)
		die("not seen", text, line);
}

void skip(const char *why)
{
	printf("skipped: %s\n", why);
	fflush(stdout);
	_exit(SKIPPED);
}

void *out(size_t size)
{
	if (n_allocs == ALLOCS || used + size + 64 > ARENA)
		die("out()", "no room", 0);
	size_t at = used;
	used += (size + 64 + 15) & ~(size_t)15; /* a gap behind it is watched, too */
	alloc[n_allocs].at = at;
	alloc[n_allocs++].size = size;
	memset(arena + at, 0xa5, used - at);
	return arena + at;
}

void *inout(const void *from, size_t size)
{
	return memcpy(out(size), from, size);
}

void not_seen(int i, const char *why)
{
	excuse[i] = why;
}

void only_fails(const char *why)
{
	(void)why;
	may_only_fail = true;
}

static void count(size_t at)
{
	uint32_t x = (uint32_t)at << 8 | arena[at];

	written++;
	sum = (sum ^ x) * 0x9e3779b1u + (sum >> 15);
}

/* Has anything changed from P to the end of the piece of memory that it lies in? */
static bool changed_at(uintptr_t p)
{
	for (size_t i = 0; i < n_allocs; i++) {
		uintptr_t start = (uintptr_t)arena + alloc[i].at;
		if (p < start || p >= start + alloc[i].size)
			continue;
		size_t at = p - (uintptr_t)arena, end = alloc[i].at + alloc[i].size;
		if (memcmp(arena + at, before + at, end - at))
			return true;
	}
	return false;
}

static void look(const long *args, long result)
{
	unsigned had = written;

	for (size_t i = 0; i < used; i++)
		if (arena[i] != before[i])
			count(i);
	for (int i = 0; i < LZ_SYS_OUTS && row->out[i].kind; i++) {
		const struct lz_sys_out *o = &row->out[i];
		bool further = o->kind == LZ_OUT_IOV || o->kind == LZ_OUT_MSG ||
		               o->kind == LZ_OUT_MMSG || o->kind == LZ_OUT_SPECIAL;
		if (further ? written > had : changed_at((uintptr_t)args[o->a]))
			seen[i] = true;
	}
	sum = (sum ^ (uint32_t)result) * 0x9e3779b1u + (sum >> 15);
	calls++;
	successes += result >= 0 || result < -4095;
}

/* The one place where all calls are made. */
static __attribute__((noinline)) long raw_call(long nr, const long *args)
{
	register long r10 __asm__("r10") = args[3];
	register long r8 __asm__("r8") = args[4];
	register long r9 __asm__("r9") = args[5];
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(nr), "D"(args[0]), "S"(args[1]), "d"(args[2]), "r"(r10), "r"(r8),
	                   "r"(r9)
	                 : "rcx", "r11", "memory");
	if (nr == SYS_vfork && result == 0) /* on our stack: it must not return */
		__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(7));
	return result;
}

long make_call(long nr, const long *args, int line, int how)
{
	memcpy(before, arena, used);
	long result = raw_call(nr, args);
	if (nr == tested)
		look(args, result);
	if (result == -ENOSYS && (row->klass < LZ_SC_REFUSED || native))
		skip("not on this kernel");
	if (result == -EPERM && how & MAY_EPERM)
		skip("not permitted here");
	if (how & MUST && result < 0 && result > -4096) {
		char text[100];
		snprintf(text, sizeof(text), "%s: %s", lz_syscall_name((uint64_t)nr),
		         strerror((int)-result));
		die("failed", text, line);
	}
	return result;
}

void refused(long nr)
{
	long zero[7] = {0};

	if (native)
		return;
	see(make_call(nr, zero, __LINE__, 0) == -ENOSYS, "refused with ENOSYS", __LINE__);
}

/* How many bytes, and which. */
static void report(void)
{
	printf("%s: %u calls, %u bytes written, sum %08x\n", row->name, calls, written, sum);
	fflush(stdout);
}

static void conclude(void)
{
	char text[64];

	if (native && row->klass >= LZ_SC_REFUSED)
		return;
	see(calls > 0, "the call is made at all", 0);
	if (row->klass < LZ_SC_REFUSED && !may_only_fail)
		see(successes > 0, "the call succeeds once", 0);
	for (int i = 0; i < LZ_SYS_OUTS && row->out[i].kind; i++) {
		if (!seen[i] && excuse[i])
			printf("output %d is not seen: %s\n", i, excuse[i]);
		snprintf(text, sizeof(text), "output %d is written", i);
		see(seen[i] || excuse[i], text, 0);
	}
}

void last_call(void)
{
	report();
}

static void list(void)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const struct lz_syscall *s = lz_syscall((uint64_t)entries[i].nr);
		int n = 0;

		while (n < LZ_SYS_OUTS && s->out[n].kind)
			n++;
		printf("%s %ld %d %d\n", entries[i].name, entries[i].nr, s->klass, n);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list(), 0;
	if (argc == 2 && !strcmp(argv[1], "--after-exec"))
		return puts("the new image runs"), 0;
	if (argc < 3)
		return 2;
	native = argc > 3 && !strcmp(argv[3], "native");
	/* until calls are made without a stop, if they ever are */
	for (int i = argc > 3 && !strcmp(argv[3], "often") ? 100 : 0; i; i--)
		raw_call(SYS_getppid, (long[6]){0});
	if (mkdir(argv[2], 0700) < 0 || chdir(argv[2]) < 0)
		return perror(argv[2]), 2;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (strcmp(entries[i].name, argv[1]))
			continue;
		tested = entries[i].nr;
		row = lz_syscall((uint64_t)tested);
		recipes[i]();
		conclude();
		report();
		return 0;
	}
	return 2;
}
