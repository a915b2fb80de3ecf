#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# flowback: values whose origins are planted in tests/progs/gdb/origins.c.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

source=$LIZARD_SRC/tests/progs/gdb/origins.c
names="constant sum call parameter struct large realloc stack read argument environment address file zero unset"

# A link a line: FUNCTION {SOURCE LINE} WHAT, without addresses and instructions.
links() {
	section "$1" "$2" | awk -v source="$source" '
		BEGIN { while ((getline line < source) > 0) { sub(/^[\t ]+/, "", line); text[++n] = line } }
		/^ *[0-9]+  / {
			sub(/^ *[0-9]+  /, "")
			gsub(/ ?(in|by) `[^`]*`/, "")
			gsub(/\*0x[0-9a-f]+/, "*ADDRESS")
			gsub(/0x[0-9a-f]+/, "ADDRESS")
			if (match($0, /^[a-z_0-9]+, origins\.c:[0-9]+: /)) {
				place = substr($0, 1, RLENGTH)
				rest = substr($0, RLENGTH + 1)
				name = place; sub(/,.*/, "", name)
				line = place; gsub(/.*c:|: $/, "", line)
				print name " {" text[line] "} " rest
			} else if (match($0, /: (copied|from|never|the|made|written)/))
				print "library {} " substr($0, RSTART + 2)
			else
				print
		}'
}

all() {
	echo "jump_forward origins.c:$(grep -n 'CHECK \*/$' "$source" | cut -d: -f1)"
	for name in $names; do
		echo "-- $name"
		echo "flowback from_$name"
	done
	cat <<-"END"
		-- stays
	
		bt 1
		-- sum
		flowback from_sum
		-- follow
		flowback 1
		-- bad
		python
		for wrong in "flowback 7", "flowback-goto 77", "flowback 5", "flowback from_sum + 1", "flowback":
		    try:
		        gdb.execute(wrong)
		    except gdb.error as why:
		        print(why)
		end
		-- goto
		flowback from_sum
		flowback-goto 3
		-- register
		flowback $rdi
		-- tree
		undo-move
		flowback -all from_sum
		-- dot
		flowback -all 2 --dot from_sum
		-- why
		jump_forward end
		jump_backward last_of
		finish
		bs
		flowback -why
	END
}

"${LIZARD_CC:-$LIZARD_BIN/lizard-cc}" -g -O0 "$source" -o "$T/origins" && record origins || skip_all "no program"
out=$(all | GDB_SECONDS=580 gdb_run "$T/origins")
is "$(links "$out" constant)" 'pass {return kept;} copied from kept = 41
pass {int kept = n;} copied from n = 41
constant {from_constant = pass(n);} copied from n = 41
constant {int n = 41;} the constant 41' "a constant, through an argument and a return value"
is "$(links "$out" sum | head -3)" 'pass {return kept;} copied from kept = 6
pass {int kept = n;} copied from n = 6
sum {from_sum = pass(a + b);} made of b = 5, a = 1' "a sum, with the names of what was added"
is "$(links "$out" call)" 'pass {return kept;} copied from kept = 7
pass {int kept = n;} copied from n = 7
seven {return 7;} the constant 7' "what a function returned"
is "$(links "$out" parameter)" 'pass {return kept;} copied from kept = 2
pass {int kept = n;} copied from n = 2
pass {return kept;} copied from kept = 2
pass {int kept = n;} copied from n = 2
calls {from_parameter = pass(pass(n));} copied from n = 2
twice {return n + n;} made of n = 1' "through three calls"
is "$(links "$out" struct)" 'structs {from_struct = pairs[1].second;} copied from pairs[1].second = 123456
structs {pairs[1] = p;} copied from p.second = 123456
structs {struct pair p = {3, n};} copied from n = 123456
main {structs(123456);} the constant 123456' "a struct that was assigned"
is "$(links "$out" large)" 'structs {from_large = l.v[7];} copied from l.v[7] = 123456
structs {memcpy(&l, &copied, sizeof l);} copied from copied.v[7] = 123456
structs {copied = l;} copied from l.v[7] = 123456
structs {l.v[7] = n;} copied from n = 123456
main {structs(123456);} the constant 123456' "a large one, and memcpy"
is "$(links "$out" realloc)" 'blocks {from_realloc = between[0];} copied from *ADDRESS = 654321
blocks {between[0] = block[3];} copied from *ADDRESS = 654321
library {} copied from *ADDRESS = 654321
blocks {block[3] = n;} copied from n = 654321
main {blocks(654321);} the constant 654321' "realloc"
is "$(links "$out" stack)" 'last_of {return a + b + c + d + e + f ? g : 0;} copied from g = 654321
blocks {from_stack = last_of(1, 2, 3, 4, 5, 6, n);} copied from n = 654321
main {blocks(654321);} the constant 654321' "an argument on the stack"
like "$(links "$out" read)" '^library \{\} from read\(3, "\\1\\0.*", 16\) = 16, event [0-9]+, byte 8 of what it gave; descriptor 3 is of pipe' \
	"a system call, and which byte of it"
like "$(links "$out" read)" '^library \{\} written by write\(4, .*\) = 16, event [0-9]+, from words\[2\] = 3$' "what was written to the pipe"
is "$(links "$out" read | sed '/library/d')" 'pass {return kept;} copied from kept = 3
pass {int kept = n;} copied from n = 3
input {from_read = pass(got[2]);} copied from got[2] = 3
input {int fds[2], words[4] = {1, 2, 3, 4}, got[4];} the constant 3' "... through an array"
is "$(links "$out" address)" 'main {from_address = (char *)&pairs[2];} the address ADDRESS of pairs + 32' "an address"
is "$(links "$out" file | tail -2)" 'main {from_file = pass(initial);} copied from initial = 77
main {from_file = pass(initial);} the initial data of the program'"'"'s file, section .data' "initial data"
is "$(links "$out" zero | tail -2)" 'main {from_zero = pass(never);} copied from never = 0
main {from_zero = pass(never);} never written: zero as the program begins' "never written"
is "$(links "$out" unset)" 'pass {return kept;} copied from kept = 99
pass {int kept = n;} copied from n = 99
leave_some {return ((volatile int *)value)[2];} copied from value[2] = 99
leave_some {return ((volatile int *)value)[2];} never written since the function was called: it is not initialized' \
	"a variable that is not initialized, though an earlier call has written its memory"
for name in argument environment; do
	like "$(links "$out" $name | tail -1)" 'the arguments or the environment that the program was started with$' "$name"
done
like "$(section "$out" stays)" '^#0  main \(argc=1, .* at .*origins\.c:[0-9]+' "nothing moves"
like "$(section "$out" sum)" '^     flowback 2 follows a = 1$' "the inputs have numbers"
like "$(links "$out" follow | tail -1)" '^main \{sum\(argc, 5\);\} the constant 5$' "one of them is followed"
is "$(section "$out" bad | grep -c 'has no input 7\|has no input 5\|has [0-9]* links: which\|neither in memory nor\|which expression')" 5 "what cannot be followed" ||
	diag "$(section "$out" bad)"
like "$(section "$out" goto | tr '\n' ' ')" 'sum \(a=1, b=5\) at .*origins\.c:[0-9]+' "to a link"
like "$(links "$out" register)" 'sum \{.*\} the constant|sum \{.*\} made of|main \{.*\} copied' "a register is followed"
is "$(section "$out" tree | grep -c 'the constant 5\|arguments or the environment')" 2 "a tree ends where both inputs came from" || diag "$(section "$out" tree)"
is "$(section "$out" dot | grep -c '^digraph flowback {$\|^}$')" 2 "a picture of it"
like "$(links "$out" why | tail -1)" 'decided of .* = ' "what a conditional jump looked at"

# Optimized code: where it came from is the same, on shorter ways.
"${LIZARD_CC:-$LIZARD_BIN/lizard-cc}" -g -O2 "$source" -o "$T/origins-O2" && record origins-O2
out=$(all | sed '/^-- stays/,$d' | GDB_SECONDS=580 gdb_run "$T/origins-O2")
last() { links "$out" "$1" | tail -1; }
is "$(last constant)" 'constant {from_constant = pass(n);} the constant 41' "-O2: a constant"
like "$(last sum)" '^sum \{from_sum = pass\(a \+ b\);\} made of (a = 1, b = 5|b = 5, a = 1)$' "-O2: a sum"
like "$(last call)" '^seven \{.*\} the constant 7$' "-O2: what a function returned"
like "$(last parameter)" '^twice \{return n \+ n;\} made of n = 1$' "-O2: through three calls"
for name in struct large; do
	is "$(last $name)" 'main {structs(123456);} the constant 123456' "-O2: $name"
done
for name in realloc stack; do
	is "$(last $name)" 'main {blocks(654321);} the constant 654321' "-O2: $name"
done
like "$(links "$out" read)" 'from read\(3, .*, byte 8 of what it gave; descriptor 3' "-O2: a system call"
like "$(last read)" '^input \{.*\} (the constant 3|the initial data)' "-O2: through a pipe"
for name in argument environment; do
	like "$(last $name)" 'the arguments or the environment' "-O2: $name"
done
like "$(last address)" 'the address ADDRESS of pairs \+ 32$' "-O2: an address"
like "$(last file)" 'the initial data of the program' "-O2: initial data"
like "$(last zero)" 'never written: zero' "-O2: never written"

# A chain goes through a pipe, unless a child has it as well.
prog_build shared_pipe
for fork in "" fork; do
	# shellcheck disable=SC2086
	record shared_pipe $fork
	out=$(gdb_run "$T/shared_pipe" <<'END'
jump_forward shared_pipe.c:15
flowback got
END
	)
	is "$(echo "$out" | grep -c 'written by write(')" "$([ "$fork" ] && echo 0 || echo 1)" "a pipe ${fork:+that a child has }within a process" || diag "$out"
done

# Where markers do not tell, the instructions before are found in few runs, however far from a marker.
prog_build long_gap && record long_gap
out=$(gdb_run "$T/long_gap" <<'END'
jump_forward long_gap.c:22
flowback got
END
)
like "$out" '^ *[0-9]+  main, long_gap.c:.*: the constant 77 in' "a value from far back in a long gap" || diag "$out"
done_testing
