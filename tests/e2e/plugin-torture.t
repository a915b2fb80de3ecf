#!/bin/sh
# GCC's torture programs in checking mode: every 40th at all four levels; all of them with LIZARD_LONG=1
# (also: make check-torture), and then 300 of them recorded and verified, the test suites of GNU sed and tcc as well.
. "$(dirname "$0")/../lib/tap.sh"

"$LIZARD_SRC/tests/torture/fetch" >"$T/log" 2>&1 || skip_all "no gcc-12-source here: $(tail -n 1 "$T/log")"
every=40 recorded=30
[ -z "$LIZARD_LONG" ] || every=1 recorded=300
TORTURE_TMP=$T "$LIZARD_SRC/tests/torture/run" -j 2 -n $every >"$T/log" 2>&1
ok $? "$(tail -n 1 "$T/log")" || diag "$(cat "$T/log")"

for level in -O0 "-O2 -g"; do
	TORTURE_TMP=$T "$LIZARD_SRC/tests/torture/run" -r -c $recorded -l "$level" >"$T/log" 2>&1
	ok $? "recorded and verified at $level: $(tail -n 1 "$T/log")" || diag "$(cat "$T/log")"
done

if [ -n "$LIZARD_LONG" ]; then
	LIZARD_TMP=$T "$LIZARD_SRC/tests/torture/suite" sed >"$T/log" 2>&1
	ok $? "GNU sed's test suite: the same results" || diag "$(cat "$T/log")"
	LIZARD_TMP=$T "$LIZARD_SRC/tests/torture/suite" tcc >"$T/log" 2>&1
	ok $? "tcc's test suite: the same results" || diag "$(cat "$T/log")"
fi
done_testing
