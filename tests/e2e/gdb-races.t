#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Failures that --chaos finds are followed back: from the end of the recording to the accesses that race, by whom and at which
# lines. The programs say in comments which those are. chaos-bugs.t does the same for all programs.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/racing.sh"

for name in aba last_reference no_second_look torn_value torn_in_handler; do
	chaos_build "$name"
	ok $? "$name: builds" || continue
	seed=0 status=0 rec=$T/recordings/$name
	while [ $status = 0 ] && [ $seed -lt 20 ]; do
		seed=$((seed + 1))
		chaos_record $seed "$rec" "$name"
		status=$?
	done
	is $status 1 "$name: fails within 20 seeds" || continue
	races "$name" "$rec"
done
done_testing
