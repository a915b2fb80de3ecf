#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `next` and `step` out of a loop of rows that begin no statement: the patched GDB does not go through each round, and stops where
# one that does so stops.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build rows -O2 && record rows || skip_all "no program"
source=$LIZARD_SRC/tests/progs/gdb/rows.c

# MOVE after COMMAND, from line A of a loop.
moved() { # FRONT-END LOOP MOVE COMMAND
	gdb_run "$1" "$T/rows" <<-END
		handle SIGUSR2 nostop noprint pass
		tbreak $(grep -n "/\* $2 A" "$source" | cut -d: -f1)
		continue
		$4
		set debug infrun 1
		-- move
		$3
		-- end
		set debug infrun 0
		-- where
		when
		-- there
		python print(gdb.newest_frame().name(), gdb.newest_frame().find_sal().line)
		python print([(point.number, point.hit_count) for point in gdb.breakpoints()])
	END
}

compare() { # LOOP MOVE COMMAND WHERE [MOST]: the patched GDB resumes the program at most so often
	where="${4%% *} $(awk -v name="${4%% *}(" -v text="${4#* }" 'index($0, name) { in_it = 1 }
		in_it && index($0, text) { print NR; exit }' "$source")"
	out=$(moved --stock "$1" "$2" "$3")
	is "$(section "$out" there | head -n 1)" "$where" "$1, $2, $3: --stock"
	instant=$(section "$out" where)
	hits=$(section "$out" there | sed 1d)
	if ! patched_gdb; then
		skip "the patched GDB" "not built, or older than the library: make gdb"
		return
	fi
	out=$(moved --patched "$1" "$2" "$3")
	is "$(section "$out" there | head -n 1)" "$where" "... --patched"
	is "$(section "$out" where)" "$instant" "... at the same instant"
	is "$(section "$out" there | sed 1d)" "$hits" "... with the same breakpoints hit"
	[ -n "$5" ] || return
	resumes=$(section "$out" move | grep -c 'resume_1:')
	ok $((resumes > $5)) "... having resumed the program at most $5 times" || diag "$resumes times"
}
compare plain next "print 1" "main middle(N)" 10
compare plain step "print 1" "main middle(N)" 10
compare plain until "print 1" "main middle(N)" 10
compare middle next "print 1" "middle middle A"
compare calls next "print 1" "calls return n" 10
compare calls step "print 1" "callee ++passed"
compare returns next "print 1" "returns return n" 10
# what the user asked for comes first
compare plain next 'break *in_plain if $eax == 101' "plain plain A"
compare plain next "watch passed" "main middle(N)"
compare calls next "break callee" "callee ++passed"
compare returns next 'break callee if passed == 7' "callee ++passed"
# control stops in the middle of B on the way, for something that GDB goes on from
compare plain next 'break *in_b if $eax == 101' "main middle(N)"
compare signals next "print 1" "signals return (int)n"
stopped="handle SIGUSR2 stop print pass
next"
compare signals next "$stopped" "handler {"
compare recurses next 'break *behind' "recurses recurses C"
done_testing
