#!/bin/sh
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

# The recorder is killed: the program goes with it.
lizard-trace -q -o "$T/recordings/tracer" "$T/work" 30 >"$T/out" 2>"$T/err" &
tracer=$!
sleep 2
kill -9 $tracer
wait $tracer 2>/dev/null
sleep 0.5
lines=$(wc -l <"$T/out")
sleep 0.5
is "$(wc -l <"$T/out")" "$lines" "killed recorder: the program is gone"
opens "killed recorder" "$T/recordings/tracer" cut

# The program is killed: a whole recording of what it did.
lizard-trace -q -o "$T/recordings/target" "$T/work" 30 >"$T/out" 2>"$T/err" &
tracer=$!
sleep 1
kill -9 "$(ps -o pid= --ppid $tracer)"
wait $tracer
is $? 137 "killed program: exit status"
opens "killed program" "$T/recordings/target" whole

# Killed while a checkpoint is taken, as most of the time is spent so: no replay goes on to it.
lizard-trace -q --checkpoint-interval 0 -o "$T/recordings/taking" "$T/work" 30 >"$T/out" 2>"$T/err" &
tracer=$!
sleep 1
kill -9 "$(ps -o pid= --ppid $tracer)"
wait $tracer
is $? 137 "killed at a checkpoint: exit status"
opens "killed at a checkpoint" "$T/recordings/taking" whole

# A signal sent to the recorder is the program's.
lizard-trace -q -o "$T/recordings/term" "$T/work" 30 >"$T/out" 2>"$T/err" &
tracer=$!
sleep 1
kill -TERM $tracer
wait $tracer
is $? 143 "SIGTERM to the recorder ends the program"
opens "terminated program" "$T/recordings/term" whole

# The disk fills: the program goes on.
if mkdir "$T/small" && mount -t tmpfs -o size=6m tmpfs "$T/small" 2>/dev/null; then
	timeout 60 lizard-trace -q --checkpoint-interval 1 -o "$T/small/full" "$T/work" 3 >"$T/out" 2>"$T/err"
	is $? 3 "full disk: the program's exit status"
	like "$(cat "$T/err")" "recording ends here: .*No space left" "full disk: it is said"
	opens "full disk" "$T/small/full" cut
	umount "$T/small"
else
	skip "full disk" "no permission to mount a small one"
fi
done_testing
