#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# When control was at a line, read from the markers. The truth is what breakpoints count in a plain GDB, and where jumps lead.
. "$(dirname "$0")/../lib/tap.sh"

progs=$LIZARD_SRC/tests/progs/answers

# Each line that breakpoints know, without optimization and with it. A program's line is asked for in one of its functions.
compare() { # NAME OPT ARGUMENT LINE...
	name=$1 opt=$2 argument=$3
	shift 3
	prog=$T/$name$opt
	lizard-cc -g "$opt" -o "$prog" "$progs/$name.c" -lpthread
	timeout -k 5 60 lizard-trace -q -o "$T/rec-$name$opt" "$prog" "$argument" >/dev/null
	SOURCE=$progs/$name.c ARGUMENTS=$argument ONLY="$*" gdb -nx -batch -x "$LIZARD_SRC/tests/lib/breakpoint_counts.py" "$prog" \
		2>"$T/err" | sed -n 's/^COUNT //p' >"$T/truth"
	while read -r line count; do
		echo "$line $(lizard hits --count "$T/rec-$name$opt" "$name.c:$line" 2>>"$T/err.hits")"
	done <"$T/truth" >"$T/got"
	[ "$(wc -l <"$T/truth")" = $# ] && cmp -s "$T/got" "$T/truth"
	ok $? "$name $opt: lines are counted as breakpoints count" || diag "$(diff "$T/got" "$T/truth")$(tail -n 3 "$T/err" "$T/err.hits")"
}
for opt in -O0 -O2; do
	compare mixed $opt 12 20 21 28 43 50 54 61 62 72 78 81 91 101 108
	compare places $opt 100 12 18 20 22 28 37 50 53 57 69 71 83 84 86 91
done

# computed gotos, in a function that nothing jumps into from elsewhere
compare dispatch -O0 12 38 42 43 45 46 47 49

# ---- each hit ----

# Jumps there in one session: where is control then?
jumps() { # REC PLACE...
	rec=$1
	shift
	for place in "$@"; do
		lizard hits --json --limit 12 "$rec" "$place"
	done 2>/dev/null | sed -n 's/.*"address": "\([^"]*\)".*"position": "\([^"]*\)", "exact": true.*/\1 \2/p' >"$T/wanted"
	sed 's/.* \(.*\)/jump_forward \1\nprintf "AT 0x%lx\\n", $pc/' "$T/wanted" >"$T/jumps.gdb"
	lizard-gdb -nx -batch "$rec" -ex "set pagination off" -x "$T/jumps.gdb" 2>"$T/err" | sed -n 's/^AT //p' >"$T/at"
	sed 's/ .*//' "$T/wanted" | cmp -s - "$T/at" && [ "$(wc -l <"$T/at")" -gt 20 ]
}
for opt in -O0 -O2; do
	jumps "$T/rec-places$opt" places.c:12 places.c:20 places.c:37 places.c:53 words
	ok $? "$opt: jumps to positions lead there" || diag "$(sed 's/ .*//' "$T/wanted" | diff - "$T/at" | head) $(tail -n 3 "$T/err")"
done
lizard-cc -g -O0 -o "$T/row" "$progs/row.c" && lizard-trace -q -o "$T/rec-row" "$T/row"
jumps "$T/rec-row" row.c:9 row.c:10 row.c:11 row.c:12 row.c:13 row.c:14 row.c:15
ok $? "between calls in a row" || diag "$(sed 's/ .*//' "$T/wanted" | diff - "$T/at" | head) $(tail -n 3 "$T/err")"
rec=$T/rec-mixed-O0
jumps "$rec" mixed.c:22 mixed.c:62 mixed.c:78 mixed.c:101 compare
ok $? "of threads, coroutines and recursions, too" || diag "$(sed 's/ .*//' "$T/wanted" | diff - "$T/at" | head) $(tail -n 3 "$T/err")"

is "$(lizard hits -c "$rec" fibonacci)" "$(lizard calls -c "$rec" fibonacci)" "a function is come to as often as it is called"
addr=$(lizard hits --json --first "$rec" mixed.c:21 | sed 's/.*"address": "\([^"]*\)".*/\1/')
is "$(lizard hits -c "$rec" "*$addr")" "$(lizard hits -c "$rec" mixed.c:21)" "an address"
all=$(lizard hits -c "$rec" mixed.c:22)
lizard hits "$rec" mixed.c:22 >"$T/list"
is "$(wc -l <"$T/list")" "$all" "each has a line"
is "$(lizard hits --first "$rec" mixed.c:22)" "$(head -n 1 "$T/list")" "--first"
is "$(lizard hits --last "$rec" mixed.c:22)" "$(tail -n 1 "$T/list")" "--last"
is "$(lizard hits --nth 99 "$rec" mixed.c:22)" "$(sed -n 99p "$T/list")" "--nth"
is "$(lizard hits --limit 5 "$rec" mixed.c:22)" "$(head -n 5 "$T/list")" "--limit"
is "$(($(lizard hits -c --to 30% "$rec" mixed.c:22) + $(lizard hits -c --from 30% "$rec" mixed.c:22)))" "$all" "two pieces have all"
sum=0
for tid in $(lizard calls --by thread "$rec" classify | awk '{ print $3 }'); do
	sum=$((sum + $(lizard hits -c -t "$tid" "$rec" mixed.c:48)))
done
is "$sum" "$(lizard hits -c "$rec" mixed.c:48)" "threads add up"

# ---- what cannot be ----

cat >"$T/other.c" <<END
int other(int x);
int other(int x) { return x + 1; }
END
$PLAIN_CC -g -c -o "$T/other.o" "$T/other.c"
printf 'int other(int x);\nint main(int argc, char **argv)\n{\n\t(void)argv;\n\treturn other(argc) - 2;\n}\n' >"$T/own.c"
lizard-cc -g -o "$T/own" "$T/own.c" "$T/other.o" && lizard-trace -q -o "$T/rec-own" "$T/own"
refused() { # STATUS PATTERN COMMAND...
	wanted=$1 pattern=$2
	shift 2
	"$@" >"$T/out" 2>"$T/err"
	is $? "$wanted" "$*: refused" || diag "$(cat "$T/err")"
	like "$(cat "$T/err")" "$pattern" "... and says why"
	is "$(cat "$T/out")" "" "... with nothing on stdout"
}
refused 1 "lizard-cc did not compile .*not known how often" lizard hits "$T/rec-own" other.c:2
refused 1 "no code of mixed.c:4000 is known" lizard hits "$rec" mixed.c:4000
refused 1 "no instrumented function has the name nonesuch" lizard hits "$rec" nonesuch
refused 1 "no code of a file was ever at" lizard hits "$rec" '*0x10'
refused 1 "is no address" lizard hits "$rec" '*main'
refused 1 "no number 2: control came there 1 time$" lizard hits --nth 2 "$rec" main
refused 2 "takes a number" lizard hits --nth x "$rec" main
refused 2 "usage: lizard hits" lizard hits --first --last "$rec" main
lizard hits -c "$rec" mixed.c:1 >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" "has no code of its own: this is about line 15" "a line without code"
done_testing
