#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Marks of the program's own: <lizard.h>. The truth is what the program was to mark, and where GDB is.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

source=$LIZARD_SRC/tests/progs/gdb/marks.c
lizard-cc -g -O0 -Wall -Wextra -Werror -o "$T/marks" "$source" -lpthread
is $? 0 "lizard-cc finds <lizard.h>" || done_testing
include=$(dirname "$(command -v lizard-cc)")/../include
gcc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I"$include" -o "$T/plain" "$source" -lpthread
is $? 0 "and so does plain GCC"
printf '#include <lizard.h>\nint main() { lizard_mark("%%d", 1); return lizard_recording(); }\n' >"$T/plus.cc"
g++ -std=c++11 -Wall -Wextra -Werror -I"$include" -o "$T/plus" "$T/plus.cc"
is $? 0 "it is C++ as well"

# ---- not recorded ----

is "$("$T/marks")" "recording 0, errno 7
child 4
unreadable -9, too long -9" "not recorded, nothing happens"
"$T/plus"
is $? 0 "... in C++ neither"

# ---- recorded ----

texts='request 0
request 1
request 2
request 3
request 4
in a thread
x1000
\x1b[31mred\x0a\x09next line
x1000
last of all'
texts() {
	lizard marks "$@" | sed 's/^ *[0-9]*  [^ ]*  //' | awk '/^x+$/ { $0 = "x" length($0) } { print }'
}

recorded() { # PROGRAM NAME [OPTION]...
	local prog=$1 name=$2
	shift 2
	lizard-trace -q --follow all "$@" -o "$T/$name.rec" "$prog" >"$T/out" 2>"$T/err"
	is "$(cat "$T/out")" "recording 1, errno 7
child 3
unreadable -14, too long 1000" "$name: the program knows that it is recorded" || diag "$(cat "$T/err")"
	is "$(texts "$T/$name.rec")" "$texts" "$name: the marks"
	is "$(lizard marks "$T/$name.rec" | awk '{ print $1 }' | tr '\n' ' ')" "1 2 3 4 5 6 7 8 9 10 " "$name: their numbers"
	child=$(lizard ps --json "$T/$name.rec" | sed -n 's/.*"pid": \([0-9]*\).*/\1/p' | tail -n 1)
	is "$(texts -p "$child" "$T/$name.rec")" "in a child" "$name: a child's"
	lizard verify -q -a "$T/$name.rec" 2>"$T/err"
	is $? 0 "$name: verify" || diag "$(cat "$T/err")"
}
recorded "$T/marks" marked
recorded "$T/plain" unmarked
recorded "$T/marks" stopped --calls=stop

# Many are made without a stop, as the first ones of a place are not.
LIZARD_DEBUG=1 lizard-trace -q -o "$T/many.rec" "$T/marks" 20000 >/dev/null 2>"$T/err"
is "$(lizard marks "$T/many.rec" | wc -l)" 20040 "many"
is "$(texts --grep '^[0-9]+$' --last 1 "$T/many.rec")" 19999 "the last that matches"
fast=$(sed -n 's/.*: without a stop: write \([0-9]*\).*/\1/p' "$T/err")
[ "${fast:-0}" -gt 39000 ]
ok $? "nearly all without a stop" || diag "$(grep -i stop "$T/err")"
lizard verify -q "$T/many.rec"
is $? 0 "verify"

# ---- which of them ----

rec=$T/marked.rec
is "$(lizard marks --grep 'request [13]' "$rec" | awk '{ print $1 }' | tr '\n' ' ')" "2 4 " "a pattern"
is "$(texts --limit 2 "$rec")" "request 0
request 1" "a limit"
is "$(lizard marks --last 2 "$rec" | awk '{ print $1 }' | tr '\n' ' ')" "9 10 " "the last two"
second=$(lizard marks --limit 2 "$rec" | awk 'NR == 2 { print $2 }')
is "$(lizard marks --from "$second" "$rec" | awk '{ print $1 }' | tr '\n' ' ')" "3 4 5 6 7 8 9 10 " "from an instant on"
is "$(lizard marks --to "$second" "$rec" | awk '{ print $1 }' | tr '\n' ' ')" "1 2 " "up to an instant"
tid=$(lizard marks --json --grep thread "$rec" | sed 's/.*"thread": \([0-9]*\).*/\1/')
is "$(texts --thread "$tid" "$rec")" "in a thread" "a thread's"
lizard marks --grep '(' "$rec" >"$T/out" 2>"$T/err"
is "$? $(wc -c <"$T/out")" "2 0" "what is no pattern is refused"

# ---- other answers ----

is "$(lizard strace --no-positions -e lizard_mark --limit 2 "$rec" | tr -s ' ')" 'lizard_mark("request 0") = 9
lizard_mark("request 1") = 9' "strace names them"
is "$(lizard output --no-stacks "$rec" | grep -c request)" 0 "they are no output"
is "$(lizard timeline --json "$rec" | python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
print(sum(row["marks"] for row in rows), sum(row["calls"].get("write", 0) for row in rows))')" "10 1" "the timeline counts them apart from calls"
lizard tree --trace "$T/trace" "$rec"
is "$(grep -c '"cat": "mark"' "$T/trace")" 10 "Perfetto gets them"
for who in one two; do
	lizard-trace -q -o "$T/$who.rec" "$T/marks" 0 $who >/dev/null
done
is "$(lizard diff --json "$T/one.rec" "$T/two.rec" | grep -c '"lizard_mark"')" 0 "diff does not take them for inputs"

# ---- in GDB ----

set --
while read -r command; do
	set -- "$@" -ex "$command"
done <<'END'
echo -- begin\n
when
jump_forward mark request [13]
echo -- forward\n
when
up
up
print n
jump_forward mark request
frame function serve
print n
echo -- written\n
frame function lizard_mark
last text
backtrace
jump_forward end
echo -- end\n
when
jump_backward mark ^request
frame function serve
print n
echo -- again\n
jump_backward mark ^request
frame function serve
print n
echo -- none\n
jump_backward mark nothing of that kind
jump_backward mark in a thread
frame function serve
echo -- info\n
info marks request
echo -- complete\n
complete jump_backward m
END
out=$(gdb_run "$rec" "$@" </dev/null)
is "$(section "$out" begin | grep -c 'behind mark')" 0 "before the first one"
like "$(section "$out" begin)" '^Mark 2: request 1$' "jump_forward says which"
like "$(section "$out" forward)" "^position $(printf %s "$second" | sed 's/[.#@]/\\&/g')\$" "... and goes there"
like "$(section "$out" forward)" '^behind mark 2: request 1$' "when names it"
is "$(section "$out" forward | sed -n 's/^\$[0-9]* = //p' | tr '\n' ' ')" "1 2 " "the caller is the right one, and the next one's"
like "$(section "$out" written)" '(vsnprintf|lizard_mark) \(' "what is marked was written by the program"
is "$(section "$out" written | grep -c 'by .*write')" 0 "... and not by the mark" || diag "$(section "$out" written)"
like "$(section "$out" end)" '^behind mark 10: last of all$' "at the end it is the last one"
is "$(section "$out" end | sed -n 's/^\$[0-9]* = //p')" 4 "back to the last that matches"
is "$(section "$out" again | sed -n 's/^\$[0-9]* = //p')" 3 "... and to the one before"
like "$(section "$out" none)" '^No mark that matches "nothing of that kind" was made before\.$' "none: said"
like "$(section "$out" none)" '^No mark that matches "in a thread" was made before\.$' "one that comes later, too"
like "$(section "$out" none)" 'serve \(n=3\)' "... and it stays"
is "$(section "$out" info | grep -c '^ *[0-9]*  [0-9]*:.*  request [0-4]$')" 5 "info marks"
like "$(section "$out" complete)" '^jump_backward mark$' "completed"

# ---- GDB's own names for points ----

set --
while read -r command; do
	set -- "$@" -ex "$command"
done <<'END'
jump_forward mark request 2
bookmark the third
jump_forward end
goto-bookmark 1
echo -- there\n
when
goto-bookmark start
echo -- start\n
when
info bookmarks
delete bookmark
echo -- deleted\n
info points
END
out=$(gdb_run "$rec" "$@" </dev/null)
like "$(section "$out" there)" '^behind mark 3: request 2$' "goto-bookmark"
like "$(section "$out" start)" '^1  .*  the third$' "info bookmarks"
like "$(section "$out" deleted)" '^No points\.$' "delete bookmark forgets all"

# ---- a part of the run ----

lizard-trace -q --keep-part last --max-size 3M -o "$T/last.rec" "$T/marks" 30000 >/dev/null 2>&1
is "$(texts --last 1 "$T/last.rec")" "last of all" "of a recording that keeps its last part"
done_testing
