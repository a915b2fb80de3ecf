#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs with one known bug of concurrency each: how many seeds of --chaos it takes to show it. The seed must bring it again, the
# recording must replay, and going back from its end the debugger names the accesses that race. A long test.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/racing.sh"

[ -n "$LIZARD_LONG" ] || skip_all "a long test"

total=0 within_10=0 within_100=0
for source in "$LIZARD_SRC"/tests/progs/chaos/*.c; do
	name=$(basename "$source" .c) rec=$T/recordings/$name
	chaos_build "$name"
	ok $? "$name: builds" || continue
	total=$((total + 1)) seed=0 status=0
	while [ $status = 0 ] && [ $seed -lt 100 ]; do
		seed=$((seed + 1))
		chaos_record $seed "$rec" "$name"
		status=$?
	done
	if [ $status = 0 ]; then
		diag "$name: not found by 100 seeds"
		continue
	fi
	diag "$name: seed $seed, status $status"
	within_100=$((within_100 + 1))
	[ $seed -gt 10 ] || within_10=$((within_10 + 1))
	timeout 100 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$name: verify is clean" || {
		diag "$(tail -n 5 "$T/verify")"
		replay_hint "$rec"
	}
	chaos_record $seed "$rec-again" "$name"
	is $? $status "$name: seed $seed shows it again"
	! grep -q 'race: ' "$source" || races "$name" "$rec"
	rm -rf "$rec" "$rec-again"
done
diag "$within_10 of $total are found by 10 seeds, $within_100 by 100"
[ $((within_10 * 4)) -ge $((total * 3)) ]
ok $? "three of four are found by 10 seeds"
[ $within_100 -ge $((total - total / 20)) ]
ok $? "all but one of twenty are found by 100 seeds"
done_testing
