#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls that may wait are tried without waiting: each kind does what it does natively, by both ways, verifies, and is made without
# a stop. The program is killed in the midst of them.
. "$(dirname "$0")/../lib/tap.sh"
unset LIZARD_TRACE_CALLS
export LIZARD_DEBUG=1

prog=$LIZARD_SRC/tests/progs/trace/waits.c
gcc -w -g -O1 -pthread "$prog" -o "$T/waits-gcc" && lizard-cc -w -g -O1 -pthread "$prog" -o "$T/waits-lizard-cc"
ok $? "builds" || done_testing

# of NAME: the calls that are made without a stop
fast() {
	case $1 in
	writes) echo write ;;
	nonblocking) echo read write recvfrom ;;
	broken) echo write ;;
	faults) echo sendto recvfrom ;;
	patience) echo read ;;
	masks) echo ppoll pselect6 read ;;
	messages) echo sendto sendmsg recvfrom recvmsg ;;
	threads) echo read write futex ;;
	reused) echo read recvfrom ;;
	esac
}

for name in writes nonblocking broken faults patience masks messages threads reused; do
	"$T/waits-gcc" $name >"$T/native" 2>&1
	is "$? $(cat "$T/native")" "0 well" "$name: natively"
	for how in stop:lizard-cc buffer:lizard-cc buffer:gcc; do
		rec=$T/recordings/$name-$how
		LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q --calls="${how%:*}" -o "$rec" "$T/waits-${how#*:}" $name >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 well" "$name, $how: recorded" || { diag "$(grep -v checkpoint: "$T/err" | tail -n 5)"; continue; }
		timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "$name, $how: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; continue; }
		rm -rf "$rec"
		[ "${how%:*}" = buffer ] || continue
		for call in $(fast $name); do
			n=$(sed -n "s/.*without a stop: $call \([0-9]*\)$/\1/p" "$T/err")
			[ "${n:-0}" -ge 15 ]
			ok $? "$name, $how: $call has no stop" || diag "it had none ${n:-0} times"
		done
	done
done

kills=5
[ -z "$LIZARD_LONG" ] || kills=50
for i in $(seq $kills); do
	rec=$T/recordings/killed-$i
	timeout -k 5 60 lizard-trace -q -o "$rec" "$T/waits-gcc" forever >"$T/out" 2>"$T/err" &
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
