#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Signals come at the instructions of a hot loop at which they natively come; both distributions are printed. In the long version
# also 200 recordings with handlers at 1 to 10 kHz, in code with markers, in the C library and in a program without markers: all
# verify clean. INSTANTS_ROUNDS=N: 40 N recordings instead.
. "$(dirname "$0")/../lib/tap.sh"

progs=$LIZARD_SRC/tests/progs/signals

"$PLAIN_CC" -g -O1 -c "$progs/memory_loops.c" -o "$T/memory_loops.o" &&
	lizard-cc -g -O0 "$progs/unmarked.c" "$T/memory_loops.o" -o "$T/unmarked-O0" &&
	lizard-cc -g -O2 "$progs/unmarked.c" "$T/memory_loops.o" -o "$T/unmarked-O2" &&
	"$PLAIN_CC" -g -O2 "$progs/unmarked.c" "$T/memory_loops.o" -o "$T/unmarked-plain" &&
	lizard-cc -g -O2 -pthread "$progs/anywhere.c" -o "$T/anywhere" &&
	lizard-cc -g -O1 "$progs/hot_loop.c" -o "$T/hot_loop" &&
	"$PLAIN_CC" -g -O1 "$progs/hot_loop.c" -o "$T/hot_loop-plain"
ok $? "builds" || done_testing

# one LABEL PROGRAM ARGUMENTS...: recorded, and verify is clean
one() {
	label=$1 rec=$T/recordings/one
	shift
	rm -rf "$rec" "$T/verify"
	timeout -k 5 200 lizard-trace -q -o "$rec" "$@" >"$T/out" 2>"$T/err" && timeout 600 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$label: recorded, and verify is clean" || {
		diag "$(tail -n 3 "$T/err" "$T/verify" 2>&1)"
		mv "$rec" "$rec-$tap_n"
	}
}

frequencies=
[ -z "$LIZARD_LONG" ] || frequencies="1000 500 250 100"
for us in $frequencies; do
	for round in $(seq "${INSTANTS_ROUNDS:-5}"); do
		for how in O0 O2; do
			for work in malloc printf strings qsort; do
				one "$how $work $us us" "$T/unmarked-$how" $work 50 $us
			done
		done
		one "anywhere $us us" "$T/anywhere" $us 1000
		one "plain printf $us us" "$T/unmarked-plain" printf 30 $us
	done
done

compare() { # LABEL PROGRAM LOOP TICKS
	"$2" "$3" 4000 300 >"$T/native"
	"$2" "$3" 1500 300 >"$T/again"
	lizard-trace -q -o "$T/recordings/$1" "$2" "$3" "$4" 300 >"$T/recorded"
	diag "$1, natively and recorded: $(paste -s -d, "$T/native"); $(paste -s -d, "$T/recorded")"
	diag "$1, natively against recorded: $(python3 "$LIZARD_SRC/tests/lib/chi-square.py" "$T/native" "$T/recorded")"
	diag "$1, natively against natively: $(python3 "$LIZARD_SRC/tests/lib/chi-square.py" "$T/native" "$T/again")"
	# The instructions at which natively one signal of twenty comes or more are met while recorded, if so many were recorded that
	# chance leaves out none of them.
	awk '{ n[FNR == NR, $1] = $2; all[FNR == NR] += $2 } END { for (k in n) if (k ~ /^1/) { split(k, p, SUBSEP); share = n[k] / all[1]
		if (share >= 0.05 && share * all[0] >= 7 && !((0, p[2]) in n)) exit 1 } }' "$T/native" "$T/recorded"
	ok $? "$1: signals come where they natively do"
	# ... and seldom elsewhere, as at a marker where the recorder empties the full buffer.
	seldom=$(awk '{ if (FNR == NR) native[$1] = $2; else { all += $2; if (native[$1] < 10) other += $2 } } END { print (other * 20 < all ? "seldom" : other " of " all) }' \
		"$T/native" "$T/recorded")
	is "$seldom" seldom "$1: and seldom elsewhere"
}

compare marked "$T/hot_loop" marked 1500
[ -n "$LIZARD_LONG" ] || done_testing
# Of these, one in fifty comes in the loop, by a checkpoint.
compare unmarked "$T/hot_loop" unmarked 6000
compare plain "$T/hot_loop-plain" unmarked 500
done_testing
