#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A function of a stranger's program, called in GDB, runs in a copy of the replayed process. It maps what it likes there,
# but not over the page through which the replayer makes calls: what stands there would run with real ones.
. "$(dirname "$0")/../lib/tap.sh"

cat >"$T/prog.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
char path[4096];
extern const char payload[], payload_end[];
/* creat(path, 0600), with int3 behind it as the stub has */
__asm__(".pushsection .rodata\npayload: mov $85, %eax\n movabs $path, %rdi\n mov $0600, %esi\n syscall\n int3\n"
        "payload_end: .popsection\n");
static void fill(char *to) { memcpy(to, payload, payload_end - payload); }
/* By each way that there is; then one more call is made for us. */
int take(char *stub, int way)
{
	char *own = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *got = own;
	if (way == 1)
		got = mmap(stub, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (way == 2 && mprotect(stub, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		got = MAP_FAILED;
	if (way == 3 && munmap(stub, 4096))
		got = MAP_FAILED;
	if (way == 4)
		fill(own), got = mremap(own, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, stub);
	if (way == 5)
		got = mremap(stub, 4096, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, own);
	if (got == MAP_FAILED)
		return -1;
	if (way <= 2)
		fill(stub);
	mprotect(own + 4096, 4096, PROT_READ);
	return way;
}
int asks(void)
{
	struct utsname u;
	struct timespec t;
	return uname(&u) == 0 && !strcmp(u.sysname, "Linux") && clock_gettime(CLOCK_REALTIME, &t) == 0 && t.tv_sec > 1 &&
	       getpid() > 0 && syscall(228, -6L, &t) == -1;
}
int main(int argc, char **argv)
{
	strncpy(path, argv[1], sizeof path - 1);
	puts(path);
	return 0;
}
C
lizard-cc -D_GNU_SOURCE -O0 -g -no-pie -o "$T/prog" "$T/prog.c" && lizard-trace -q -o "$T/rec" "$T/prog" "$T/evil" >/dev/null
ok $? "a program is recorded" || done_testing
stub=$(sed -n 's/^stub-addr //p' "$T/rec/meta")
for front in --stock --patched; do
	[ $front = --stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || { skip "$front" "it is not built"; continue; }
	for way in 1 2 3 4 5; do
		timeout 60 lizard-gdb $front "$T/rec" -nx -batch -ex 'break puts' -ex continue \
			-ex "print take((char *) $stub, $way)" >"$T/out" 2>&1
		[ ! -e "$T/evil" ]
		ok $? "$front, way $way: no file was made" || { diag "$(cat "$T/out")"; rm -f "$T/evil"; }
		like "$(cat "$T/out")" '^[$]1 = -1$' "$front, way $way: it is told that this cannot be" || diag "$(cat "$T/out")"
	done
	timeout 60 lizard-gdb $front "$T/rec" -nx -batch -ex 'break puts' -ex continue -ex 'print asks()' >"$T/out" 2>&1
	like "$(cat "$T/out")" '^[$]1 = 1$' "$front: questions are answered" || diag "$(cat "$T/out")"
done
done_testing
