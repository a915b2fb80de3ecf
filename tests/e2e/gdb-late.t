#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A crash in a loop without markers: arrivals, each of which costs a stop, are only counted when somebody asks.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

LIZARD_CC=gcc prog_build late-crash || skip_all "no program"

# Counted, four million of them would take minutes.
record late-crash 4194304
for how in "-e" ""; do
	out=$([ -n "$how" ] || echo continue; echo 'print sum')
	out=$(printf '%s\n' "$out" | GDB_SECONDS=20 gdb_run $how "$T/late-crash")
	like "$(echo "$out" | tr '\n' ' ')" 'SIGSEGV.* = 12582912 ' "at the crash, ${how:-by continue}: at once" || diag "$out"
done

record late-crash 21504
out=$(gdb_run -e "$T/late-crash" <<END
-- crash
print sum
when
-- back
reverse_watchpoint sum
print sum
jump_forward end
reverse-stepi
when
stepi
when
END
)
like "$(section "$out" crash | tr '\n' ' ')" '= 64512 .*#21505 ' "counted when asked for" || diag "$out"
back=$(section "$out" back)
like "$(echo "$back" | tr '\n' ' ')" 'Old value = 64509 *New value = 64512 .* = 64509 ' "its last change before" || diag "$out"
is "$(echo "$back" | sed -n 's/^position .*#//p' | tr '\n' ' ')" "21505 21505 " "steps back and forth" || diag "$out"
done_testing
