#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Answers from the recorded control flow: calls, coverage, profile. The truth is what gcov and callgrind count of the same
# program and input, and where GDB is.
. "$(dirname "$0")/../lib/tap.sh"

answers=$LIZARD_SRC/tests/lib/answers.py
prog=$T/mixed src=$LIZARD_SRC/tests/progs/answers/mixed.c
export SOURCE=$src
lizard-cc -g -O0 -o "$prog" "$src" -lpthread
ok $? "a program builds" || done_testing
timeout -k 5 60 lizard-trace -q -o "$T/rec" "$prog" 12 >"$T/out"
is $? 0 "and is recorded" || done_testing

# ---- against gcov ----

mkdir "$T/gcov"
(cd "$T/gcov" && $PLAIN_CC -g -O0 --coverage -o mixed "$src" -lpthread && ./mixed 12 >out)
is "$(cat "$T/gcov/out")" "$(cat "$T/out")" "gcov's run does the same"
for what in lines branches functions; do
	out=$(python3 "$answers" $what "$T/rec" "$T/gcov" 2>&1)
	[ "$(printf '%s\n' "$out" | wc -l)" = 1 ] && printf '%s\n' "$out" | grep -Eq '^([1-9][0-9]*) of \1 equal$'
	ok $? "$what are counted as gcov counts them" || diag "$out"
done

# gcov takes each round of a computed goto for a call of the function. Which jumps it gives a line of their own depends on GCC.
for name in dispatch shared-line; do
	small=$LIZARD_SRC/tests/progs/answers/$name.c
	mkdir "$T/gcov-$name"
	lizard-cc -w -g -O0 -o "$T/$name" "$small" && timeout -k 5 60 lizard-trace -q -o "$T/rec-$name" "$T/$name" 12 >"$T/out.$name"
	(cd "$T/gcov-$name" && $PLAIN_CC -w -g -O0 --coverage -o $name "$small" && ./$name 12 | cmp -s - "$T/out.$name")
	ok $? "$name: gcov's run does the same"
	for what in lines branches; do
		out=$(SOURCE=$small python3 "$answers" $what "$T/rec-$name" "$T/gcov-$name" 2>&1)
		[ "$(printf '%s\n' "$out" | wc -l)" = 1 ] && printf '%s\n' "$out" | grep -Eq '^([1-9][0-9]*) of \1 equal$'
		ok $? "$name: $what are counted as gcov counts them" || diag "$out"
	done
done

lizard coverage "$T/rec" >"$T/text"
like "$(cat "$T/text")" '^ *[0-9]+ of +[0-9]+ lines .* 11 of +11 functions .*mixed.c$' "coverage is summed up by file"
calls=$(lizard calls --count "$T/rec" compare)
lizard coverage --lcov - "$T/rec" "$T/rec" >"$T/twice"
like "$(cat "$T/twice")" "^FNDA:$((2 * calls)),compare\$" "recordings are added up"

if command -v genhtml >/dev/null; then
	mkdir "$T/elsewhere"
	(cd "$T/elsewhere" && lizard coverage --html "$T/html" "$T/rec") >"$T/pages" 2>"$T/err"
	is $? 1 "pages show no source from elsewhere"
	like "$(cat "$T/err")" "below .*elsewhere: name the folder .*--sources" "and it is said how"
	lizard coverage --html "$T/html" --sources "$(dirname "$src")" "$T/rec" >"$T/pages" 2>"$T/err"
	is $? 0 "genhtml makes pages" || diag "$(cat "$T/err")"
	like "$(find "$T/html" -name 'mixed.c.gcov.html')" mixed "of the source file"
else
	skip 4 "no genhtml"
fi

# ---- against callgrind ----

if command -v valgrind >/dev/null; then
	$PLAIN_CC -g -O0 -o "$T/plain" "$src" -lpthread
	valgrind -q --tool=callgrind --callgrind-out-file="$T/callgrind" "$T/plain" 12 >"$T/out.plain" 2>"$T/err"
	is "$(cat "$T/out.plain")" "$(cat "$T/out")" "callgrind's run does the same" || diag "$(cat "$T/err")"
	out=$(COROUTINES=coroutine python3 "$answers" calls "$T/rec" "$T/callgrind" 2>&1)
	[ "$(printf '%s\n' "$out" | wc -l)" = 1 ] && printf '%s\n' "$out" | grep -Eq '^([1-9][0-9]*) of \1 equal$'
	ok $? "callers and callees are counted as callgrind counts them" || diag "$out"
	lizard profile --callgrind "$T/profile" "$T/rec" && callgrind_annotate "$T/profile" >"$T/annotated" 2>&1
	ok $? "callgrind_annotate reads a profile"
	like "$(cat "$T/annotated")" 'mixed.c:fibonacci' "and shows its functions"
else
	skip 4 "no valgrind"
fi
total=$(lizard profile --top 0 --json "$T/rec" | sed -n 's/.*"self": \([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n }')
is "$(lizard profile --folded - "$T/rec" | awk '{ n += $NF } END { print n }')" "$total" "chains and functions have the same sum"
like "$(lizard profile --folded - "$T/rec")" '^main;sort;compare [0-9]+$' "a callback hangs on who was active"

# What a thread wrote before its turn ended is its own, wherever that was.
lizard-cc -g -O0 -pthread -o "$T/locks" "$LIZARD_SRC/tests/progs/chaos/three_locks.c" && lizard-trace -q --chaos=5 -o "$T/rec-locks" "$T/locks" >/dev/null
lizard dump --markers --json "$T/rec-locks" | perl -MJSON::PP -ne '
	$m = decode_json $_;
	$n{$f} += $m->{offset} - $at if defined $f;
	($f, $at) = @$m{qw(function offset)};
	END { $n{$f}++; print "$_ $n{$_}\n" for sort keys %n }' >"$T/truth"
lizard profile --top 0 "$T/rec-locks" | awk 'NR > 1 { print $4, $2 }' | sort >"$T/got"
[ "$(wc -l <"$T/truth")" = 2 ] && cmp -s "$T/got" "$T/truth"
ok $? "each thread's markers are its functions'" || diag "$(diff "$T/got" "$T/truth")"

# ---- the tree ----

# Who is entered in which order, as GCC's own hooks tell.
cat >"$T/hooks.c" <<END
#include <pthread.h>
#include <stdio.h>
static pthread_t first;
__attribute__((no_instrument_function, constructor)) static void begin(void) { first = pthread_self(); }
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *site)
{ if (pthread_equal(pthread_self(), first)) fprintf(stderr, "%016lx\\n", (unsigned long)f); (void)site; }
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *site) { (void)f, (void)site; }
END
$PLAIN_CC -g -O0 -no-pie -finstrument-functions -o "$T/hooked" "$src" "$T/hooks.c" -lpthread
"$T/hooked" 12 >/dev/null 2>"$T/entered"
nm "$T/hooked" | awk 'NR == FNR { name[$1] = $3; next } { print name[$1] }' - "$T/entered" >"$T/wanted"
tid=$(lizard calls --by thread "$T/rec" main | awk '{ print $3 }')
lizard tree -t "$tid" "$T/rec" >"$T/tree"
awk '{ print $1 }' "$T/tree" >"$T/got"
[ -s "$T/wanted" ] && cmp -s "$T/got" "$T/wanted"
ok $? "the tree has all calls in their order" || diag "$(diff "$T/got" "$T/wanted" | head -n 5)"
lizard tree -t "$tid" --fold --json "$T/rec" >"$T/folded"
python3 "$LIZARD_SRC/tests/lib/unfold.py" "$T/folded" >"$T/unfolded"
sed 's/  [0-9:,]*$//' "$T/tree" | cmp -s - "$T/unfolded"
ok $? "folded, it is the same" || diag "$(sed 's/  [0-9:,]*$//' "$T/tree" | diff - "$T/unfolded" | head -n 5)"
[ "$(wc -l <"$T/folded")" -lt $(($(wc -l <"$T/tree") / 4)) ]
ok $? "and much shorter"
cat >"$T/leaves.c" <<END
#include <pthread.h>
static void leave(void) { pthread_exit(NULL); }
static void *begin(void *arg) { leave(); return arg; }
int main(void) { pthread_t th; return pthread_create(&th, NULL, begin, NULL) || pthread_join(th, NULL); }
END
lizard-cc -g -O0 -o "$T/leaves" "$T/leaves.c" -lpthread && lizard-trace -q -o "$T/rec-leaves" "$T/leaves"
is "$(lizard tree "$T/rec-leaves" | sed 's/  [0-9:,]*$//' | tr '\n' ',')" "main,begin,  leave," "calls of all threads are there, in the order of time"
is "$(lizard tree --root sort --depth 1 "$T/rec" | awk '{ print $1 }')" sort "a root, and one level"
is "$(lizard tree --limit 3 "$T/rec" | wc -l)" 3 "a limit"
like "$(lizard tree --root jumps --dot - "$T/rec")" 'n[0-9]+ -> n[0-9]+ \[label="[0-9]+"\];' "a graph for Graphviz"

lizard tree --trace "$T/trace" "$T/rec"
out=$(python3 "$LIZARD_SRC/tests/lib/trace_events.py" "$T/trace" "$T/rec" 2>&1)
is "$?" 0 "trace events are well formed, nested, and have each call and event" || diag "$out"
lizard tree --trace - --depth 1 "$T/rec" >"$T/trace"
is "$(grep -c '"cat": "call"' "$T/trace")" "$(lizard tree --depth 1 "$T/rec" | wc -l)" "as deep as is wished"

is "$(lizard calls -c "$T/rec" coroutine) $(lizard profile --top 0 "$T/rec" | awk '$4 == "coroutine" { print $1 }')" "1 1" "a coroutine that comes back is no call"

# ---- paths ----

out=$(python3 "$LIZARD_SRC/tests/lib/paths.py" "$T/rec" 'main > fibonacci' 'main >> fibonacci > fibonacci' \
	'fibonacci >> fibonacci >> fibonacci' 'main > compare without sort' 'main > fibonacci without fibonacci' \
	'jumps > thrower without fibonacci' 'fibonacci then compare' 'sort then jumps > thrower then finish' 2>&1)
[ "$(printf '%s\n' "$out" | wc -l)" = 1 ] && printf '%s\n' "$out" | grep -Eq '^[1-9][0-9]{3,} calls, 0 wrong$'
ok $? "paths are those of a search that tries all choices" || diag "$out"
is "$(lizard grep -c "$T/rec" 'main > fibonacci')" "$(lizard calls -c "$T/rec" fibonacci)" "their number"
is "$(lizard grep --limit 2 "$T/rec" 'main > fibonacci' | wc -l)" 2 "a limit of their list"
like "$(lizard grep "$T/rec" 'jumps > thrower' | sed -n 2p)" '^ *2  [0-9]+:[0-9,]+  from [0-9]+:[0-9,]+  length [0-9]+  jumps > thrower > thrower$' \
	"a line of it"

# ---- each call ----

lizard calls "$T/rec" fibonacci >"$T/list"
is "$(wc -l <"$T/list")" "$(lizard calls -c "$T/rec" fibonacci)" "each call has a line"
is "$(lizard calls --by caller "$T/rec" fibonacci | awk '{ print $2 ": " $1 }' | sort | tr '\n' ' ')" \
	"fibonacci: 464 main: 1 " "callers are told apart"
is "$(lizard calls --by thread "$T/rec" classify | awk '{ print $1 }' | sort -n | tr '\n' ' ')" "11 18 22 " "and so are threads"
like "$(lizard calls "$T/rec" thrower)" 'unwound$' "longjmp unwinds calls"
is "$(lizard calls "$T/rec" thrower | grep -c 'unwound$')" "$(lizard calls -c "$T/rec" thrower)" "all of them"
like "$(lizard calls "$T/rec" finish main)" 'finish  from main .*cut off$' "a call that exits does not return"
is "$(lizard calls --longest 1 --json "$T/rec" fibonacci | grep -o '"number": [0-9]*')" '"number": 1' "the longest call of a recursion is its first"
is "$(lizard calls --limit 2 "$T/rec" fibonacci | wc -l)" 2 "a limit holds"
is "$(lizard calls --to 0% "$T/rec" fibonacci 2>&1; echo $?)" "0" "no call is no failure"

# A call's beginning is where GDB finds it, with its argument: the seventh call has the seventh argument of the recursion.
at=$(lizard calls --json "$T/rec" fibonacci | sed -n '7s/.*"from": "\([^"]*\)".*/\1/p')
wanted=$(lizard-gdb -nx -batch "$T/rec" -ex "break fibonacci" -ex "ignore 1 6" -ex continue -ex "print n" 2>/dev/null | sed -n 's/^\$1 = //p')
got=$(lizard-gdb -nx -batch "$T/rec" -ex "jump_forward $at" -ex "info symbol \$pc" -ex fs -ex "print n" 2>"$T/err")
like "$got" '^fibonacci' "an activation's instant is in its function" || diag "$got $(cat "$T/err")"
like "$got" "= $wanted\$" "in that activation" || diag "$got $(cat "$T/err")"

# ---- names of C++ ----

lizard-c++ -g -O0 -o "$T/names" "$LIZARD_SRC/tests/progs/answers/names.cc" && lizard-trace -q -o "$T/rec-names" "$T/names" >/dev/null
while read -r count name; do
	is "$(lizard calls -c "$T/rec-names" "$name")" "$count" "$name"
done <<END
9 Shape::area
9 (anonymous namespace)::Shape::area
5 Shape::area() const
4 Shape::area(int) const
3 most<int>
1 most<long>
2 Shape::operator()
8 operator+=
7 helper
1 main::{lambda(int)#1}::operator()
5 _ZNK12_GLOBAL__N_15Shape4areaEv
END
is "$(lizard hits -c "$T/rec-names" Shape::area) $(lizard tree --root helper --depth 1 "$T/rec-names" | wc -l) $(lizard grep -c "$T/rec-names" 'main > Shape::area')" \
	"9 1 9" "... for other commands, too"
is "$(lizard profile "$T/rec-names" | awk '$1 == 3' | sed 's/.*  //')" "(anonymous namespace)::most<int>" "a profile shows the short one"
is "$(lizard profile --json "$T/rec-names" | grep -c '"_ZNK12_GLOBAL__N_15Shape4areaEi"')" 1 "... and in JSON the linker's"
is "$(lizard profile --callgrind - "$T/rec-names" | grep -c '^fn=([0-9]*) (anonymous namespace)::Shape::area(int) const$')" 1 "exports have it with its parameters"
is "$(lizard calls --names "$T/rec-names" | grep -c '::Shape::area$')" 1 "a list has each name once"
like "$(lizard tree "$T/rec-names")" '::most<long>  [0-9]' "a tree"

# ---- pieces ----

part() {
	lizard calls --count "$@" "$T/rec" fibonacci
}
is "$(($(part --to 30%) + $(part --from 30%)))" "$(part)" "two pieces have all calls"
[ "$(part --to "$at")" = 7 ]
ok $? "a piece ends at an instant" || diag "$(part --to "$at")"
tid=$(lizard calls --by thread "$T/rec" classify | awk '$1 == 22 { print $3 }')
is "$(lizard calls -c -t "$tid" "$T/rec" classify)" 22 "one thread is asked about"

# ---- what cannot be ----

refused() { # STATUS PATTERN COMMAND...
	wanted=$1 pattern=$2
	shift 2
	"$@" >"$T/out" 2>"$T/err"
	is $? "$wanted" "$*: refused" || diag "$(cat "$T/err")"
	like "$(cat "$T/err")" "$pattern" "... and says why"
	is "$(cat "$T/out")" "" "... with nothing on stdout"
}
refused 1 "no instrumented function has the name nonesuch: it may have been inlined" lizard calls "$T/rec" nonesuch
refused 1 "is no instant" lizard calls --from yesterday "$T/rec" main
refused 1 "has no thread 1" lizard calls --thread 1 "$T/rec" main
refused 2 "takes a number" lizard calls --limit many "$T/rec" main
refused 2 "takes caller or thread" lizard calls --by colour "$T/rec" main
refused 2 "longest counts from 1" lizard calls --longest 0 "$T/rec" main
refused 2 "usage: lizard calls" lizard calls "$T/rec"
refused 2 "usage: lizard coverage" lizard coverage
refused 2 "are for --diff" lizard coverage --top 3 "$T/rec"
refused 2 "is for --html" lizard coverage --sources . "$T/rec"
refused 2 "not with --lcov" lizard coverage --lines --lcov - "$T/rec"
refused 1 "30% is before --from 60%" lizard calls --from 60% --to 30% "$T/rec" fibonacci
refused 1 "name fibonaci: did you mean fibonacci" lizard calls "$T/rec" fibonaci
refused 1 "name COMPARE: did you mean compare" lizard grep "$T/rec" 'main > COMPARE'
refused 1 "name xyzzy: .*--names. lists" lizard tree --root xyzzy "$T/rec"
refused 1 "name Shape::aera: did you mean .*Shape::area" lizard hits "$T/rec-names" Shape::aera
refused 1 "has the name nonesuch" lizard tree --root nonesuch "$T/rec"
refused 1 "no instrumented function has the name f>g" lizard grep "$T/rec" 'f>g'
refused 1 "wants a function at its end" lizard grep "$T/rec" 'main >'
refused 1 "does not go on with .sort" lizard grep "$T/rec" 'main sort'
refused 2 "not with --root" lizard tree --trace - --fold "$T/rec"
refused 1 "cannot write" lizard profile --folded "$T/none/x" "$T/rec"
refused 1 "lizard-nonesuch|no recording|nonesuch" lizard profile nonesuch

# ---- a recording that was cut ----

cp -r "$T/rec" "$T/cut"
markers=$(ls "$T/cut"/markers-*)
size=$(stat -c %s "$markers")
truncate -s $((size * 2 / 3)) "$markers"
lizard calls --count "$T/cut" fibonacci >"$T/out" 2>"$T/err"
is $? 0 "a cut recording answers"
[ "$(cat "$T/out")" -le "$(part)" ]
ok $? "about what is left"
like "$(cat "$T/err")" "cut: this is about a part of the run" "and says so"
lizard coverage "$T/cut" "$T/rec" >/dev/null 2>"$T/err"
like "$(cat "$T/err")" "cut: this is about a part of the run" "of several recordings, too"
done_testing
