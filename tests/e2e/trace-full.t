#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A log of calls that is full becomes events while the program goes on: nothing is lost, and nothing comes twice.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
export LIZARD_TRACE_CALLS=buffer

replay_echo
gcc -O1 -w -pthread -o "$T/plain" "$LIZARD_SRC/tests/progs/trace/full.c" &&
	lizard-cc -O1 -w -pthread -o "$T/marked" "$LIZARD_SRC/tests/progs/trace/full.c"
ok $? "the program builds" || done_testing

# of the thread that runs: its reads, each with 16 bytes
reads_of() { lizard dump "$1" --events | grep -c 'pread64.* = 16'; }

for how in "plain plain" "plain signals" "marked plain" "marked signals" "marked counter" "marked threads" "plain masks" "marked masks"; do
	set -- $how
	rec=$T/recordings/$1-$2
	LIZARD_TRACE_CHECK=1 LIZARD_DEBUG=1 timeout -k 5 200 lizard-trace -q -o "$rec" "$T/$1" "$2" >"$T/out" 2>"$T/err"
	is "$?" 0 "$how: recorded" || diag "$(tail -n 5 "$T/err")"
	full=$(sed -n 's/.*the log was full \([0-9]*\) times.*/\1/p' "$T/err")
	# what a log says of masks must be known first; short calls do not fill it, but are taken away early
	[ "$how" = "plain plain" ] && least=20 || least=2
	[ "$2" = masks ] || ok "$([ "${full:-0}" -ge $least ]; echo $?)" "$how: the program has gone on with an empty log" || diag "${full:-never}"
	timeout -k 5 200 "$echo" "$rec" >"$T/replayed" 2>"$T/verify"
	ok $? "$how: it replays" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$rec"; }
	is "$(cat "$T/replayed")" "$(cat "$T/out")" "$how: replay prints the same"
	[ "$2" = threads ] && n=120000 || n=60000
	is "$(reads_of "$rec")" $n "$how: each read is an event"
done
done_testing
