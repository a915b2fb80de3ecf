#!/bin/sh
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

# ---- markers of which nothing is known ----
lizard-trace -o bare-lib -- ./main ./bare.so >out 2>err
is "$? $(cat out)" "3 $(cat native)" "a library without its .lizard section: the program goes on"
like "$(cat err)" "recording ends here: the markers in .*bare.so cannot be followed: its .lizard section is missing" "it is said why"
lizard verify bare-lib >verify 2>&1
ok $? "what was recorded up to there is" || diag "$(cat verify)"
lizard-trace -o bare-main -- ./bare ./lib.so >out 2>err
is "$? $(cat out)" "3 $(cat native)" "a program without: it goes on"
like "$(cat err)" "the markers in .*bare cannot be followed" "it is said why"
done_testing
