#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record function-call-history and record instruction-history in the patched GDB.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

patched_gdb || skip_all "the patched GDB is not built, or older than the library: make gdb"
prog_build tour || skip_all "no program"
record tour

out=$(gdb_run --patched "$T/tour" <<'END'
break factorial if n == 2
continue
-- here
record function-call-history
-- behind
record function-call-history +
-- all
record function-call-history /c 0,1000000
-- paged
set record function-call-history-size 7
record goto 0
record function-call-history
record function-call-history +
record function-call-history +
record function-call-history +
record function-call-history +
-- back
record function-call-history -
record function-call-history -
-- from
record function-call-history 20,+3
-- up to
record function-call-history 20,-3
-- ranges
record function-call-history /il 12,19
-- late
END
)
all=$(section "$out" all)
calls=$(printf '%s\n' "$all" | sed 's/^[0-9]*\t *//' | tr '\n' ' ')
like "$calls" '^\?\? main add main add main add main add main add main push main push main push main fill main factorial factorial factorial' \
	"one line for each call and each return"
like "$calls" 'factorial main length main \?\? $' "to the end"
like "$(printf '%s\n' "$all" | grep factorial | tr '\n' ' ')" '^72	  factorial 77	    factorial 82	      factorial ' "/c indents"
is "$(printf '%s\n' "$all" | grep -c .)" "$(($(lizard dump --markers "$(ls -d "$T"/recordings/* | head -n 1)" | grep -cE ' (enter|exit)( |$)') + 1))" \
	"as many as the markers tell"
like "$(section "$out" here | head -n 1)" '^87	factorial$' "at first from the present on"
like "$(section "$out" behind)" 'At the end of the recording' "nothing behind the end"
is "$(section "$out" paged | grep '	')" "$(printf '%s\n' "$all" | sed 's/\t */\t/' | head -n 35)" "page after page"
is "$(section "$out" back | sed -n '8p;1p' | sort -n)" "$(section "$out" paged | grep '	' | sed -n '15p;22p')" "and back again"
is "$(section "$out" from | tr '\n' ' ')" "19	main 25	add 26	main " "from a time on"
is "$(section "$out" "up to" | tr '\n' ' ')" "12	main 18	add 19	main " "up to a time"
like "$(section "$out" ranges)" '^18	add	time 18,19	at .*tour\.c$' "/i and /l"

# Each line's number is a time; a call's first one is right behind the marker that its function writes at the start.
printf '%s\n' "$all" | sed 1d | grep -v 'main\|??' | while read -r time _; do printf 'record goto %d\ninfo symbol $pc\n' "$time"; done >"$T/goto"
is "$(gdb_run --patched "$T/tour" <"$T/goto" | sed -n 's/^\([a-z]*\).* in section .*/\1/p')" \
	"$(printf '%s\n' "$all" | sed 1d | grep -v 'main\|??' | sed 's/.*\t *//')" "record goto takes the numbers"

# What stepi shows, forwards, is what the history shows, from either end.
steps=12
cat >"$T/steps.py" <<END
import gdb

gdb.execute("break length")
gdb.execute("continue")
gdb.execute("set record instruction-history-size $steps")
print("-- forward")
gdb.execute("record instruction-history")
print("-- steps")
for i in range($steps):
    gdb.execute("x/i \$pc")
    gdb.execute("stepi", to_string=True)
gdb.execute("reverse-stepi", to_string=True)
print("-- backward")
gdb.execute("record instruction-history -")
print("-- more")
gdb.execute("record instruction-history -")
gdb.execute("when")
print("-- sources")
gdb.execute("record instruction-history /s +")
END
out=$(timeout 120 "$LIZARD_BIN/lizard-gdb" --patched -nx -batch -ex 'set pagination off' -x "$T/steps.py" "$T/tour" 2>&1)
addresses() { section "$out" "$1" | sed -n 's/^-\{0,1\}[0-9]*\t[ =>]*0x0*\([0-9a-f]*\).*/\1/p'; }
truth=$(section "$out" steps | sed -n 's/^=> 0x\([0-9a-f]*\).*/\1/p')
[ "$(printf '%s\n' "$truth" | wc -l)" = $steps ]
ok $? "steps" || diag "$out"
is "$(addresses forward)" "$truth" "instruction-history is what stepi will show"
is "$(addresses backward)" "$truth" "and what it has shown"
like "$(section "$out" backward | tail -n 1)" '^0	=> ' "the present one has the number 0"
like "$(section "$out" more | head -n 1)" "^-$((2 * steps - 1))	" "page by page"
like "$(section "$out" sources)" '51.*strlen' "/s shows source lines"

# By numbers, which are the same ones; only number 0 is marked, however often control comes to its address.
out=$(gdb_run --patched "$T/tour" <<'END'
break factorial if n == 2
continue
set record instruction-history-size 400
-- all
record instruction-history -
record instruction-history +
-- range
record instruction-history 5,9
-- from
record instruction-history 3,+4
-- up to
record instruction-history 1,-4
-- late
END
)
lines() { section "$out" all | grep -E "^-?[0-9]+	" | awk -F'\t' -v a="$1" -v b="$2" '$1 >= a && $1 <= b'; }
is "$(section "$out" range)" "$(lines 5 9)" "a range of numbers"
is "$(section "$out" from)" "$(lines 3 6)" "from a number on"
is "$(section "$out" "up to")" "$(lines -2 1)" "up to a number"
is "$(section "$out" all | grep '=>' | cut -f1)" 0 "one is the present one"
here=$(lines 0 0 | sed 's/.*0x0*\([0-9a-f]*\) .*/\1/')
[ "$(lines -400 400 | grep -c "0x0*$here ")" -gt 1 ]
ok $? "though control comes to its address again"
like "$(echo 'record instruction-history 9,5' | gdb_run --patched "$T/tour")" 'comes before' "a range from its end is refused"
like "$(echo 'record instruction-history 99999999999' | gdb_run --patched "$T/tour")" 'from the present one' "so is one far away"
like "$(echo 'record instruction-history 900000' | gdb_run --patched "$T/tour")" 'ends before instruction 900000' "there is an end"
done_testing
