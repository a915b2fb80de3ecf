#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A process that executes one program after another: at each instant GDB has the program of that instant.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build executes && record executes || skip_all "nothing to debug"

out=$(gdb_run -e "$T/recordings/executes-latest" <<END
-- end
print words
print &words
info auxv
-- searched
reverse_watchpoint words
-- searched again
reverse_watchpoint words
END
)
like "$out" 'several programs; this is number 3 ' "opening says that there are several programs"
like "$(printf '%s\n' "$out" | grep '^\* ')" '^\* 3  .*/executes$' "and which one is shown"
like "$(section "$out" end)" '= 3$' "at the end the last one's variables are at hand"
like "$(section "$out" end)" '\(int \*\) 0x55555555' "where they are"
like "$(section "$out" end)" 'AT_ENTRY .* 0x55555555' "the auxiliary vector is the last one's"
like "$(section "$out" searched | tr '\n' ' ')" 'Old value = 0 New value = 3 .*note \(n=3\)' "reverse_watchpoint finds its change"
like "$(section "$out" 'searched again')" 'did not change since the start of the program' "and goes no further than to where it begins"

for direction in forward backward; do
	[ $direction = forward ] && from=start || from=end
	{
		echo "jump_$direction $from"
		for i in 1 2 3; do
			printf -- '-- %d\njump_%s note\ninfo lizard\n' $i $direction
		done
	} >"$T/jumps"
	out=$(gdb_run "$T/recordings/executes-latest" <"$T/jumps")
	for i in 1 2 3; do
		[ $direction = forward ] && n=$i || n=$((4 - i))
		like "$(section "$out" $i | tr '\n' ' ')" "note \\(n=$n\\).*\\($n of 3 that" "jump_$direction $i is in program $n"
	done
	is "$(printf '%s\n' "$out" | grep -c 'executing new program: .*/executes$')" "$([ $direction = forward ] && echo 2 || echo 3)" \
		"jump_$direction says where it comes to another program"
done

out=$(gdb_run "$T/recordings/executes-latest" <<END
break note
-- 1
continue
-- 2
continue
-- 3
continue
-- back
reverse-continue
print n
-- back again
reverse-continue
END
)
for i in 1 2 3; do
	like "$(section "$out" $i)" "Breakpoint 1, note \\(n=$i\\)" "continue meets the breakpoint in program $i"
done
like "$(section "$out" back | tr '\n' ' ')" 'executing new program: .* Breakpoint 1, note \(n=2\).* = 2 ' "reverse-continue, too"
like "$(section "$out" 'back again')" 'Breakpoint 1, note \(n=1\)' "and again"

# A step back is as quick as in the first program: the way from one to the next is not walked.
cat >"$T/cpu.py" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)))
END
steps="-ex fn -ex bs -ex prev -ex when"
first=$(python3 "$T/cpu.py" lizard-gdb -nx -batch $steps "$T/recordings/executes-latest")
last=$(python3 "$T/cpu.py" lizard-gdb -nx -e -batch -ex 'jump_backward main' $steps "$T/recordings/executes-latest")
ok $([ "$last" -lt $((3 * first + 1500)) ]; echo $?) "bs in the last program takes as long as in the first" ||
	diag "$last ms, in the first $first ms"
out=$(gdb_run -e "$T/recordings/executes-latest" <<END
jump_backward note
-- bs
bs
END
)
like "$(section "$out" bs)" '^main \(argc=3' "and leads to the same places"

# Another program: what a wrapper executes.
timeout 60 lizard-trace -q -o "$T/recordings/wrapped" env X=1 "$T/executes" >/dev/null
ok $? "a wrapper recorded"
out=$(gdb_run -e "$T/recordings/wrapped" <<END
-- program
info lizard
break note
-- begin
jump_backward start
info breakpoints
info lizard
-- there
continue
-- unknown
jump_backward nothing_of_that_name
END
)
like "$(section "$out" program)" '^program .*/executes \(4 of 4 that' "at the end it is the wrapped program"
like "$(section "$out" program)" 'Breakpoint 1 at .*executes.c' "whose functions are known"
like "$(section "$out" begin)" '^program .*/env \(1 of 4 that' "at the start it is the wrapper"
like "$(section "$out" begin)" 'PENDING. *note' "where the breakpoint waits"
like "$(section "$out" there)" 'Breakpoint 1, note \(n=1\)' "to come back with its program"
like "$(section "$out" unknown)" 'Function "nothing_of_that_name" not defined' "what no program has is unknown"

done_testing
