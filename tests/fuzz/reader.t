#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The reader of recordings, on damaged copies by fixed seeds: it ends, without a crash. With SANITIZE=1 under the address
# sanitizer. LIZARD_FUZZ_SECONDS=N: N seconds, a half for each program, from seed LIZARD_FUZZ_FROM on.
. "$(dirname "$0")/../lib/tap.sh"

n=1000 # a quarter of a minute
[ -z "$LIZARD_LONG" ] || n=5000
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1

for prog in small threads; do
	lizard-cc -g -O1 -pthread -o "$T/$prog" "$LIZARD_SRC/tests/progs/fuzz/$prog.c" 2>"$T/cc.log"
	ok $? "$prog: builds" || { diag "$(cat "$T/cc.log")"; continue; }
	timeout -k 5 60 lizard-trace -q --checkpoint-interval 2 --full-every 4 -o "$T/whole" "$T/$prog" >"$T/out" 2>"$T/err"
	ok $? "$prog: records" || { diag "$(tail -n 3 "$T/err")"; continue; }
	from=$((${LIZARD_FUZZ_FROM:-0} + 1))
	until=$((SECONDS + ${LIZARD_FUZZ_SECONDS:-0} / 2))
	while :; do
		(ulimit -t 600 && exec timeout 3000 "$LIZARD_BUILD/tests/fuzz/reader" "$LIZARD_BUILD/tests/fuzz/damage" "$T/whole" "$T/copy" \
			"$from" "$((from + n - 1))") >"$T/out" 2>"$T/err" || break
		from=$((from + n))
		[ $SECONDS -lt $until ] || break
	done
	[ "$(tail -n 1 "$T/out")" = "$((from - 1))" ] && [ ! -s "$T/err" ]
	ok $? "$prog: damaged copies up to seed $((from - 1))" || {
		diag "seed $(tail -n 1 "$T/out")"
		diag "$(tail -n 20 "$T/err")"
	}
	rm -rf "$T/whole" "$T/copy"
done
done_testing
