#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Process trees: every process has its recording, what they say to each other replays, patterns choose, GDB opens any.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"
. "$LIZARD_SRC/tests/lib/real.sh"

lizard-cc -g -O0 "$LIZARD_SRC/tests/progs/follow/tree.c" -o "$T/tree" && "$T/tree" >"$T/native"
ok $? "builds and runs" || done_testing
is "$(tail -n 1 "$T/native")" "tree done" "natively it is content"

export LIZARD_TRACE_CHECK=1
record() { # NAME PATTERN COMMAND...
	name=$1 pattern=$2
	shift 2
	timeout -k 5 300 lizard-trace -q --follow "$pattern" -o "$T/recordings/$name" -- "$@" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/err")" "0 " "$name: recorded, nothing on stderr"
}
verified() { # NAME
	timeout -k 5 600 lizard verify -a "$T/recordings/$1" >"$T/verify" 2>&1
	ok $? "$1: every process verifies" || diag "$(grep -v ': clean:' "$T/verify")" "lizard verify -a $T/recordings/$1"
	is "$(grep -c 'not complete' "$T/verify")" 0 "$1: every recording is complete"
}
# PROGRAM:STATUS of each process, sorted
processes() { # NAME
	lizard ps --json "$T/recordings/$1" | python3 -c '
import json, os, re, sys
for p in json.load(sys.stdin):
    print(os.path.basename(p["program"]), re.sub(" [0-9.]+$", "", p["status"]) if "became" in p["status"] else p["status"], sep=":")' |
		LC_ALL=C sort
}

# ---- all: three leaves, one of them forked first, as three shells; a grandchild; one that is killed ----
record all all "$T/tree"
is "$(cat "$T/out")" "$(cat "$T/native")" "all: the output is as natively"
verified all
is "$(processes all | uniq -c | sed 's/^ *//')" "3 sh:exit 5
2 tree:became
3 tree:exit 0
1 tree:exit 3
3 tree:exit 9
1 tree:signal 15 (TERM)" "all: what became of each"
pid=$(lizard ps --json "$T/recordings/all" | python3 -c '
import json, sys
print(next(p["pid"] for p in json.load(sys.stdin) if p["status"] == "exit 3"))')

# ---- GDB in a forked child: the value that the parent got ----
cat >"$T/commands" <<'END'
break _exit
continue
up
print mine
reverse_watchpoint mine
print mine
when
END
for front in stock patched; do
	[ "$front" = stock ] || [ -x "$LIZARD_BUILD/lib/lizard/gdb/bin/gdb" ] || continue
	timeout -k 5 120 lizard-gdb --$front -p "$pid" "$T/recordings/all" -nx -batch -x "$T/commands" >"$T/gdb-$front" 2>&1
	like "$(head -n 3 "$T/gdb-$front" | tr '\n' ' ')" "ork" "$front: a forked child opens where it was forked"
	is "$(sed -n 's/^\$1 = //p' "$T/gdb-$front")" "$(sed -n 's/^pipe //p' "$T/native")" "$front: the value that its parent printed"
	like "$(grep -c 'New value = \|new value' "$T/gdb-$front")" "^[1-9]" "$front: and where it came from" ||
		diag "$(cat "$T/gdb-$front")"
done
lizard-gdb -p 1 "$T/recordings/all" -batch >"$T/out" 2>&1
like "$? $(cat "$T/out")" "^1 lizard-gdb: no process 1 is in .*$pid" "no such process: it says which there are"
lizard-gdb -p tree "$T/recordings/all" -batch >"$T/out" 2>&1
like "$? $(cat "$T/out")" "^1 lizard-gdb: [0-9]* processes are called tree: .*$pid.*say which" "several of a name: it says so"

# ---- a pattern: found below processes that are not recorded, and only it ----
record pattern tree /bin/sh -c "sh -c '$T/tree leaf; true'; true"
verified pattern
is "$(processes pattern)" "sh:exit 0
tree:exit 9" "pattern: what matches, and the first one"
record path "*/nothing/tree" /bin/sh -c "$T/tree leaf; true"
is "$(processes path)" "sh:exit 0" "a path that does not match: only the first one"
timeout -k 5 60 lizard-trace -q --follow parent -o "$T/recordings/parent" -- "$T/tree" >"$T/out" 2>&1
is "$? $(ls "$T/recordings/parent/processes" 2>&1 | grep -c '^[0-9]')" "0 0" "parent: nobody else"

# ---- children that are over at once: who else shares their memory has been looked for by their parent's recorder ----
gcc -w -g -O1 "$LIZARD_SRC/tests/progs/follow/brief.c" -o "$T/brief"
LIZARD_DEBUG=1 timeout -k 5 100 lizard-trace -q --follow all -o "$T/recordings/brief" "$T/brief" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "0 all is well" "brief: recorded" || diag "$(grep -v stop "$T/err")"
n=$(grep -c 'other processes were looked for' "$T/err")
[ "$n" -ge 1 ] && [ "$n" -lt 30 ] # there were 40, and some of the parent's
ok $? "brief: other processes are seldom looked for" || diag "$n times"
verified brief

# ---- one that outlives the first ----
timeout -k 5 60 lizard-trace -q --follow all -o "$T/recordings/daemon" -- "$T/tree" daemon >"$T/out" 2>"$T/err" </dev/null
is $? 0 "a daemon: the first process's end is the end"
like "$(cat "$T/err")" "1 more process is still running" "it is named"
finished() { ! lizard ps "$T/recordings/daemon" | grep -q "recording\|not finished"; }
wait_until finished
verified daemon
rm -rf "$T/recordings/gone" && cp -r "$T/recordings/daemon" "$T/recordings/gone" && lizard rm "$T/recordings/gone" >"$T/out" 2>&1
is "$? $(ls "$T/recordings" | grep -c gone)" "0 0" "lizard rm removes all of it" || diag "$(cat "$T/out")"

# ---- its tracer keeps nobody waiting: the reader of what Lizard was given waits as long as without Lizard ----
cat >"$T/leaves.c" <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static void until_told(const char *file)
{
	for (int i = 0; i < 400 && access(file, F_OK); i++)
		usleep(50000);
}
/* leaves FILE [PROGRAM]: what it leaves behind, or PROGRAM, closes all it has and lives until FILE is there. */
int main(int argc, char **argv)
{
	dprintf(1, "said\n");
	if (argc == 3 && fork() > 0)
		return 0;
	if (argc == 3 && fork() > 0)
		_exit(0);
	for (int fd = 0; fd < 10; fd++) {
		close(fd);
		open("/dev/null", O_RDWR);
	}
	if (argc == 3 && argv[2][0] == '/')
		execl(argv[2], argv[2], argv[1], NULL);
	until_told(argv[1]);
	return 0;
}
C
lizard-cc -O1 -w "$T/leaves.c" -o "$T/leaves" && gcc -O1 -w "$T/leaves.c" -o "$T/plain-leaves"
ok $? "builds what closes its descriptors"
lives() { ! [ -e "$T/told-$1" ] && pgrep -f "$T/told-$1" >/dev/null; }
ended() { ! pgrep -f "$T/told-$1" >/dev/null; }
for how in "left all -" "exec all $T/plain-leaves" "watched nobody -"; do
	set -- $how
	out=$(exec 5>&1; timeout -k 5 60 lizard-trace -q --follow "$2" -o "$T/recordings/$1" -- "$T/leaves" "$T/told-$1" "$3" 2>&1)
	lives "$1"
	ok $? "$1: the shell does not wait for it" || diag "$out"
	is "$out" "said
lizard: 1 more process is still running" "$1: and has read all there is"
	: >"$T/told-$1"
	wait_until ended "$1"
done
mkfifo "$T/fifo"
lizard-trace -q -o "$T/recordings/closes" -- "$T/leaves" "$T/told-closes" >"$T/fifo" 5>"$T/fifo" 2>"$T/err" &
cat <"$T/fifo" >"$T/out"
lives closes
ok $? "the first process: whoever reads what it has closed does not wait, either"
: >"$T/told-closes"
wait_until ended closes
is "$(cat "$T/out" "$T/err")" said "and has read all there is"

# ---- forked in the middle of functions: what the parent had called is known ----
lizard-cc -g -O0 -o "$T/inherit" "$LIZARD_SRC/tests/progs/follow/inherit.c"
record inherit all "$T/inherit"
for pid in $(ls "$T/recordings/inherit/processes"); do
	WALK_POSITIONS=8 WALK_N=25 WALK_MODES="step next jump" walk "forked $pid" -p "$pid" "$T/recordings/inherit"
done
is "$(ls "$T/recordings/inherit/processes" | wc -l)" 2 "a child and a grandchild were walked"

# ---- where what recorded processes execute is put ----
cat >"$T/stacks.sh" <<'END'
sed -n 's/-.*\[stack\]//p' /proc/self/maps
(true; sed -n 's/-.*\[stack\]//p' /proc/self/maps)
env sh -c "sed -n 's/-.*\[stack\]//p' /proc/self/maps; true"
END
stacks() { # LIZARD-TRACE OPTIONS
	rm -rf "$T/recordings/stacks"
	timeout -k 5 60 lizard-trace -q "$@" -o "$T/recordings/stacks" -- sh "$T/stacks.sh" 2>&1
}
if [ "$(cat /proc/sys/kernel/randomize_va_space)" = 0 ] || [ "$(setarch -R sh "$T/stacks.sh" | sort -u | wc -l)" != 1 ]; then
	skip "addresses" "address randomization is off on this machine, or cannot be switched off"
else
	is "$(stacks --follow all)" "$(setarch -R sh "$T/stacks.sh")" "followed: without address randomization, at the same addresses each time"
	is "$(stacks --follow all --aslr | sort -u | wc -l)" 3 "--aslr: with it"
	is "$(stacks --follow parent | sort -u | wc -l)" 3 "not followed: with it, as natively"
	is "$(stacks --follow nothing | sort -u | wc -l)" 3 "a pattern that does not match: the same"
fi

# ---- a real one: make runs the compiler, which runs its parts; one of them is wanted ----
mkdir -p "$T/project"
for f in a b c; do echo "int $f(void) { return 1; }" >"$T/project/$f.c"; done
echo 'int a(void), b(void), c(void); int main(void) { return a() + b() + c() == 3 ? 0 : 1; }' >"$T/project/main.c"
printf 'prog: main.o a.o b.o c.o\n\t$(CC) -o $@ $^\n' >"$T/project/Makefile"
record make 'cc1' make -C "$T/project" CC=lizard-cc
verified make
is "$(processes make | uniq -c | sed 's/^ *//')" "4 cc1:exit 0
1 make:exit 0" "make: the first one and four times the compiler proper"
"$T/project/prog"
is $? 0 "make: what was built runs"
# ---- several are verified at a time: with the same result, in the same order ----
rec=$T/recordings/beside
lizard-trace -q --follow all -o "$rec" sh -c 'for i in 1 2 3 4 5 6; do /bin/true; done'
alone=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
timeout 60 taskset -c "$alone" lizard verify -a "$rec" >"$T/alone" 2>&1
is "$? $(grep -c ': clean: ' "$T/alone")" "0 7" "on one CPU: all verify"
timeout 60 lizard verify -a "$rec" >"$T/beside" 2>&1
ok $? "side by side: all verify"
is "$(cat "$T/beside")" "$(cat "$T/alone")" "side by side: says what one after the other says"
bad=$(ls -d "$rec"/processes/[0-9]* | sed -n 3p)
: >"$bad/checkpoints"
timeout 60 taskset -c "$alone" lizard verify -a "$rec" >"$T/alone" 2>&1
alone=$?
timeout 60 lizard verify -a "$rec" >"$T/beside" 2>&1
is "$? $(grep -c ': clean: ' "$T/beside")" "1 6" "side by side: one that is damaged"
is "$alone $(cat "$T/beside")" "1 $(cat "$T/alone")" "side by side: says the same of it"

done_testing
