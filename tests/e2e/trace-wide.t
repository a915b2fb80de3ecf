#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The markers' adds are 64 bits wide while a program is recorded, and nobody but the recorded program sees it.
. "$(dirname "$0")/../lib/tap.sh"
cd "$T" || exit 1
cat >lib.c <<'END'
int work(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		if (i % 3)
			s += i;
	return s;
}
END
cat >main.c <<'END'
#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int count(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += i & 3;
	return s;
}

static int result(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return count(3000000) % 100;
	void *lib = dlopen(argv[1], RTLD_NOW);
	int (*work)(int) = lib ? dlsym(lib, "work") : NULL;
	if (!work)
		return 99;
	int sum = count(500000) + work(500000);
	pid_t pid = fork();
	if (pid == 0)
		_exit((count(3000000) + work(3000000)) & 127);
	printf("forked %d\n", result(pid));
	pid = vfork();
	if (pid == 0)
		_exit(count(3000000) & 127);
	printf("vforked %d\n", result(pid));
	sum += count(500000) + work(500000);
	posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *[]){"again", NULL}, environ);
	printf("spawned %d\n", result(pid));
	printf("%d %d\n", sum + count(500000), work(500000));
	return 3;
}
END
lizard-cc -O1 -g -shared -fPIC lib.c -o lib.so && lizard-cc -O1 -g main.c -o main -ldl || exit 1
objcopy -R .lizard lib.so bare.so && objcopy -R .lizard main bare
./main ./lib.so >native
for how in parent all; do
	lizard-trace -q --follow $how -o "$how" -- ./main ./lib.so >out 2>err
	is "$? $(cat out err)" "3 $(cat native)" "--follow $how: the program, and children that are recorded or not, do as ever"
	lizard verify -a "$how" >verify 2>&1
	ok $? "--follow $how: verify is clean" || diag "$(tail -n 5 verify)"
done

# A child in the program's memory needs the narrow ones. That is undone, and nothing that it has written.
lizard-trace -q --dirty=compare -o compare -- ./main ./lib.so >out 2>err
is "$? $(cat out err)" "3 $(cat native)" "pages are compared: the program does as ever"
lizard dump --events compare | grep -E ' (v?fork|clone)\(' >children
is "$(wc -l <children)" 3 "the events of its children"
code=$(printf '%x000' $((0x$(nm main | sed -n 's/ T main$//p') / 4096 + 0x555555554)))
is "$(grep -c " at 0x$code" children)" 0 "no code is among what they wrote"

# ---- code that becomes executable later: what the program itself sees of it tells ----
cat >later.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	long at = strtol(argv[2], NULL, 16), page = at & -4096;
	unsigned char *code = mmap(NULL, page + 4096, PROT_READ, MAP_PRIVATE, open(argv[1], O_RDONLY), 0);

	printf("%x", code[at]);
	mprotect(code + page, 4096, PROT_READ | PROT_EXEC);
	printf(" %x", code[at]);
	madvise(code + page, 4096, MADV_DONTNEED);
	printf(" %x\n", code[at]);
	return 0;
}
END
lizard-cc -O1 later.c -o later
# an address in a library is an offset in its file, where its code is
prefix=$(printf %x $((0x$(objdump -d --disassemble=work lib.so | awk '/add .*,%r15w/ { sub(":", "", $1); print $1; exit }') + 1)))
is "$(./later ./lib.so "$prefix")" "41 41 41" "the prefix of an add, natively"
is "$(lizard-trace -q -o later.rec -- ./later ./lib.so "$prefix")" "41 49 49" "recorded: wide as soon as it can run, and when it comes from the file anew"
lizard verify later.rec >verify 2>&1
ok $? "so it is in replay" || diag "$(tail -n 5 verify)"

# ---- what a debugger is shown ----
site=$(objdump -d --disassemble=count main | awk '/add .*,%r15w/ { sub(":", "", $1); print $1; exit }')
for front in stock patched; do
	[ $front = stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || { skip "$front" "it is not built"; continue; }
	timeout 60 lizard-gdb --$front -nx -batch -ex "x/i &main - &main + 0x555555554000 + 0x$site" \
		-ex "jump_forward 50%" -ex "p/x *(unsigned char (*)[2])(0x555555554000 + 0x$site)" parent >shown 2>&1
	like "$(cat shown)" 'add *\$0x[0-9a-f]*,%r15w' "$front: the add as it is in the program's file" || diag "$(cat shown)"
	like "$(cat shown)" '{0x66, 0x41}' "$front: so are its bytes"
done

# ---- code that is in no file: copied elsewhere, made executable in two ways, and put in the place of the program's own ----
cat >copied.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char __executable_start[], etext[];

__attribute__((noinline, aligned(64))) static int count(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += i & 3;
	return s;
}

/* Many markers: some of them lie across two pages. */
#define ONE(k) if (n & 1 << (k) % 31) s ^= (k);
#define TEN(k) ONE(k) ONE(k + 1) ONE(k + 2) ONE(k + 3) ONE(k + 4) ONE(k + 5) ONE(k + 6) ONE(k + 7) ONE(k + 8) ONE(k + 9)
#define MANY(k) TEN(k) TEN(k + 10) TEN(k + 20) TEN(k + 30) TEN(k + 40) TEN(k + 50) TEN(k + 60) TEN(k + 70) TEN(k + 80)
#define MOST(k) MANY(k) MANY(k + 100) MANY(k + 200) MANY(k + 300) MANY(k + 400) MANY(k + 500) MANY(k + 600) MANY(k + 700)
int many(int n)
{
	volatile int s = n;

	MOST(0) MOST(1000)
	return s;
}

/* Are all adds wide, or none? */
static int alike(const unsigned char *code, const unsigned char *end)
{
	int n[2] = {0, 0};

	for (; code + 9 <= end; code++)
		if (code[0] == 0x41 && code[1] == 0xc6 && code[2] == 7 && code[4] == 0x66 && code[6] == 0x83 && code[7] == 0xc7)
			n[code[5] == 0x49]++;
	return n[0] + n[1] > 1000 && (n[0] == 0 || n[1] == 0);
}

/* In the parent, and in a child that has no tracer to change its sink. */
static void both(const char *name, int (*fn)(int), char *start, size_t len)
{
	const unsigned char *code = (unsigned char *)start;
	int status;

	printf("%s %d", name, fn(700000));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit((fn(3000001) & 63) + alike(code, code + len));
	waitpid(pid, &status, 0);
	printf(" %d %x %d\n", fn(700002), status, alike(code, code + len));
}

static char *copy(const char *start, size_t len, int prot)
{
	char *at = mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, start, len);
	mprotect(at, len, PROT_READ | PROT_EXEC);
	return at;
}

int main(void)
{
	char *start = (char *)((unsigned long)__executable_start & -4096);
	size_t len = (size_t)(etext - start + 4095) & -4096, at = (size_t)((char *)count - start);

	char *plain = copy(start, len, PROT_READ | PROT_WRITE);
	both("copied", (int (*)(int))(plain + at), plain, len);
	char *open = copy(start, len, PROT_READ | PROT_WRITE | PROT_EXEC);
	both("copied and executable", (int (*)(int))(open + at), open, len);
	mremap(plain, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, start);
	both("put in its place", count, start, len);
	for (size_t i = 0; i < len; i += 4096) {
		mprotect(start + i, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
		mprotect(start + i, 4096, PROT_READ | PROT_EXEC);
	}
	both("page by page", count, start, len);
	return 0;
}
END
lizard-cc -O1 -g copied.c -o copied && ./copied >native
for how in parent all; do
	lizard-trace -q --follow $how -o "copied-$how" -- ./copied >out 2>err
	is "$? $(cat out err)" "0 $(cat native)" "--follow $how: code that was copied, in a child as well"
	lizard verify -a "copied-$how" >verify 2>&1
	ok $? "--follow $how: verify is clean" || diag "$(tail -n 5 verify)"
done

# ---- libraries that have a copy of the runtime of their own ----
cat >bound.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int (*work)(int);

static int count(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += i & 3;
	return s;
}

static void *thread(void *arg)
{
	printf("%d %d\n", work(300000), count(300000));
	return arg;
}

int main(int argc, char **argv)
{
	int deep = strcmp(argv[2], "deep") == 0 ? RTLD_DEEPBIND : 0;
	void *lib = strcmp(argv[2], "apart") == 0 ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) : dlopen(argv[1], RTLD_NOW | deep);
	pthread_t t;

	work = lib ? dlsym(lib, "work") : NULL;
	if (!work)
		return 99;
	for (int i = 0; i < 5; i++)
		printf("%d %d\n", work(400000), count(400000));
	return pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL);
}
END
lizard-cc -O1 -g bound.c -o bound -ldl
# Of one linked with norelro nothing becomes read-only when it has been bound: it is noticed when its runtime says hello.
lizard-cc -O1 -g -shared -fPIC -Wl,-z,norelro lib.c -o norelro.so
for case in "lib shared" "lib deep" "lib apart" "norelro deep" "norelro apart"; do
	lib=${case% *} how=${case#* }
	./bound "./$lib.so" "$how" >native
	lizard-trace -q -o "bound-$lib-$how" -- ./bound "./$lib.so" "$how" >out 2>err
	is "$? $(cat out err)" "0 $(cat native)" "$lib.so, $how: the program does as ever"
	lizard verify "bound-$lib-$how" >verify 2>&1
	ok $? "... verify is clean" || diag "$(tail -n 5 verify)"
	markers=$(sed -n 's/.*clean: \([0-9]*\)[0-9]\{3\} bytes of markers.*/\1/p' verify)
	is "$markers" "${all:=$markers}" "... the library's markers are there"
done

# ---- markers of which nothing is known ----
for bare in "main ./bare.so" "bare ./lib.so"; do
	# shellcheck disable=SC2086 # program and argument
	lizard-trace -q -o bare-rec -- ./$bare >out 2>err
	is "$? $(cat out err)" "3 $(./main ./lib.so)" "no .lizard section, $bare: recorded all the same"
	lizard verify bare-rec >verify 2>&1
	ok $? "verify is clean" || diag "$(cat verify)"
	rm -r bare-rec
done
done_testing
