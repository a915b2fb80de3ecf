#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Signals every millisecond at every kind of place, at several levels, in checking mode and without
# instrumentation: each recording runs to its end and verifies.
. "$(dirname "$0")/../lib/tap.sh"

repeats=2
[ -z "$LIZARD_LONG" ] || repeats=20

for flags in -O0 -O2 -Os "-O2 -flizard-check" plain; do
	name=$(echo "$flags" | tr -d ' ')
	case $flags in
	plain) gcc -g -O1 "$LIZARD_SRC/tests/progs/trace/storm.c" -o "$T/storm$name" ;;
	*) lizard-cc -g $flags "$LIZARD_SRC/tests/progs/trace/storm.c" -o "$T/storm$name" ;;
	esac
	ok $? "$flags: builds" || continue
	for i in $(seq $repeats); do
		rec=$T/recordings/$name-$i
		timeout -k 5 60 lizard-trace -q -o "$rec" "$T/storm$name" >"$T/out" 2>"$T/err"
		like "$? $(tail -n 1 "$T/out")" "^0 [0-9]+ ticks, [0-9]+ nested$" "$flags, run $i: recorded" ||
			diag "$(tail -n 5 "$T/err")"
		timeout 200 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "$flags, run $i: verify is clean" || {
			diag "$(tail -n 5 "$T/verify")"
			replay_hint "$rec"
		}
	done
done

# ---- faster than they can be recorded ----

for flags in -O0 -O2 plain; do
	ticks=300
	case $flags in
	plain) # a checkpoint names each instant
		ticks=50
		gcc -g -O1 "$LIZARD_SRC/tests/progs/signals/crowd.c" -o "$T/crowd$flags"
		;;
	*) lizard-cc -g $flags "$LIZARD_SRC/tests/progs/signals/crowd.c" -o "$T/crowd$flags" ;;
	esac
	for timer in interval nested posix; do
		rec=$T/recordings/crowd$flags-$timer
		timeout -k 5 60 lizard-trace -q -o "$rec" "$T/crowd$flags" $timer $ticks >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 well" "$flags, $timer timer: the program goes on between signals" ||
			diag "$(tail -n 5 "$T/err")"
		timeout 200 lizard verify -q "$rec" 2>"$T/err"
		ok $? "... verify is clean" || diag "$(tail -n 5 "$T/err")"
	done
done
done_testing
