#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Options, exit statuses and messages of lizard-trace.
. "$(dirname "$0")/../lib/tap.sh"

lizard-cc -g -O1 "$LIZARD_SRC/tests/progs/trace/shared.c" -o "$T/shared"
ok $? "builds" || done_testing

like "$(lizard-trace --help)" "usage: lizard-trace" "--help"
like "$(lizard trace --version)" "^lizard [0-9]" "lizard trace --version"
lizard-trace 2>"$T/err"
is $? 125 "without a program: 125"
lizard-trace --checkpoint-interval soon true 2>"$T/err"
is $? 125 "a bad interval: 125"
like "$(cat "$T/err")" "'soon' is not a number" "it says what is wrong"
lizard-trace --dirty=guess true 2>"$T/err"
is $? 125 "a bad method: 125"
lizard-trace "$T/none" 2>"$T/err"
is $? 127 "no such program: 127"
like "$(cat "$T/err")" "cannot run .*/none: No such file" "it says so"
echo text >"$T/text"
lizard-trace "$T/text" 2>"$T/err"
is $? 126 "not executable: 126"
is "$(ls "$T/recordings")" "" "nothing was recorded of these"

(umask 0; lizard-trace -q --follow all --checkpoint-interval 0 -o "$T/private" sh -c 'echo; true | cat; exit 0' >/dev/null)
is "$(find "$T/private" -type d ! -perm 0700; find "$T/private" -type f -perm /0077)" "" "a recording is nobody else's to look into, whatever the umask"
like "$(lizard ps "$T/private" | wc -l) processes" "^[3-9] " "so it is with those of other processes"
like "$(lizard-gdb -p cat "$T/private" -nx -batch -ex 'info lizard' 2>&1)" "program +/[a-z/]*/cat$" "lizard-gdb -p NAME opens one of them"
(umask 0; lizard pack -o "$T/private.lizard" "$T/private" 2>/dev/null)
is "$(stat -c %a "$T/private.lizard")" 600 "and with a packed one"
(umask 0; lizard unpack "$T/private.lizard" "$T/again" >/dev/null)
is "$(find "$T/again" -type d ! -perm 0700; find "$T/again" -type f -perm /0077)" "" "and unpacked"

out=$(lizard-trace sh -c 'cat; echo err >&2; exit 42' 2>"$T/err" <"$T/text")
is "$? $out" "42 text" "exit status and pipes are the program's"
like "$(cat "$T/err")" "^lizard: recorded .*-1: exit status 42 after .* s, .*B on disk; [0-9]+ events, 1 checkpoint, no markers \(not built with lizard-cc\)$" "the summary"
like "$(cat "$T/err")" "^lizard: 1 child was not recorded: [0-9]+ \(cat\) " "it names children that are not recorded"
is "$(tail -n 1 "$T/err")" "lizard: next: lizard-gdb $(cd "$LIZARD_TRACE_DIR" && ls -d ./*-1 | cut -c 3-)" "and ends with what to type next"
cp "$T/shared" "$T/it is"
lizard-trace --follow all -o "$T/re'c 2" "$T/it is" >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" "^lizard: recorded .*: exit status 0 after .* [KM]?i?B of markers" "with markers"
is "$(grep -c 'not recorded' "$T/err") $(tail -n 1 "$T/err")" "0 lizard: next: lizard-gdb '$T/re'\\''c 2'  (its processes: lizard ps '$T/re'\\''c 2')" "followed children are recorded"
lizard-trace sh -c 'kill -SEGV $$' 2>"$T/err"
like "$(cat "$T/err")" ": killed by SIGSEGV after" "a signal is named"
like "$(tail -n 1 "$T/err")" "^lizard: next: lizard-gdb -e [a-z]+-[0-9]+$" "and the end is what to look at"
lizard-trace -q -o "$T/here" true 2>"$T/err"
is "$?$(cat "$T/err")" 0 "-q: no summary"
lizard-trace -q -o "$T/here" true 2>"$T/err"
is $? 125 "an existing directory is not written over"
lizard-trace -q sh -c 'kill -TERM $$' 2>/dev/null
is $? 143 "128+n for signal n"
lizard-trace -q --aslr -o "$T/aslr" "$T/shared" >"$T/out" 2>&1
is "$? $(cat "$T/out")" "0 5 15 5" "--aslr; memory shared with children"
timeout 60 lizard verify "$T/aslr" >"$T/verify" 2>&1
ok $? "--aslr: verify is clean" || diag "$(tail -n 5 "$T/verify")"
# In CI only failures are of interest.
keep() { # POLICY COMMAND
	rm -rf "$T/kept"
	lizard-trace -o "$T/kept" --keep="$1" sh -c "$2" 2>"$T/err"
	echo "$? $([ -f "$T/kept/meta" ] && echo kept || ls -d "$T/kept" 2>/dev/null || echo gone)"
}
is "$(keep always true) $(keep always false)" "0 kept 1 kept" "--keep=always"
is "$(keep failure true) $(keep failure 'exit 3') $(keep failure 'kill -SEGV $$')" "0 gone 3 kept 139 kept" "--keep=failure"
is "$(keep signal 'exit 3') $(keep signal 'kill -SEGV $$')" "3 gone 139 kept" "--keep=signal"
keep failure true >/dev/null
like "$(cat "$T/err")" "^lizard: not kept: exit 0$" "it says that nothing was kept"
lizard-trace -q false
lizard-trace -q --keep=failure true
is "$(readlink "$T/recordings/false-latest") $(readlink "$T/recordings/true-latest")" "false-1 " "the link to the latest goes with it"
# Of trees: the first process's status, and a signal that ended any.
tree() { # POLICY COMMAND
	rm -rf "$T/kept"
	lizard-trace -q --follow all -o "$T/kept" --keep="$1" sh -c "$2" >"$T/out" 2>"$T/err"
	echo "$? $([ -f "$T/kept/meta" ] && echo kept || ls -d "$T/kept" 2>/dev/null || echo gone)"
}
is "$(tree failure 'sh -c "exit 5"; true') $(tree failure 'sh -c "kill -SEGV \$\$"; true') $(tree failure 'sh -c true; exit 2')" \
	"0 gone 0 kept 2 kept" "--keep=failure of trees"
is "$(tree signal 'sh -c "exit 5"; exit 5') $(tree signal 'sh -c "kill -SEGV \$\$"; true')" "5 gone 0 kept" "--keep=signal of trees"
is "$(tree failure 'sleep 3 & true')" "0 kept" "not removed while a process goes on"
lizard-trace --keep=maybe true 2>"$T/err"
is "$? $(grep -c "not 'maybe'" "$T/err")" "125 1" "a bad policy: 125"
is "$(lizard-trace -q nproc)" "$(nproc)" "the program sees the CPUs it has without us"
# No thread of the tracer leaves the CPUs that it was given.
cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
is "$(taskset -c "$cpu" lizard-trace -q -o "$T/pinned" -- sh -c 'cat /proc/$PPID/task/*/status' | sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' | sort -u)" \
	"$cpu" "on one CPU if told so"
# ---- signals that are sent to the recorder ----
cat >"$T/count.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int n;

static void handler(int signo)
{
	n += signo == SIGUSR1 ? 1 : 100;
}

/* Argument: what to wait for. */
int main(int argc, char **argv)
{
	int most = argc > 1 ? atoi(argv[1]) : 0;

	signal(SIGUSR1, handler);
	signal(SIGINT, handler);
	kill(0, SIGUSR1);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 300 && n < most; i++)
		usleep(100000);
	usleep(100000);
	printf("%d\n", n);
	return 5;
}
END
lizard-cc -O1 "$T/count.c" -o "$T/count"
is "$(setsid -w lizard-trace -q -o "$T/own" -- "$T/count" 1; echo $?)" "$(setsid -w "$T/count" 1; echo $?)" "a signal to its own group reaches the program once, and does not end the recorder"
setsid -w lizard-trace -q -o "$T/others" -- "$T/count" 102 >"$T/out" &
is_ready() { grep -q ready "$T/out"; }
wait_until is_ready
recorder=$(pgrep -f "^lizard-trace -q -o $T/others")
kill -USR1 "$recorder"
kill -INT "$recorder"
wait $!
is "$? $(tail -n 1 "$T/out")" "5 102" "signals that others send to the recorder are passed on"

# ---- descriptors that are closed; nobody who reads what is said ----
number=0
for closed in '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
	number=$((number + 1))
	program="ls -l /proc/self/fd | sed 's/.* \\([0-9]* -> \\)/\\1/' | grep -v '/proc/\\|pipe:' >$T/shown; exit 5"
	eval "sh -c \"\$program\" $closed"
	natively="$? $(cat "$T/shown")"
	eval "lizard-trace -q -o $T/closed-$number -- sh -c \"\$program\" $closed"
	is "$? $(cat "$T/shown")" "$natively" "$closed: as natively"
	lizard verify "$T/closed-$number" >"$T/verify" 2>&1
	ok $? "$closed: verify is clean" || diag "$(cat "$T/verify")"
done
: | (lizard-trace sh -c 'sleep 0.2; exit 3'; echo $? >"$T/status") 2>&1 | true
is "$(cat "$T/status")" 3 "nobody reads the last line: the status is the program's"
# ---- a small stack is the program's, not the recorder's ----
cat >"$T/fill.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	for (int i = 0; i < 64; i++)
		memset(malloc(1 << 20), i, 1 << 20);
	puts("full");
	return 0;
}
EOF
lizard-cc -g -O1 -w "$T/fill.c" -o "$T/fill"
for stack in 256 64; do
	for run in 1 2 3 4; do
		(ulimit -s $stack && timeout 60 lizard-trace -q --checkpoint-interval 20 -o "$T/recordings/stack-$stack-$run" "$T/fill")
		echo $?
	done >"$T/out" 2>&1
	is "$(sort "$T/out" | uniq -c | tr -s ' \n' ' ')" " 4 0 4 full " "ulimit -s $stack: recorded each time" || diag "$(cat "$T/out")"
done
done_testing
