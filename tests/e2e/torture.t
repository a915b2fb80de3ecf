#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# GCC's torture programs: in checking mode whatever passes with plain gcc must pass; a fixed 300 of them are
# also recorded and verified. A sample of both here, all with LIZARD_LONG, and the test suites of sed and tcc.
. "$(dirname "$0")/../lib/tap.sh"
torture=$LIZARD_SRC/tests/torture
TORTURE_TMP=$T
export TORTURE_TMP

"$torture/fetch" >/dev/null 2>"$T/log"
ok $? "the torture programs are there" || { diag "$(tail -n 5 "$T/log")"; done_testing; }

every=100 recorded=15 # of about 1,600
levels=-O2
if [ -n "$LIZARD_LONG" ]; then
	every=1 recorded=300 levels="-O0 -O2"
fi

"$torture/run" -j 2 -n $every >"$T/log" 2>&1
ok $? "checking mode: $(tail -n 1 "$T/log")" || diag "$(cat "$T/log")"

for level in $levels; do
	"$torture/run" -r -j 2 -c $recorded -l "$level" >"$T/log" 2>&1
	ok $? "recorded and verified at $level: $(tail -n 1 "$T/log")" || diag "$(cat "$T/log")"
done

if [ -n "$LIZARD_LONG" ]; then
	for suite in sed tcc; do
		"$torture/suite" $suite >"$T/log" 2>&1
		ok $? "the test suite of $suite: as with plain gcc" || diag "$(tail -n 20 "$T/log")"
	done
fi
done_testing
