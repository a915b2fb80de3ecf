#!/bin/sh
# GCC's torture programs: in checking mode whatever passes with plain gcc must pass; a fixed 300 of them are
# also recorded and verified. A sample of both here, all with LIZARD_LONG, and the test suites of sed and tcc.
. "$(dirname "$0")/../lib/tap.sh"
torture=$LIZARD_SRC/tests/torture
TORTURE_TMP=$T
export TORTURE_TMP

execute=$("$torture/fetch" 2>"$T/fetch.log")
ok $? "the torture programs are there" || { diag "$(tail -n 5 "$T/fetch.log")"; done_testing; }

every=25 # of about 1,600
sample=30
levels=-O2
if [ -n "$LIZARD_LONG" ]; then
	every=1 sample=300 levels="-O0 -O2"
fi

"$torture/run" -j 2 -n $every >"$T/checked.log" 2>&1
ok $? "checking mode: $(tail -n 1 "$T/checked.log")" || diag "$(cat "$T/checked.log")"

# Every fifth program, from which the first ones are taken: always the same 300.
find "$execute" -maxdepth 1 -name '*.c' | LC_ALL=C sort | awk 'NR % 5 == 0' | head -n 300 |
	awk -v n=$((300 / sample)) 'NR % n == 0' >"$T/list"
for level in $levels; do
	xargs -n 1 -P 2 "$torture/record" "$level" <"$T/list" >"$T/recorded$level" 2>&1
	! grep -v -q -e '^pass ' -e '^skip ' "$T/recorded$level"
	ok $? "recorded at $level: $(grep -c ^pass "$T/recorded$level") pass, $(grep -c ^skip "$T/recorded$level") do not pass with plain gcc" ||
		diag "$(grep -v -e '^pass ' -e '^skip ' "$T/recorded$level")"
done

if [ -n "$LIZARD_LONG" ]; then
	for suite in sed tcc; do
		"$torture/suite" $suite >"$T/suite-$suite.log" 2>&1
		ok $? "the test suite of $suite: as with plain gcc" || diag "$(tail -n 20 "$T/suite-$suite.log")"
	done
fi
done_testing
