#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls that wait for somebody outside of the program have no stop while nobody else could run, and all that ends such a wait does
# what it does natively. The program is killed, and let go, while it waits.
. "$(dirname "$0")/../lib/tap.sh"
unset LIZARD_TRACE_CALLS
export LIZARD_DEBUG=1

prog=$LIZARD_SRC/tests/progs/trace/asleep.c
gcc -w -g -O1 -pthread "$prog" -o "$T/asleep-gcc" && lizard-cc -w -g -O1 -pthread "$prog" -o "$T/asleep-lizard-cc"
ok $? "builds" || done_testing

# It is copied into the program, and what is not copied with it cannot be read there.
is "$(readelf -rW "$LIZARD_BUILD"/obj/tracer/stub/*.o | grep -E '\.(LC|rodata|data|bss)')" "" "the stub has no data"

# of NAME: how many waits have no stop at least, and how many are cut
waits() {
	case $1 in
	reads) echo 200 0 ;;
	polls | epolls) echo 150 0 ;;
	writes) echo 50 0 ;;
	times) echo 60 0 ;;
	ignored) echo 100 1 ;;
	stopped) echo 60 1 ;;
	others) echo 60 1 ;;
	others_times) echo 100 1 ;;
	cancelled) echo 100 1 ;;
	*) echo 0 0 ;;
	esac
}

# which waits the last run had
counted() { sed -n 's/.* \([0-9]*\) waits were made without a stop, \([0-9]*\) of them in part$/\1 \2/p' "$T/err" | tail -n 1; }

for name in reads polls epolls writes times interrupted ignored stopped others others_times cancelled replaced filtered; do
	timeout 60 "$T/asleep-gcc" $name >"$T/native" 2>&1
	is "$? $(cat "$T/native")" "0 well" "$name: natively"
	for how in stop:lizard-cc buffer:lizard-cc buffer:gcc; do
		rec=$T/recordings/$name-$how
		LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q --calls="${how%:*}" -o "$rec" "$T/asleep-${how#*:}" $name >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 well" "$name, $how: recorded" || { diag "$(grep -v checkpoint: "$T/err" | tail -n 5)"; continue; }
		timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "$name, $how: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; continue; }
		rm -rf "$rec"
		[ "${how%:*}" = buffer ] || continue
		read -r least cut <<<"$(waits $name)"
		read -r n n_cut <<<"$(counted)"
		[ "${n:-0}" -ge "$least" ] && [ "${n_cut:-0}" -ge "$cut" ]
		ok $? "$name, $how: waits have no stop" || diag "${n:-0} had none, of ${n_cut:-0} a part"
	done
done

for name in others others_times cancelled replaced; do
	rec=$T/recordings/chaos-$name
	timeout -k 5 120 lizard-trace -q --chaos=7 -o "$rec" "$T/asleep-gcc" $name >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 well" "$name, chaos: recorded"
	timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$name, chaos: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; continue; }
	rm -rf "$rec"
done

rec=$T/recordings/let-go
timeout -k 5 120 lizard-trace -q --max-size 3M -o "$rec" "$T/asleep-gcc" large >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out") $(counted)" "0 well 1 1" "let go while it waits"
timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
like "$(tail -n 1 "$T/verify")" "clean.*the program went on, exit status 0" "let go: verify is clean"
rm -rf "$rec"

kills=4
[ -z "$LIZARD_LONG" ] || kills=50
for i in $(seq $kills); do
	rec=$T/recordings/killed-$i
	signal=$([ $((i % 2)) = 0 ] && echo KILL || echo TERM)
	timeout -k 5 60 lizard-trace -q -o "$rec" "$T/asleep-gcc" forever >"$T/out" 2>"$T/err" &
	tracer=$!
	program() { pgrep -P "$(pgrep -P $tracer | head -n 1)" 2>/dev/null | head -n 1; }
	wait_until eval '[ -n "$(program)" ]'
	sleep "0.$((i * 7 % 5 + 3))"
	kill -"$signal" "$(program)"
	wait $tracer
	timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$signal, $i: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; continue; }
	rm -rf "$rec"
done
done_testing
