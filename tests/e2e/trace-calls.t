#!/bin/sh
# Everything the kernel writes into the program is recorded: a checkpoint after every system call, each
# compared by verify with what re-execution and the log give.
. "$(dirname "$0")/../lib/tap.sh"

for how in gcc lizard-cc; do
	$how -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/calls.c" -lutil -lrt -o "$T/calls-$how"
	ok $? "builds with $how" || done_testing
	rec=$T/recordings/$how
	LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q --checkpoint-interval 0 -o "$rec" "$T/calls-$how" \
		>"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 all is well" "$how: recorded" || diag "$(cat "$T/err")"
	timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$how: verify is clean" || diag "$(tail -n 5 "$T/verify")"
done
done_testing
