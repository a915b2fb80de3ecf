#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The interpreter of conditions, on bytecode by fixed seeds: it ends, without a crash. With SANITIZE=1 under the address
# sanitizer. LIZARD_FUZZ_SECONDS=N: N seconds, from seed LIZARD_FUZZ_FROM on.
. "$(dirname "$0")/../lib/tap.sh"

n=100000
[ -z "$LIZARD_LONG" ] || n=3000000
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1
from=$((${LIZARD_FUZZ_FROM:-0} + 1))
until=$((SECONDS + ${LIZARD_FUZZ_SECONDS:-0}))
while :; do
	timeout 600 "$LIZARD_BUILD/tests/fuzz/agent" "$from" "$((from + n - 1))" >"$T/out" 2>"$T/err" || break
	from=$((from + n))
	[ $SECONDS -lt $until ] || break
done
[ $((from - 1)) = "$(tail -n 1 "$T/out")" ] && [ ! -s "$T/err" ]
ok $? "$((from - 1)) expressions" || diag "$(tail -n 20 "$T/err")"
done_testing
