#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Where personality, userfaultfd and the like are refused, and as an ordinary user.
. "$(dirname "$0")/../lib/tap.sh"

gcc -O1 -w "$LIZARD_SRC/tests/progs/trace/refuse.c" -o "$T/refuse" &&
	lizard-cc -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/mappings.c" -o "$T/mappings" &&
	lizard-cc -D_GNU_SOURCE -w -g -O2 "$LIZARD_SRC/tests/progs/process/children.c" -o "$T/children"
ok $? "builds" || done_testing

"$T/refuse" setarch -R true 2>/dev/null
is $? 1 "the filter refuses personality"

try() { # LABEL PROG COMMAND...
	label=$1 prog=$2
	shift 2
	rec=$T/recordings/$label
	LIZARD_TRACE_CHECK=1 timeout 120 "$@" lizard-trace -q --checkpoint-interval 5 -o "$rec" "$prog" >"$T/out" 2>"$T/err"
	is "$? $(tail -n 1 "$T/out")" "0 all is well" "$label: recorded" || diag "$(cat "$T/err")"
	timeout 120 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$label: verify is clean" || diag "$(tail -n 5 "$T/verify")"
}

try mappings-filtered "$T/mappings" "$T/refuse"
try children-filtered "$T/children" "$T/refuse"
"$T/refuse" lizard-trace -q --dirty=scan -o "$T/recordings/scan" true 2>"$T/err"
is $? 125 "scanning asked for where it is refused: an error"
like "$(cat "$T/err")" "use --dirty=compare" "it says what to do"

# Where system calls that a filter does not know kill: natively a program of ours needs none that others do not.
cat >"$T/puts.c" <<'EOF'
#include <stdio.h>
int main(void)
{
	return puts("all is well") < 0;
}
EOF
for link in "" -static; do
	gcc -g $link "$T/puts.c" -o "$T/puts$link-gcc" && lizard-cc -g $link "$T/puts.c" -o "$T/puts$link"
	ok $? "a small program $link builds"
	for filter in unknown all; do
		is "$("$T/refuse" $filter "$T/puts$link-gcc"; echo $?)" "all is well
0" "a filter that kills ($filter) lets a program $link run"
		is "$("$T/refuse" $filter "$T/puts$link"; echo $?)" "all is well
0" "... and one with markers"
	done
done
try puts-unknown "$T/puts" "$T/refuse" unknown
like "$(lizard info "$rec")" "^instrumented +yes" "puts-unknown: its markers are recorded"
try plain-unknown "$T/puts-gcc" "$T/refuse" unknown
try mappings-unknown "$T/mappings" "$T/refuse" unknown
try children-unknown "$T/children" "$T/refuse" unknown

# A kernel without PAGEMAP_SCAN and the calls of the last years, as in RHEL 9 and Ubuntu 22.04.
try mappings-old "$T/mappings" "$T/refuse" old
try children-old "$T/children" "$T/refuse" old
"$T/refuse" old timeout 120 lizard verify "$rec" >"$T/verify" 2>&1
ok $? "children-old: verify there is clean, too" || diag "$(tail -n 5 "$T/verify")"
"$T/refuse" old lizard-trace -q --dirty=scan -o "$T/recordings/scan" true 2>"$T/err"
like "$(cat "$T/err")" "use --dirty=compare" "there is no scanning"
lizard-cc -g -O0 "$LIZARD_SRC/tests/progs/gdb/twice.c" -o "$T/twice" && lizard-trace -q -o "$T/recordings/twice" "$T/twice" >/dev/null
moves="-ex 'b main' -ex c -ex 'fs 4' -ex when -ex bs -ex when -ex bs -ex when -ex 'jump_backward main' -ex when"
wanted=$(eval "lizard-gdb -nx -batch $moves '$T/recordings/twice'" 2>/dev/null | grep '^position')
is "$(eval "'$T/refuse' old lizard-gdb -nx -batch $moves '$T/recordings/twice'" 2>/dev/null | grep '^position')" "$wanted" "the debugger goes the same ways"
is "$(echo "$wanted" | wc -l)" 4 "... all four"

# A program linked before the hello was a brk(0).
gcc -O1 -I"$LIZARD_SRC/include" -c "$LIZARD_SRC/tests/progs/trace/old_hello.c" -o "$T/old_hello.o" &&
	lizard-cc -g "$T/old_hello.o" "$T/puts.c" -o "$T/old"
ok $? "a program with a runtime of the first version builds"
is "$("$T/old"; echo $?)" "all is well
0" "... and runs"
for filter in "" "$T/refuse unknown"; do
	try "old${filter:+-unknown}" "$T/old" $filter
	like "$(lizard info "$rec")" "^instrumented +yes" "... its markers are recorded"
	is "$(lizard dump "$rec" | grep -c 'lizard_hello(1, .* = 0 ')" 1 "... and its hello is the old one"
done

# The 32-bit gate, if the kernel has one.
gcc -w -O1 "$LIZARD_SRC/tests/progs/trace/int80.c" -o "$T/int80"
if "$T/int80" 2>/dev/null; then
	lizard-trace -q -o "$T/recordings/int80" "$T/int80" 2>"$T/err"
	is "$? $(grep -c 'int .0x80' "$T/err")" "1 1" "int \$0x80 gives ENOSYS, and it says so"
	timeout 60 lizard verify "$T/recordings/int80" >"$T/verify" 2>&1
	ok $? "int \$0x80: verify is clean" || diag "$(tail -n 5 "$T/verify")"
else
	skip "int \$0x80" "not on this kernel"
fi

# A child in its parent's memory, both running.
cat >"$T/both.c" <<'EOF'
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
static char stack[65536];
static volatile int go;
static int waits(void *arg)
{
	while (!go) /* for its parent, which runs on */
		;
	return *(int *)arg;
}
int main(void)
{
	int three = 3, status;
	pid_t pid = clone(waits, stack + sizeof(stack), CLONE_VM | SIGCHLD, &three);

	go = 1;
	if (pid < 0)
		printf("no child: %s\n", strerror(errno));
	else if (waitpid(pid, &status, 0) == pid)
		printf("child: %d\n", WEXITSTATUS(status));
	return 0;
}
EOF
lizard-cc -g -O0 -w "$T/both.c" -o "$T/both"
is "$("$T/both")" "child: 3" "a child in its parent's memory: natively it runs"
for follow in parent all; do
	timeout -k 5 60 lizard-trace -q --follow $follow -o "$T/recordings/both-$follow" "$T/both" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out" "$T/err")" "0 no child: Function not implemented
lizard: a child that shares memory with its running parent is not supported: the program gets ENOSYS" "... --follow $follow: refused, and it says so"
	timeout 60 lizard verify -a "$T/recordings/both-$follow" >"$T/verify" 2>&1
	ok $? "... --follow $follow: verify is clean" || diag "$(tail -n 5 "$T/verify")"
done

# clone3: named if it is the program's own call, not where the C library goes on with clone at once.
cat >"$T/clone3.c" <<'EOF'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nothing(void *arg)
{
	return arg;
}
int main(int argc, char **argv)
{
	struct clone_args a = {.flags = argc > 2 ? CLONE_PIDFD : 0, .exit_signal = SIGCHLD};
	int fd = -1;
	pthread_t th;
	pid_t pid;

	a.pidfd = (unsigned long)&fd;
	if (argc > 1) {
		pid = syscall(SYS_clone3, &a, sizeof(a));
		if (pid == 0)
			_exit(0);
		printf("%s\n", pid < 0 ? strerror(errno) : "a child");
		return 0;
	}
	pthread_create(&th, NULL, nothing, NULL);
	pthread_join(th, NULL);
	posix_spawnp(&pid, "true", NULL, NULL, (char *[]){"true", NULL}, environ);
	waitpid(pid, NULL, 0);
	return 0;
}
EOF
lizard-cc -g -O1 -w -pthread "$T/clone3.c" -o "$T/clone3"
timeout -k 5 60 lizard-trace -q -o "$T/recordings/clone3" "$T/clone3" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out" "$T/err")" "0 " "clone3 of the C library: nothing is said"
for args in one "one pidfd"; do
	# shellcheck disable=SC2086
	timeout -k 5 60 lizard-trace -q "$T/clone3" $args >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out" "$T/err")" "0 Function not implemented
lizard: system call clone3 is not supported: the program gets ENOSYS" "clone3 of the program ($args): it is named"
done

# What is refused is named, once each; where a descriptor cannot take a call, the kernel's answer is the program's.
gcc -O1 -w "$LIZARD_SRC/tests/progs/trace/refusals.c" -o "$T/refusals"
ok $? "refusals: builds" || done_testing
timeout -k 5 60 lizard-trace -q -o "$T/recordings/refusals" "$T/refusals" all >"$T/out" 2>"$T/err"
is "$? $(grep -c done "$T/out")" "0 0" "refusals: none is done" || diag "$(cat "$T/out" "$T/err")"
is "$(sed 's/.* //' "$T/err")" "$(sed 's/.* //' "$T/out")" "... each is named once, with the error that the program gets" ||
	diag "$(cat "$T/out" "$T/err")"
is "$(grep -vc '^lizard: .* is not supported: the program gets E' "$T/err")" 0 "... and nothing else is said" || diag "$(cat "$T/err")"
timeout 60 lizard verify "$T/recordings/refusals" >"$T/verify" 2>&1
ok $? "refusals: verify is clean" || diag "$(tail -n 5 "$T/verify")"
for name in $(sed -n 's/^LZ_SYS([0-9]*, \([a-z_0-9]*\), [0-9], REFUSED)$/\1/p' "$LIZARD_SRC/include/lizard/syscalls.tbl"); do
	grep -q "^| .*\`$name\`.* |" "$LIZARD_SRC/docs/limits.md" || echo "$name"
done >"$T/unlisted"
is "$(cat "$T/unlisted")" "" "docs/limits.md lists each call that is refused"
"$T/refusals" >"$T/wanted"
timeout -k 5 60 lizard-trace -q -o "$T/recordings/answers" "$T/refusals" >"$T/out" 2>&1
is "$? $(cat "$T/out")" "0 $(cat "$T/wanted")" "the kernel's answers, and the instructions that the recorder traps: as natively"

# Where there is no tracing at all, it says which setting it is.
"$T/refuse" ptrace lizard-trace -q true 2>"$T/err"
is "$? $(grep -c 'in a container, allow it with --cap-add=SYS_PTRACE' "$T/err")" "125 1" "ptrace refused by a filter"
lizard-trace -q -o "$T/recordings/outer" -- lizard-trace -q true 2>"$T/err"
is "$? $(grep -c 'is this lizard-trace being recorded itself' "$T/err")" "125 1" "lizard-trace under itself"
cat >"$T/follow.gdb" <<'EOF'
set confirm off
set detach-on-fork off
set schedule-multiple on
run
inferior 1
continue
EOF
timeout 60 gdb -nx -batch -x "$T/follow.gdb" --args "$LIZARD_BIN/lizard-trace" -q true >"$T/out" 2>&1
like "$(cat "$T/out")" "process [0-9]+ traces it already" "under a debugger that holds the children"

if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups test -x "$LIZARD_BIN/lizard-trace" 2>/dev/null; then
	mkdir "$T/recordings/user" && chown 65534 "$T/recordings/user"
	chmod 755 "$T" "$T/recordings"
	try user/mappings "$T/mappings" setpriv --reuid=65534 --clear-groups
	try user/children "$T/children" setpriv --reuid=65534 --clear-groups
	privileged() { # WHAT PATTERN
		setpriv --reuid=65534 --regid=65534 --clear-groups lizard-trace -q -o "$T/recordings/user/$1" "$T/id-$1" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out") $(grep -c "the program is $2" "$T/err") $(ls "$T/recordings/user" | grep -c "$1")" "125  1 0" "$1 programs are refused, not run" ||
			diag "$(cat "$T/err")"
	}
	cp "$(command -v id)" "$T/id-setuid" && chmod 4755 "$T/id-setuid"
	cp "$(command -v id)" "$T/id-setgid" && chmod 2755 "$T/id-setgid"
	privileged setuid set-user-ID
	privileged setgid set-group-ID
	later() { # LABEL OPTIONS COMMAND...: a set-user-ID program that another one starts
		label=$1 options=$2
		shift 2
		setpriv --reuid=65534 --regid=65534 --clear-groups lizard-trace -q $options -o "$T/recordings/user/later" "$@" >"$T/out" 2>"$T/err"
		like "$? $(cat "$T/out") $(cat "$T/err")" \
			"^0 uid=65534[^ ]* gid=65534[^ ]* groups=65534[^ ]* lizard: process [0-9]+ runs $T/id-setuid, which is set-user-ID, without its privileges" \
			"$label a set-user-ID program: said" || diag "$(cat "$T/err")"
		rm -rf "$T/recordings/user/later"
	}
	later "vfork and exec of" "" /bin/dash -c "$T/id-setuid; :"
	later "a process that is not followed and runs" "--follow nothing-like-it" /bin/dash -c "$T/id-setuid; :"
	later "a followed one that runs" "--follow all" /bin/dash -c "$T/id-setuid; :"
	later "the program that becomes" "" /bin/dash -c "exec $T/id-setuid"
	chown 65534 "$T/id-setuid" && chmod 4755 "$T/id-setuid"
	setpriv --reuid=65534 --clear-groups lizard-trace -q -o "$T/recordings/user/own" "$T/id-setuid" >"$T/out" 2>&1
	ok $? "one's own set-user-ID program has nothing to lose" || diag "$(cat "$T/out")"
else
	skip "an ordinary user" "already one, or the build is out of its reach"
fi
done_testing
