#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Signals to the recorder: those for its process group reach the program once, those for it alone are passed on.
. "$(dirname "$0")/../lib/tap.sh"

gcc -O1 -g -w "$LIZARD_SRC/tests/progs/trace/sent.c" -o "$T/sent"
ok $? "builds" || done_testing

clean() { # LABEL RECORDING
	timeout 60 lizard verify -a "$2" >"$T/verify" 2>&1
	ok $? "$1: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	lizard info "$2" >"$T/info" 2>&1
	is "$(grep -c '^damage' "$T/info")" 0 "$1: the recording is whole" || diag "$(cat "$T/info")"
}

# Away from the test's own group.
setsid -w "$T/sent" >"$T/wanted"
is "$(grep -c ' -1$' "$T/wanted")" 60 "natively each signal for the group comes once"
for follow in parent all; do
	timeout -k 5 60 setsid -w lizard-trace -q --follow $follow -o "$T/recordings/group-$follow" "$T/sent" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $(cat "$T/wanted")" "a signal for the group, --follow $follow: recorder and program live, it comes once" ||
		diag "$(cat "$T/err")"
	clean "a signal for the group, --follow $follow" "$T/recordings/group-$follow"
done

# The other tracers are in the group, too.
timeout -k 5 60 setsid -w lizard-trace -q --follow all -o "$T/recordings/child" sh -c "$T/sent; :" >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" "^$" "a child's signals for the group: no tracer says anything"
clean "a child's signals for the group" "$T/recordings/child"

setsid lizard-trace -q -o "$T/recordings/alone" "$T/sent" "$T/ready" >"$T/out" 2>"$T/err" &
tracer=$!
wait_until test -e "$T/ready"
passed="6 8 4 7 11 31 5 1 2 3 10 12 14 29 30 26 27 23 13 25 24 16 28 34 64"
for signo in $passed; do
	kill "-$signo" $tracer
	# of two that wait at once the kernel chooses
	wait_until grep -qx "$signo" "$T/out"
done
kill -TERM $tracer
wait $tracer
is "$? $(tr '\n' ' ' <"$T/out")" "0 $passed " "a signal for the recorder alone: the program gets it" || diag "$(cat "$T/err")"
clean "signals for the recorder alone" "$T/recordings/alone"
done_testing
