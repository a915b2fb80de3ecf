#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Where two runs part, and what a failing run did that passing ones did not. The truth: random programs that log their own ways,
# built without Lizard; gcov's counts; where GDB is.
. "$(dirname "$0")/../lib/tap.sh"

lib=$LIZARD_SRC/tests/lib
pairs=20
[ -z "$LIZARD_LONG" ] || pairs=200
out=$(python3 "$lib/parting.py" $pairs "$T/pairs" "${LIZARD_SEED:-1}" 2>&1)
is "$out" "$pairs of $pairs right" "pairs of runs of random programs part where their logs do"

# ---- suspects ----

out=$(python3 "$lib/suspects.py" "$LIZARD_SRC/tests/progs/answers/suspects.c" "$T/suspects" "${LIZARD_SEED:-1}" 2>&1)
is "$(printf '%s\n' "$out" | grep -c ' same$')" 4 "lines of failing runs have the ranks that gcov's counts give" || diag "$out"
is "$(printf '%s\n' "$out" | grep -c ': rank 1 1 ')" 4 "and each planted line is the first" || diag "$out"

# ---- one pair ----

cat >"$T/sum.c" <<'END'
#include <stdio.h>
static int digit(int c)
{
	if (c < '0' || c > '9')
		return 0;
	return c - '0';
}
int main(void)
{
	int sum = 0;
	for (int c; (c = getchar()) != EOF;)
		sum += digit(c);
	printf("%d\n", sum);
	return 0;
}
END
lizard-cc -g -O0 -o "$T/sum" "$T/sum.c"
echo 12345678901234567890 | lizard-trace -q -o "$T/one" "$T/sum" >"$T/out"
echo 1234x678901234567890 | lizard-trace -q -o "$T/other" "$T/sum" >"$T/out"
lizard diff "$T/one" "$T/other" >"$T/text" 2>"$T/err"
is "$? $(cat "$T/err")" "1 " "runs that differ: status 1"
like "$(cat "$T/text")" '^   1 in digit, .*sum.c:4$' "the branch"
like "$(cat "$T/text")" 'first .* goes on at .*sum.c:6$' "one way"
like "$(cat "$T/text")" 'second .* goes on at .*sum.c:5$' "the other"
like "$(cat "$T/text")" 'stack +digit <- main$' "the stack"
like "$(cat "$T/text")" 'first +event [0-9]+  read\(0, "12345678901234567890\\n", [0-9]+\) = 21$' "the input"
like "$(cat "$T/text")" 'second +event [0-9]+  read\(0, "1234x678901234567890\\n", [0-9]+\) = 21$' "of both"
like "$(cat "$T/text")" 'meet +in digit, first [0-9]+:[0-9,]+, second ' "and where they meet again"
is "$(grep -c ' in digit' "$T/text")" 2 "there is one difference"
lizard diff "$T/one" "$T/one" >"$T/text"
is "$? $(cat "$T/text")" "0 " "the same run: status 0, nothing is printed"

# The instants are where the branch is.
for run in one other; do
	at=$(lizard diff --json "$T/one" "$T/other" | sed -n "s/.*\"$([ $run = one ] && echo first || echo second)\": {\"at\": \"\([^\"]*\)\".*/\1/p")
	got=$(lizard-gdb -nx -batch "$T/$run" -ex "jump_forward $at" -ex "info symbol \$pc" -ex "fs" -ex "print (char)c" 2>"$T/err")
	[ $run = one ] && char=5 || char=x
	like "$got" "^digit" "GDB goes to the instant in $run" || diag "$got $(cat "$T/err")"
	like "$got" "= [0-9]+ '$char'\$" "where the characters differ" || diag "$got $(cat "$T/err")"
done

# ---- runs that end elsewhere ----

cat >"$T/ends.c" <<'END'
#include <stdlib.h>
static volatile int *nowhere;
int main(int argc, char **argv)
{
	int n = 0, last = atoi(argv[1]);
	for (int i = 0; i < 9; i++) {
		n += i;
		if (i == last)
			*nowhere = n;
	}
	*(last < 0 ? nowhere : &n) = argc;
	return n & 1;
}
END
lizard-cc -g -O0 -o "$T/ends" "$T/ends.c"
for last in 5 20 -1; do
	lizard-trace -q -o "$T/ends$last" "$T/ends" "$last" 2>"$T/err"
done
lizard diff "$T/ends5" "$T/ends20" >"$T/text"
is $? 1 "a run that crashed, and one that did not"
like "$(cat "$T/text")" "^argument 1: first .5., second .20.$" "the arguments"
like "$(cat "$T/text")" 'in main, .*ends.c:8$' "the last branch before the crash"
like "$(cat "$T/text")" 'first .* ends at .*ends.c:9: killed by SIGSEGV$' "the line of the crash"
like "$(cat "$T/text")" 'second .* goes on at .*ends.c:6$' "and how the other goes on"
like "$(cat "$T/text")" 'they do not meet again' "they do not meet"
like "$(cat "$T/text")" '^end: first killed by SIGSEGV, second exit status 0$' "how both ended"
lizard diff "$T/ends20" "$T/ends-1" >"$T/text"
is $? 1 "another end is a difference, too"

# ---- what cannot be ----

refused() { # STATUS PATTERN COMMAND...
	wanted=$1 pattern=$2
	shift 2
	"$@" >"$T/out" 2>"$T/err"
	is $? "$wanted" "$*: refused" || diag "$(cat "$T/err")"
	like "$(cat "$T/err")" "$pattern" "... and says why"
	is "$(cat "$T/out")" "" "... with nothing on stdout"
}
refused 2 "usage: lizard diff" lizard diff "$T/one"
refused 2 "no recording|nonesuch" lizard diff "$T/one" "$T/nonesuch"
refused 2 "has no thread 1" lizard diff --thread 1 "$T/one" "$T/other"
refused 2 "takes a number" lizard diff --limit many "$T/one" "$T/other"
refused 2 "usage: lizard coverage" lizard coverage --diff "$T/one"
refused 2 "not with --lines, --lcov" lizard coverage --lcov - --diff "$T/one" "$T/other"
refused 2 "takes ochiai or tarantula" lizard coverage --rank best --diff "$T/one" "$T/other"
lizard-trace -q -o "$T/plain" true >"$T/out"
refused 2 "no instrumented function in common" lizard diff "$T/one" "$T/plain"

# ---- a recording that was cut ----

cp -r "$T/other" "$T/cut"
events=$T/cut/events
truncate -s $(($(stat -c %s "$events") * 2 / 3)) "$events"
lizard diff "$T/one" "$T/cut" >"$T/out" 2>"$T/err"
is $? 1 "a cut recording is compared as far as it goes"
like "$(cat "$T/err")" "cut: this is about a part of the run" "and it is said"
done_testing
