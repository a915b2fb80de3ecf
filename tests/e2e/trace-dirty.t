#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Both ways to find changed pages, with the tracer checking after each checkpoint that none was missed and
# that its list of mappings is the kernel's; then every checkpoint is compared by verify.
. "$(dirname "$0")/../lib/tap.sh"

for how in gcc lizard-cc; do
	$how -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/mappings.c" -o "$T/mappings-$how"
	ok $? "builds with $how" || done_testing
	# Rarer checkpoints let more happen between two of them.
	for run in scan:0 scan:1 scan:4 compare:0 compare:3; do
		dirty=${run%:*} interval=${run#*:}
		rec=$T/recordings/$how-$dirty-$interval
		LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q --dirty=$dirty --checkpoint-interval $interval --full-every 7 \
			-o "$rec" "$T/mappings-$how" >"$T/out" 2>"$T/err"
		status=$?
		if [ $dirty = scan ] && grep -q 'cannot scan for dirty pages' "$T/err"; then
			skip "$how, $dirty, $interval ms" "not on this kernel"
			continue
		fi
		is "$status $(cat "$T/out")" "0 all is well" "$how, $dirty, $interval ms: recorded, nothing missed" ||
			diag "$(cat "$T/err")"
		timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "$how, $dirty, $interval ms: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	done
done

# What the program writes through its own /proc/PID/mem, where it could not store.
lizard-cc -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/process/ownmem.c" -o "$T/ownmem"
ok $? "the program that writes to its own /proc/PID/mem builds" || done_testing
for dirty in auto compare; do
	rec=$T/recordings/ownmem-$dirty
	LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q --dirty=$dirty --checkpoint-interval 0 --full-every 7 \
		-o "$rec" "$T/ownmem" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 all is well" "/proc/PID/mem, $dirty: recorded, nothing missed" || diag "$(cat "$T/err")"
	timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "/proc/PID/mem, $dirty: verify is clean" || diag "$(tail -n 5 "$T/verify")"
done

# Pages that change all the time cost no faults, nothing that is written to them is missed, and a page that is
# written to and ends as it was counts as written.
lizard-cc -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/hot.c" -o "$T/hot"
ok $? "the program with hot pages builds" || done_testing
# Interval in ms, rounds, work in each.
for run in "scan 0 30 10" "scan 4 6000 20000" "compare 4 1000 20000"; do
	set -- $run
	dirty=$1 interval=$2
	rec=$T/recordings/hot-$dirty-$interval
	LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q --dirty=$dirty --checkpoint-interval $interval --full-every 9999 \
		-o "$rec" "$T/hot" $3 $4 >"$T/out" 2>"$T/err"
	status=$?
	if [ $dirty = scan ] && grep -q 'cannot scan for dirty pages' "$T/err"; then
		skip "hot pages, $dirty, $interval ms" "not on this kernel"
		continue
	fi
	is "$status $(sed 's/^[0-9]* //' "$T/out")" "0 faults, all is well" "hot pages, $dirty, $interval ms: recorded, nothing missed" ||
		diag "$(cat "$T/err")"
	timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "hot pages, $dirty, $interval ms: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	if [ $3 = 6000 ]; then
		faults=$(sed 's/ .*//' "$T/out") checkpoints=$(lizard dump --checkpoints "$rec" | wc -l)
		[ "$checkpoints" -gt 30 ] && [ "$faults" -lt 5120 ]
		ok $? "hot pages: no fault for each of 512 pages in each interval" || diag "$faults faults, $checkpoints checkpoints"
	fi
	if [ $3 = 30 ]; then
		timeout 120 lizard-gdb "$rec" -batch -ex 'break blink' -ex continue -ex finish \
			-ex 'reverse_watchpoint -l mem[7*4096]' >"$T/gdb" 2>&1
		like "$(tail -n 6 "$T/gdb" | tr '\n' ' ')" 'Old value = 1.*New value = 0.*blink' \
			"hot pages: what was written and ended as it was is found" || diag "$(cat "$T/gdb")"
	fi
done
done_testing
