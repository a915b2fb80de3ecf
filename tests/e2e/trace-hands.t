#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads that wait for each other have one stop for it, and each way in which such a wait ends does what it does natively.
. "$(dirname "$0")/../lib/tap.sh"
unset LIZARD_TRACE_CALLS
export LIZARD_DEBUG=1

prog=$LIZARD_SRC/tests/progs/trace/hands.c
gcc -w -g -O1 -pthread "$prog" -o "$T/hands-gcc" && lizard-cc -w -g -O1 -pthread "$prog" -o "$T/hands-lizard-cc"
ok $? "builds" || done_testing

for name in handovers woken_by_bits times interrupted requeued left; do
	timeout 60 "$T/hands-gcc" $name >"$T/native" 2>&1
	is "$? $(cat "$T/native")" "0 well" "$name: natively"
	for with in gcc lizard-cc; do
		rec=$T/recordings/$name-$with
		LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q -o "$rec" "$T/hands-$with" $name >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 well" "$name, $with: recorded" || { diag "$(grep -v checkpoint: "$T/err" | tail -n 5)"; continue; }
		timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "$name, $with: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; continue; }
		rm -rf "$rec"
		n=$(sed -n 's/.* \([0-9]*\) waits for a futex had one stop$/\1/p' "$T/err")
		[ "${n:-0}" -ge 300 ]
		ok $? "$name, $with: waits have one stop" || diag "${n:-0} had"
	done
done

# Calls are made again just when their instruction becomes a jump: that is met once a run at most, on a busy machine.
for round in $(seq 6); do
	tracers=
	for i in 1 2 3 4 5 6; do
		env -u LIZARD_DEBUG lizard-trace -q -o "$T/recordings/again-$round-$i" "$T/hands-gcc" requeued >>"$T/again" 2>&1 &
		tracers="$tracers $!"
	done
	wait $tracers
done
is "$(sort "$T/again" | uniq -c | sed "s/^ *//")" "36 well" "calls made again while their instruction becomes a jump"
rm -rf "$T"/recordings/again-*

kills=3
[ -z "$LIZARD_LONG" ] || kills=50
for i in $(seq $kills); do
	rec=$T/recordings/killed-$i
	timeout -k 5 60 lizard-trace -q -o "$rec" "$T/hands-gcc" forever >"$T/out" 2>"$T/err" &
	tracer=$!
	program() { pgrep -P "$(pgrep -P $tracer | head -n 1)" 2>/dev/null | head -n 1; }
	wait_until eval '[ -n "$(program)" ]'
	sleep "0.$((i * 7 % 5 + 3))"
	kill -KILL "$(program)"
	wait $tracer
	timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "killed, $i: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; continue; }
	rm -rf "$rec"
done
done_testing
