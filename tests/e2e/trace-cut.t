#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever ends a recording early leaves one that replays up to there and says so.
. "$(dirname "$0")/../lib/tap.sh"

lizard-cc -g -O1 "$LIZARD_SRC/tests/progs/trace/work.c" -o "$T/work"
ok $? "builds" || done_testing

opens() { # LABEL DIR COMPLETE
	timeout 300 lizard verify "$2" >"$T/verify" 2>&1
	ok $? "$1: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	case $3 in
	cut) like "$(lizard info "$2" 2>&1)" "incomplete|cut|ends early" "$1: info says that it is cut" ;;
	esac
}

# start NAME [OPTIONS]: records work in the background, until it has worked a while.
start() {
	name=$1
	shift
	rm -f "$T/out"
	lizard-trace -q "$@" -o "$T/recordings/$name" "$T/work" 100 >"$T/out" 2>"$T/err" &
	tracer=$!
	wait_until has_worked
	program=$(ps -o pid= --ppid $tracer | tr -d ' ')
}

has_worked() {
	[ "$(wc -l <"$T/out")" -ge 20 ]
}

flushed() {
	[ "$(lizard dump --events "$T/recordings/tracer" | grep -c write)" -ge 20 ]
}

gone() {
	case $(ps -o stat= -p "$program") in '' | Z*) ;; *) return 1 ;; esac
}

# The recorder is killed: the program goes with it.
start tracer
wait_until flushed
kill -9 $tracer
wait $tracer 2>/dev/null
wait_until gone
ok $? "killed recorder: the program is gone"
opens "killed recorder" "$T/recordings/tracer" cut

# Also a program without markers, which waits and meets no guard page.
rm -f "$T/out"
lizard-trace -q -o "$T/recordings/plain" sh -c 'echo going; exec sleep 1000' >"$T/out" 2>"$T/err" &
tracer=$!
wait_until test -s "$T/out"
program=$(ps -o pid= --ppid $tracer | tr -d ' ')
kill -9 $tracer
wait $tracer 2>/dev/null
wait_until gone
ok $? "killed recorder: a program without markers is gone as well" || kill "$program"

# The program is killed: a whole recording of what it did.
start target
kill -9 "$program"
wait $tracer
is $? 137 "killed program: exit status" || diag "$(cat "$T/err")"
opens "killed program" "$T/recordings/target" whole

# Killed while a checkpoint is taken, as most of the time is spent so: no replay goes on to it.
start taking --checkpoint-interval 0
kill -9 "$program"
wait $tracer
is $? 137 "killed at a checkpoint: exit status" || diag "$(cat "$T/err")"
opens "killed at a checkpoint" "$T/recordings/taking" whole

# A signal sent to the recorder is the program's.
start term
kill -TERM $tracer
wait $tracer
is $? 143 "SIGTERM to the recorder ends the program"
opens "terminated program" "$T/recordings/term" whole

# The size that it may have is reached, by a program that never stops but to hand over markers.
cat >"$T/busy.c" <<'C'
#include <stdio.h>
static volatile unsigned n;
int main(void)
{
	for (unsigned i = 0; i < 1500000000; i++)
		if (i * i % 7 > 3)
			n++;
	printf("%u\n", n);
	return 4;
}
C
lizard-cc -g -O1 "$T/busy.c" -o "$T/busy"
timeout -k 5 120 lizard-trace -q --flow=full --max-size 1M -o "$T/recordings/busy" "$T/busy" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "4 $("$T/busy")" "a size reached: the program's status and output"
like "$(cat "$T/err")" "recording ends here: it has reached the size that --max-size allows, 1M$" "a size reached: it is said"
why="recording ended early: it has reached the size that --max-size allows, 1M; the program went on, exit status 4"
lizard info --check "$T/recordings/busy" >"$T/info" 2>&1
is "$? $(grep -E '^(ended|cut short|damage)' "$T/info")" "0 ended         exit 4
cut short     incomplete: $why" "a size reached: info tells, and it is no damage"
like "$(timeout 100 lizard verify "$T/recordings/busy")" "clean: .* the recording is not complete: incomplete: $why" "a size reached: verify tells"
opens "a size reached" "$T/recordings/busy" cut
timeout -k 5 120 lizard-trace -q --max-size some true 2>"$T/err"
is $? 125 "a bad size: 125"

# The disk fills: the program goes on.
if small_disk 6m; then
	# whatever becomes free is taken by somebody else
	cat >"$T/others.py" <<'END'
import glob, os, sys, time

print("ready", flush=True)
# the first checkpoint comes before any markers
while sum(os.path.getsize(f) for f in glob.glob(sys.argv[1])) < 1 << 16:
    time.sleep(0.001)
fd = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
while True:
    try:
        os.write(fd, bytes(4096))
    except OSError:
        pass
END
	python3 "$T/others.py" "$T/small/full/markers*" "$T/small/others" >"$T/ready" &
	others=$!
	wait_until test -s "$T/ready"
	timeout -k 5 120 lizard-trace -q --flow=full --checkpoint-interval 1 -o "$T/small/full" "$T/work" 3 >"$T/out" 2>"$T/err"
	is $? 3 "full disk: the program's exit status"
	like "$(cat "$T/err")" "recording ends here: .*No space left" "full disk: it is said"
	is "$(lizard info "$T/small/full" | grep -c "^ended  *exit 3$\|recording ended early: .*No space left.*; the program went on, exit status 3$")" 2 \
		"full disk: info tells, and how the program ended" || diag "$(lizard info "$T/small/full")"
	is "$(cd "$T/small/full" && echo meta*)" meta "full disk: what was reserved for that is not left behind"
	opens "full disk" "$T/small/full" cut
	kill $others
	wait $others 2>/dev/null
	rm -rf "$T/small/full" "$T/small/others"
	lizard-trace -q -o "$T/small/full" sh -c "cat /dev/zero >'$T/small/fill'; exit 6" >"$T/out" 2>"$T/err"
	is $? 6 "full disk at the end: the program's exit status"
	like "$(cat "$T/err")" "end of the recording is missing: .*No space left|recording ends here: .*No space left" "full disk at the end: it is said"
	is "$(lizard info "$T/small/full" | grep -c "^ended  *exit 6$\|recording ended early: .*No space left")" 2 "full disk at the end: so does info" ||
		diag "$(lizard info "$T/small/full")"
	umount "$T/small"
else
	skip "full disk" "no permission to mount a small one"
fi
done_testing
