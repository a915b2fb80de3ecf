#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
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

# Where the markers end at a call is known from the pointer, which may be in r15, in __lizard_pos or in both; each is
# checked by parsing as well.
progs=$LIZARD_SRC/tests/progs/trace
gcc -O2 -g -shared -fPIC -D_GNU_SOURCE "$progs/callback_calls_lib.c" -o "$T/libcallback_calls.so"
for level in -O0 -O2; do
	rec=$T/recordings/callbacks$level
	lizard-cc $level -g -D_GNU_SOURCE "$progs/callback_calls.c" "$T/libcallback_calls.so" -o "$T/callbacks$level"
	ok $? "callbacks, $level: builds"
	LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q -o "$rec" "$T/callbacks$level" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $("$T/callbacks$level")" "callbacks, $level: recorded" || diag "$(cat "$T/err")"
	timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "callbacks, $level: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; }
done
done_testing
