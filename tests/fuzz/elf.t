#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The readers of .lizard and of debug information, on damaged ELF files by fixed seeds: they end,
# without a crash. With SANITIZE=1 under the address sanitizer. LIZARD_FUZZ_SECONDS=N: N seconds, a third for each way to build, from seed LIZARD_FUZZ_FROM on.
. "$(dirname "$0")/../lib/tap.sh"

n=10000 # a quarter of a minute
[ -z "$LIZARD_LONG" ] || n=100000
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1

for how in "-O0" "-O2 -no-pie" "-O2 -gdwarf-4"; do
	# shellcheck disable=SC2086
	lizard-cc -g $how -o "$T/small" "$LIZARD_SRC/tests/progs/fuzz/small.c" 2>"$T/cc.log"
	ok $? "builds with $how" || { diag "$(cat "$T/cc.log")"; continue; }
	from=$((${LIZARD_FUZZ_FROM:-0} + 1))
	until=$((SECONDS + ${LIZARD_FUZZ_SECONDS:-0} / 3))
	while :; do
		timeout 600 "$LIZARD_BUILD/tests/fuzz/elf" "$T/small" "$T/copy" "$from" "$((from + n - 1))" >"$T/out" 2>"$T/err" || break
		from=$((from + n))
		[ $SECONDS -lt $until ] || break
	done
	[ $((from + n - 1)) = "$(($(tail -n 1 "$T/out") + n))" ] && [ ! -s "$T/err" ]
	ok $? "$((from - 1)) damaged copies built with $how" || {
		diag "seed $(tail -n 1 "$T/out")"
		diag "$(tail -n 20 "$T/err")"
	}
done
done_testing
