#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# System calls that fail, and have written before they did: replay has what they wrote.
. "$(dirname "$0")/../lib/tap.sh"
lizard-cc -g -O1 "$LIZARD_SRC/tests/progs/trace/errors.c" -o "$T/errors" || exit 1
for case in $("$T/errors"); do
	"$T/errors" "$case" >"$T/native"
	is "$? $(grep -c '^-1 errno' "$T/native")" "0 1" "$case fails" || diag "$(cat "$T/native")"
	lizard-trace -q -o "$T/$case" -- "$T/errors" "$case" >"$T/out" 2>"$T/err"
	is "$(cat "$T/out" "$T/err")" "$(cat "$T/native")" "$case: recorded as native"
	lizard verify "$T/$case" >"$T/verify" 2>&1
	ok $? "$case: what it wrote is there in replay" || diag "$(tail -n 5 "$T/verify")"
done
done_testing
