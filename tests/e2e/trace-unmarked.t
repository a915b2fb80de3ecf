#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Signals come at any instruction of code without markers, too: in the C library, and in loops of which only memory tells the rounds
# apart. Replay is the same run.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/json.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

progs=$LIZARD_SRC/tests/progs/signals

"$PLAIN_CC" -g -O1 -c "$progs/memory_loops.c" -o "$T/memory_loops.o"
ok $? "loops without markers: build" || done_testing

signals() { # RECORDING WAY
	lizard info --json "$1" | json "my \$s = \$o->{instants}{signals}; '$2' eq 'exact' ? \$s->{unmarked} + \$s->{checkpoint} : \$s->{$2}"
}

# recorded LABEL LEAST WAY PROGRAM ARGUMENTS...: it ends well, verify is clean, LEAST signals came this way. $rec is the recording.
recorded() {
	label=$1 least=$2 way=$3 rec=$T/recordings/$1
	shift 3
	LIZARD_TRACE_CHECK=1 timeout -k 5 100 lizard-trace -q -o "$rec" "$@" >"$T/out" 2>"$T/err"
	is "$? $(cut -d ' ' -f 1 "$T/out")" "0 end" "$label: recorded" || diag "$(tail -n 5 "$T/err")"
	timeout 200 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$label: verify is clean" || {
		diag "$(tail -n 5 "$T/verify")"
		replay_hint "$rec"
	}
	[ "$(signals "$rec" "$way")" -ge "$least" ]
	ok $? "$label: signals come in code without markers" || diag "$(lizard info "$rec" | grep '^signals')"
}

for how in O0 O2; do
	lizard-cc -g -$how "$progs/unmarked.c" "$T/memory_loops.o" -o "$T/unmarked-$how"
	ok $? "$how: builds" || done_testing
	[ $how = O0 ] && works="printf:10 qsort:2" || works=strings:20
	for work in $works malloc:10; do
		recorded "${work%:*}-$how" "${work#*:}" unmarked "$T/unmarked-$how" "${work%:*}" 100 500 cpu
	done
	# In loops each round would be an arrival: checkpoints are the names, as far as they may cost.
	recorded "memory-$how" 5 exact "$T/unmarked-$how" memory 100 4000 cpu
	# What was not run again would prove nothing.
	grep -q 'not run again' "$T/verify"
	is $? 1 "memory-$how: all of it is run again"
	timeout 100 lizard-gdb --echo -batch "$rec" -ex continue 2>&1 | grep '^end' >"$T/again"
	cmp -s "$T/out" "$T/again"
	ok $? "memory-$how: replay prints the recording's output" || diag "$(diff "$T/out" "$T/again")"
done

# A program without any markers: checkpoints are the names, as far as they may cost.
"$PLAIN_CC" -g -O2 "$progs/unmarked.c" "$T/memory_loops.o" -o "$T/plain"
for work in malloc:checkpoint; do
	recorded "plain-${work%:*}" 5 "${work#*:}" "$T/plain" "${work%:*}" 30 1000 cpu
done

# Walks from such instants, and over them.
rec=$T/recordings/malloc-O0
WALK_FROM=$(lizard dump --events --json "$rec" | python3 "$LIZARD_SRC/tests/lib/instants.py" unmarked 8) WALK_N=6 \
	WALK_MODES="step next" walk malloc "$rec"
done_testing
