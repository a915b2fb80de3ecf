#!/bin/sh
# Both ways to find changed pages, with the tracer checking after each checkpoint that none was missed and
# that its list of mappings is the kernel's; then every checkpoint is compared by verify.
. "$(dirname "$0")/../lib/tap.sh"

for how in gcc lizard-cc; do
	$how -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/mappings.c" -o "$T/mappings-$how"
	ok $? "builds with $how" || done_testing
	for dirty in scan compare; do
		rec=$T/recordings/$how-$dirty
		LIZARD_TRACE_CHECK=1 timeout 120 lizard-trace -q --dirty=$dirty --checkpoint-interval 0 --full-every 7 \
			-o "$rec" "$T/mappings-$how" >"$T/out" 2>"$T/err"
		status=$?
		if [ $dirty = scan ] && grep -q 'cannot scan for dirty pages' "$T/err"; then
			skip "$how, $dirty" "not on this kernel"
			continue
		fi
		is "$status $(cat "$T/out")" "0 all is well" "$how, $dirty: recorded, nothing missed" ||
			diag "$(cat "$T/err")"
		timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "$how, $dirty: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	done
done
done_testing
