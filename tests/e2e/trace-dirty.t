#!/bin/sh
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
		LIZARD_TRACE_CHECK=1 timeout 120 lizard-trace -q --dirty=$dirty --checkpoint-interval $interval --full-every 7 \
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
done_testing
