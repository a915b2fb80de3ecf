#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `next` and reverse-next over an inlined call, which the patched GDB runs through at full speed: they stop where they would by
# steps.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build over_inlined -O2 && record over_inlined || skip_all "no program"
source=$LIZARD_SRC/tests/progs/gdb/over_inlined.c
call=$(grep -n 's += sum' "$source" | cut -d: -f1)

# At the line of the call in work(2), or behind the loop of that: MOVE after COMMAND, and where it leads.
moved() { # FRONT-END MOVE COMMAND
	behind_it=
	[ "$2" = next ] || behind_it=next
	gdb_run "$1" "$T/over_inlined" <<-END
		set pagination off
		handle SIGUSR1 nostop noprint pass
		tbreak work
		continue
		next
		-- call
		frame
		$behind_it
		$3
		-- move
		$2
		-- instant
		when
		-- there
		python
		f = w = gdb.newest_frame()
		while w.name() != "work":
		    w = w.older()
		print(f.name(), f.find_sal().line, w.read_var("depth"))
		end
		info breakpoints
	END
}

# A stock GDB goes by single steps if the server is not told that it goes over the call.
by_steps="define hook-next
end
define hook-finish
end"
steps=$(section "$(moved --stock reverse-next "$by_steps")" instant)
like "$steps" '^position' "where single steps end"
# GDB 18 does not take the end of the call for a line of its own.
behind=$(section "$(moved --stock next "$by_steps")" there | sed -n 's/^work \([0-9]*\) 2$/\1/p')
like "$behind" "^($(grep -n 'return s;' "$source" | head -n 1 | cut -d: -f1)|$(grep -n 'printf(' "$source" | cut -d: -f1))$" "and those of next"
over() { # COMMAND...: what the last one does, over the inlined call or out of it
	before=$(printf '%s\n' "$@" | sed '$d')
	printf '%s\n' "set pagination off" "handle SIGUSR1 nostop noprint pass" "tbreak work" continue "$before" \
		"set debug remote 1" "-- move" "$(printf '%s\n' "$@" | tail -n 1)" "-- end" "set debug remote 0" "-- instant" when |
		gdb_run --stock "$T/over_inlined"
}
inside="tbreak $(grep -n 'if (i == 40)' "$source" | cut -d: -f1)"
for case in "next;next" "next;next;reverse-next" "$inside;continue;finish" "$inside;continue;reverse-finish"; do
	IFS=';' read -r a b c <<-END
		$case
	END
	by_itself=$(over "$by_steps" "$a" $b $c)
	told=$(over "$a" $b $c)
	is "$(section "$told" instant)" "$(section "$by_itself" instant)" "$case: a stock GDB ends where single steps end"
	n=$(section "$told" move | grep -cE 'Sending packet: .(vCont;|bs)')
	of=$(section "$by_itself" move | grep -cE 'Sending packet: .(vCont;|bs)')
	[ "$n" -ge 1 ] && [ $((10 * n)) -le "$of" ]
	ok $? "... with $n resumes instead of $of"
done
# What is watched without hardware is compared after each step.
out=$(over next 'set can-use-hw-watchpoints 0' 'watch beats' next)
like "$(section "$out" move)" 'New value = 10$' "a stock GDB's own watchpoint is not passed by"

for front_end in --stock --patched; do
	if [ $front_end = --patched ] && ! patched_gdb; then
		skip "the patched GDB" "not built, or older than the library: make gdb"
		continue
	fi
	out=$(moved $front_end next "print 1")
	like "$(section "$out" call)" 's \+= sum' "$front_end: at the line of the call"
	like "$(section "$out" there)" "^work $behind 2\$" "... over its loop, not to the same line of a deeper call"
	out=$(moved $front_end next "break callee if i == 1000")
	like "$(section "$out" there)" "^work $behind 2\$" "$front_end: past a breakpoint in what it calls whose condition is false"
	is "$(section "$out" there | grep -c 'already hit')" 0 "... which is not hit"
	out=$(moved $front_end next "break callee if i == 57")
	like "$(section "$out" there)" '^callee [0-9]* 0$' "$front_end: to one whose condition is true, in the innermost call"
	like "$(section "$out" there)" 'already hit 1 time$' "... hit once"
	out=$(moved $front_end next "watch -l beats")
	like "$(section "$out" move)" 'New value = 10$' "$front_end: to a change of what is watched, by a handler"
	out=$(moved $front_end next "handle SIGUSR1 stop print pass")
	like "$(section "$out" move)" 'received signal SIGUSR1' "$front_end: to a signal"
	out=$(moved $front_end next "handle SIGUSR1 nostop print pass")
	like "$(section "$out" there)" "^work $behind 2\$" "$front_end: past signals that are only shown"
	is "$(section "$out" move | grep -c 'received signal SIGUSR1')" 3 "... each of them once"

	# and back: from behind the loop
	out=$(moved $front_end reverse-next "print 1")
	like "$(section "$out" there)" "^work $call 2\$" "$front_end: reverse-next from behind the loop to the line of the call"
	is "$(section "$out" instant)" "$steps" "... at the instant at which single steps end"
	out=$(moved $front_end reverse-next "break callee if i == 1000")
	like "$(section "$out" there)" "^work $call 2\$" "$front_end: back past a breakpoint whose condition is false"
	out=$(moved $front_end reverse-next "break callee if i == 57")
	like "$(section "$out" there)" '^callee [0-9]* 2$' "$front_end: back to one whose condition is true, in the outermost call"
	out=$(moved $front_end reverse-next "watch -l beats")
	like "$(section "$out" move)" 'New value = 20$' "$front_end: back to a change of what is watched, in a deeper call"
done

# A call whose code is in several ranges, with more ways between them than a run through one would set breakpoints. Single steps
# through it, or runs through one range after another, would take many minutes.
prog_build cold_parts -O2 && record cold_parts
call=$(grep -n 'mix(n);' "$LIZARD_SRC/tests/progs/gdb/cold_parts.c" | cut -d: -f1)
there_and_back() { # FRONT-END BACK FORTH
	out=$(printf '%s\n' "break $((call + 1))" continue '-- there' when '-- back' "$2" frame '-- forth' "$3" when |
		gdb_run "$1" "$T/cold_parts")
	like "$(section "$out" back)" "^$call	" "$1: $2 over a call in several ranges goes to its line" || diag "$out"
	there=$(section "$out" there | grep '^position')
	like "$(section "$out" forth)" "^$there\$" "... from which $3 leads back" || diag "$out"
}
there_and_back --stock prev "advance $((call + 1))"
if patched_gdb; then
	there_and_back --patched prev fn
	there_and_back --patched prev next
	there_and_back --patched reverse-next next
fi

# Markers that are put far from the inlined call that they belong to: they are its code. A step over it that left it for each of them
# would take minutes.
prog_build nested_inlined -O2 && record nested_inlined
source=$LIZARD_SRC/tests/progs/gdb/nested_inlined.c
call=$(grep -n 's += outer' "$source" | cut -d: -f1)
out=$(printf '%s\n' 'jump_forward 50%' '-- bt' bt | gdb_run --stock "$T/nested_inlined")
like "$(section "$out" bt)" "^#0 .* in scan (n=200) at .*:$(grep -n 'noise >= 0' "$source" | cut -d: -f1)
#1 .* in outer .*:$(grep -n 's += scan' "$source" | cut -d: -f1)
#2 .* in work .*:$call
#3 .* in main " "at a marker: the line that it belongs to, in the inlined call" || diag "$out"
if patched_gdb; then
	out=$(printf '%s\n' "tbreak $((call - 2))" continue next 'set debug infrun 1' '-- next' next '-- end' 'set debug infrun 0' '-- there' frame \
		prev '-- back' frame | gdb_run --patched "$T/nested_inlined")
	like "$(section "$out" there)" "^$((call + 1))	" "next over it goes to the next line" || diag "$out"
	like "$(section "$out" back)" "^$call	" "... and prev back to that of the call" || diag "$out"
	resumes=$(section "$out" next | grep -c 'resume_1:')
	[ "$resumes" -ge 1 ] && [ "$resumes" -le 10 ]
	ok $? "... having resumed the program at most 10 times" || diag "$resumes times"
fi

# What a debugger shows of optimized code is as without markers: the same steps, and breakpoints where the program gets to. A branch
# that has a marker stays one: GCC 16 would make another instruction of it without.
cat >"$T/steps.py" <<END
import gdb
gdb.execute("tbreak %s" % place)
gdb.execute("run")
for _ in range(60):
    frame = gdb.newest_frame()
    print("AT", frame.name(), frame.find_sal().line)
    gdb.execute(command, to_string=True)
END
steps() { # PROGRAM COMMAND PLACE
	gdb -nx -batch -ex "python command, place = '$2', '$3'" -x "$T/steps.py" "$1" 2>&1 | grep '^AT'
}
for level in -O1 -O2; do
	$PLAIN_CC $level -fno-if-conversion -g "$source" -o "$T/plain" && lizard-cc $level -fno-if-conversion -g "$source" -o "$T/marked"
	for command in step next; do
		wanted=$(steps "$T/plain" $command "nested_inlined.c:13")
		is "$(steps "$T/marked" $command "nested_inlined.c:13")" "${wanted:-no steps}" "$level: $command goes as without markers"
	done
	lizard-cc $level -g -fcompare-debug -c "$source" -o "$T/o.o"
	ok $? "$level: the code is the same without -g"
done
lizard-cc -O1 -g "$LIZARD_SRC/tests/progs/gdb/several_inlined.c" -o "$T/several"
gdb -nx -batch -ex 'break scan' -ex 'info breakpoints' "$T/several" | grep -o '0x0[0-9a-f]*' | while read -r at; do
	gdb -nx -batch -ex "x/i $at" "$T/several"
done >"$T/starts"
is "$(grep -c '<work' "$T/starts") $(grep -c '%r15\|nop' "$T/starts")" "3 0" "breakpoints on an inlined function are not at its markers" ||
	diag "$(cat "$T/starts")"
done_testing
