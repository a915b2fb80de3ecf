#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Signals come at any instruction of code with markers: what fails natively fails while recorded, replay is the same run, and walks
# that start at such instants or cross them are exact.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/json.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

progs=$LIZARD_SRC/tests/progs/signals

anywhere() { # RECORDING: how many signals came at another instruction than a marker or a call
	lizard info --json "$1" | json '$o->{instants}{signals}{anywhere}'
}

verified() { # LABEL RECORDING
	timeout 200 lizard verify "$2" >"$T/verify" 2>&1
	ok $? "$1: verify is clean" || {
		diag "$(head -n 5 "$T/verify")"
		replay_hint "$2"
	}
}

recorded() { # LABEL PROGRAM ARGUMENTS...: recorded and verified, many signals at another instruction
	label=$1 rec=$T/recordings/$1
	shift
	LIZARD_TRACE_CHECK=1 timeout -k 5 100 lizard-trace -q -o "$rec" "$@" >"$T/out" 2>"$T/err"
	is "$? $(tail -n 1 "$T/out" | cut -d ' ' -f 1)" "0 ${ends:-end}" "$label: recorded" || diag "$(tail -n 5 "$T/err")"
	verified "$label" "$rec"
	[ "$(anywhere "$rec")" -gt 20 ]
	ok $? "$label: signals come at any instruction" || diag "$(anywhere "$rec") did"
}

# A list that is just being changed.
for how in O0 O2; do
	lizard-cc -g -$how "$progs/list.c" -o "$T/list-$how"
	ok $? "list $how: builds" || done_testing
	rec=$T/recordings/broken-$how
	for try in 1 2 3 4 5; do
		timeout -k 5 60 lizard-trace -q --keep=failure -o "$rec" "$T/list-$how" >/dev/null 2>&1
		status=$?
		[ $status = 0 ] || break
	done
	like $status '^(134|139)$' "list $how: fails while recorded as it does natively"
	verified "list $how" "$rec"
	[ "$(anywhere "$rec")" -gt 0 ]
	ok $? "list $how: by a signal in the midst of a statement"
done

# The same, with a handler that only looks: each run prints something else, and replay prints it again.
for i in 1 2 3; do
	ends=well recorded "looks-$i" "$T/list-O0" 200
	timeout 100 lizard-gdb --echo -batch "$rec" -ex continue 2>&1 | grep '^well' >"$T/again"
	cmp -s "$T/out" "$T/again"
	ok $? "looks-$i: replay prints the recording's output" || diag "$(diff "$T/out" "$T/again")"
done

for how in O0 O2; do
	for name in anywhere machine; do
		lizard-cc -g -$how -pthread "$progs/$name.c" -o "$T/$name-$how"
		ok $? "$name $how: builds" || done_testing
	done
	for i in 1 2; do
		recorded "anywhere-$how-$i" "$T/anywhere-$how" 400 200
		recorded "machine-$how-$i" "$T/machine-$how" 200
	done
done

# Where nothing tells which code has markers, or a marker is more than it is elsewhere, a signal waits for a marker.
strip -o "$T/stripped" "$T/list-O0"
lizard-cc -g -O0 -flizard-check "$progs/list.c" -o "$T/checks"
for name in stripped checks; do
	timeout -k 5 60 lizard-trace -q -o "$T/recordings/$name" "$T/$name" 100 >"$T/out" 2>"$T/err"
	is "$? $(cut -d ' ' -f 1 "$T/out")" "0 well" "$name: recorded" || diag "$(tail -n 5 "$T/err")"
	verified "$name" "$T/recordings/$name"
	is "$(anywhere "$T/recordings/$name")" 0 "$name: signals come at markers"
done

# Walks from such instants, and over them.
rec=$T/recordings/looks-1
WALK_FROM=$(lizard dump --events --json "$rec" | python3 "$LIZARD_SRC/tests/lib/instants.py" signal 6) WALK_N=10 \
	WALK_MODES="step next jump watch" WALK_WATCH="ticks; seen; head; pool" walk looks "$rec"
done_testing
