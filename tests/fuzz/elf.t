#!/bin/bash
# The readers of .lizard and of debug information, on damaged ELF files by fixed seeds: they end,
# without a crash. With SANITIZE=1 under the address sanitizer.
. "$(dirname "$0")/../lib/tap.sh"

n=1000
[ -z "$LIZARD_LONG" ] || n=20000
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1

for how in "-O0" "-O2 -no-pie" "-O2 -gdwarf-4"; do
	# shellcheck disable=SC2086
	lizard-cc -g $how -o "$T/small" "$LIZARD_SRC/tests/progs/fuzz/small.c" 2>"$T/cc.log"
	ok $? "builds with $how" || { diag "$(cat "$T/cc.log")"; continue; }
	timeout 600 "$LIZARD_BUILD/tests/fuzz/elf" "$T/small" "$T/copy" 1 "$n" >"$T/out" 2>"$T/err"
	ok $? "$n damaged copies built with $how" || {
		diag "seed $(tail -n 1 "$T/out")"
		diag "$(tail -n 20 "$T/err")"
	}
done
done_testing
