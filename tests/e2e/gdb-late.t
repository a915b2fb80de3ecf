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

# Without markers a change has no place but by stops: it is found without stopping at all of them.
resumes() {
	echo "$1" | sed -n 's/.*lizard: replayed processes were resumed \([0-9]*\) times$/\1/p' |
		awk '{ n += $1 } END { if (NR) print n }'
}

values() {
	section "$1" "$2" | sed -n 's/^\(Old\|New\) value = //p; s/^\$[0-9]* = //p' | tr '\n' ' '
}

n=2097152
record late-crash $n
for front_end in --stock --patched; do
	if [ $front_end = --patched ] && ! patched_gdb; then
		skip "the patched GDB" "not built, or older than the library: make gdb"
		continue
	fi
	out=$(LIZARD_DEBUG=1 GDB_SECONDS=60 gdb_run $front_end -e "$T/late-crash" <<-END
		-- last
		reverse_watchpoint sum
		-- before
		reverse_watchpoint sum
		-- forward
		watch sum
		continue
		continue
		delete
		-- undone
		undo-move
		print sum
		undo-move
		print sum
		redo-move
		print sum
		-- stepped
		stepi
		print sum
		reverse_watchpoint sum
		-- break
		break late-crash.c:12
		reverse-continue
		reverse-continue
		print i
		continue
		print i
		delete
		-- jump
		jump_backward late-crash.c:12
		print i
		next
		print i
		jump_backward fill
		undo-move
		print sum
	END
	)
	last=$((3 * n)) earlier=$((3 * n - 3)) first=$((3 * n - 6))
	is "$(values "$out" last)" "$earlier $last " "the last of $n changes, $front_end" || diag "$out"
	is "$(values "$out" before)" "$first $earlier " "... and the one before"
	is "$(values "$out" forward)" "$first $earlier $earlier $last " "... as GDB sees them forwards"
	is "$(values "$out" undone)" "$earlier $first $earlier " "undo-move and redo-move"
	is "$(values "$out" stepped)" "$earlier $first $earlier " "stepi from such a place, and back"
	is "$(values "$out" break)" "$((n - 3)) $((n - 2)) " "the last arrivals at a breakpoint" || diag "$out"
	is "$(values "$out" jump)" "$((n - 3)) $((n - 3)) $first " "jumps from there"
	times=$(resumes "$out")
	if [ "$times" ]; then
		ok $((times >= n / 4)) "in $times stops" || diag "$out"
	else # GDB was gone before it was told, on a busy machine
		skip "the number of stops" "it was not told"
	fi
done

# Its name is counted when asked for, and leads back there.
record late-crash 6144
out=$(gdb_run -e "$T/late-crash" <<END
reverse_watchpoint sum
-- named
print sum
when
python place = gdb.execute("when", to_string=True).split("position ")[1].split()[0]
-- again
jump_forward start
python gdb.execute("jump_forward " + place)
print sum
when
END
)
like "$(section "$out" named | tr '\n' ' ')" '= 18429 .*#6144 ' "the place of the last change is counted" || diag "$out"
is "$(section "$out" again | grep '^position')" "$(section "$out" named | grep '^position')" "... and found by its position"
is "$(values "$out" again)" "18429 " "... where the value is the same"
done_testing
