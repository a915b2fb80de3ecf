#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Over loops of millions of rounds in one line, whose single steps would take many minutes: forwards, backwards, and from
# their midst. What leads there is the start of the line, which a walk forwards finds as well.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build oneline || skip_all "no program"
record oneline
out=$(gdb_run "$T/oneline" <<'END'
set width 0
jump_forward oneline.c:9
-- start
when
-- fn
fn
when
-- fs
jump_backward oneline.c:9
fs
when
-- bs
bs
when
-- prev
jump_forward oneline.c:10
prev
when
-- bs from its end
jump_forward oneline.c:10
reverse-stepi
bs
when
-- prev from its end
jump_forward oneline.c:10
reverse-stepi
prev
when
-- bs from its midst
jump_forward 30%
bs
when
-- prev from its midst
jump_forward 30%
prev
when
-- down
jump_forward oneline.c:11
when
-- down: bs
jump_forward oneline.c:12
bs
when
-- down: prev
jump_forward oneline.c:12
prev
when
-- watch
jump_backward start
jump_forward oneline.c:11
watch n if n == 2999990
next
print n
END
)
at() { section "$out" "$1" | sed -n 's/^position [0-9]*:\(.*\)/\1/p'; }
start=$(at start)
like "$start" '@0x' "the loop is come to" || diag "$out"
is "$(at fs)" "$(at fn)" "fs and fn lead to the same place"
ok $(($(at fs | tr -d , | cut -d. -f1) < 3000000)) "behind all rounds" || diag "$out"
for way in bs prev "bs from its end" "prev from its end" "bs from its midst" "prev from its midst"; do
	is "$(at "$way")" "$start" "$way"
done
is "$(at "down: bs")" "$(at down)" "bs over the other"
is "$(at "down: prev")" "$(at down)" "prev over the other"
like "$(section "$out" watch)" '= 2999990' "a watchpoint stops next in the loop" || diag "$out"

# One that calls, in two activations of a function: `prev` from behind it and from its midst goes to where `next` leads from.
source=$LIZARD_SRC/tests/progs/gdb/callloop.c
loop=$(grep -n 's += one' "$source" | cut -d: -f1) alone=$(grep -n 's -= one' "$source" | cut -d: -f1)
rounds=300000
# Forwards a stock GDB goes from call to call.
[ "$LIZARD_FRONT_END" != stock ] && patched_gdb || rounds=2000
for level in O0 O2; do
	prog_build callloop -$level && mv "$T/callloop" "$T/callloop-$level" && record callloop-$level $rounds
	is $? 0 "callloop -$level is recorded"
	out=$(GDB_SECONDS=60 gdb_run "$T/callloop-$level" <<-END
		jump_forward callloop.c:$((loop + 1))
		-- inner
		when
		-- inner: prev
		prev
		when
		print depth
		-- inner: fn
		fn
		when
		jump_forward callloop.c:$((loop + 1))
		-- outer
		when
		-- outer: prev
		prev
		when
		print depth
		-- outer: fn
		fn
		when
		tbreak callloop.c:$((alone + 1))
		continue
		-- alone
		when
		-- alone: prev
		prev
		-- alone: fn
		fn
		when
		jump_backward 25%
		jump_forward one
		finish
		-- midst: prev
		prev
		when
	END
	)
	for depth in "inner 0" "outer 1" alone; do
		at=${depth% *} line=$loop
		[ "$at" != alone ] || line=$alone
		like "$(at "$at")" '@0x' "-$level: $at: behind the loop"
		like "$(section "$out" "$at: prev")" "^$line	" "-$level: $at: prev goes to its line"
		[ "$at" = alone ] || like "$(section "$out" "$at: prev")" " = ${depth#* }\$" "-$level: ... in the same activation"
		is "$(at "$at: fn")" "$(at "$at")" "-$level: ... from which fn leads back" || diag "$out"
	done
	# Optimized, the markers of a round belong to another line, and a walk that begins there stops at the loop's.
	[ $level != O0 ] || is "$(at "midst: prev")" "$(at "inner: prev")" "-$level: from its midst: to its beginning" || diag "$out"
done

# One of a single row of the line table, as GCC 14 makes of such loops, too.
at=$(grep -n 'sum ^= 5' "$LIZARD_SRC/tests/progs/gdb/rowloop.c" | cut -d: -f1)
prog_build rowloop && record rowloop $rounds
out=$(GDB_SECONDS=60 gdb_run "$T/rowloop" <<-END
	jump_forward rowloop.c:$at
	-- behind
	when
	-- row: prev
	prev
	-- row: fn
	fn
	when
END
)
like "$(at behind)" '@0x' "a loop in one row is come to" || diag "$out"
like "$(section "$out" "row: prev")" "^$((at - 1))	" "prev goes to its line" || diag "$out"
is "$(at "row: fn")" "$(at behind)" "fn leads back" || diag "$out"

# A stock GDB steps backwards by instructions.
if [ "$LIZARD_FRONT_END" != stock ] && patched_gdb; then
	out=$(gdb_run "$T/oneline" <<'END'
jump_forward oneline.c:10
reverse-step
print sum
jump_forward oneline.c:10
reverse-next
print sum
END
)
	is "$(printf '%s\n' "$out" | sed -n 's/^\$\([12]\) = //p' | tr '\n' ' ')" "1 1 " "reverse-step and reverse-next come to the loop's beginning" || diag "$out"
	out=$(GDB_SECONDS=60 gdb_run "$T/callloop-O0" <<-END
		tbreak callloop.c:$((alone + 1))
		continue
		-- reverse-next
		reverse-next
		print i
		print s == n
		info line $alone
		info symbol \$pc
	END
	)
	out=$(section "$out" reverse-next)
	like "$out" "^$alone	" "reverse-next over a loop that calls" || diag "$out"
	# GDB 16 goes on to the line's first instruction, before i has a value.
	first=$(echo "$out" | sed -n 's/.* starts at address 0x[0-9a-f]* <alone+\([0-9]*\)>.*/\1/p')
	[ "$(echo "$out" | sed -n 's/^\$1 = //p')" = 0 ] || echo "$out" | grep -q "^alone + $first in section"
	ok $? "... comes to its beginning" || diag "$out"
	is "$(echo "$out" | sed -n 's/^\$2 = //p')" 1 "... before any of its rounds"
fi
# A handler that interrupts such a loop is not run over with it. Where its signal stops, a walk comes into it; where not, GDB
# steps over it, from the line that `bs` then leads to from its first stop, be it in lines of its own or in one.
# A signal that comes at a line's start is the next test's: such a recording is made anew.
prog_build ticked
for _ in 1 2 3 4 5 6 7 8; do
	record ticked
	out=$(gdb_run "$T/ticked" <<'END'
handle SIGALRM stop print pass
jump_forward ticked.c:10
jump_forward ticked.c:10
-- first
bs
-- signal
bs
-- before
bs
handle SIGALRM nostop noprint pass
jump_forward ticked.c:10
-- lines: bs
bs
when
-- lines: fs
fs
-- lines: again
bs
when
jump_forward at_once
jump_forward at_once
-- one: bs
bs
when
-- one: fs
fs
-- one: again
bs
when
jump_forward at_once
-- one: interrupted
frame function main
print/x $pc
frame 0
fs
-- one: behind
when
-- one: bs from behind
bs
fs
when
jump_backward *at_once
-- one: bs from the first instruction
bs
END
	)
	interrupted=$(section "$out" "one: interrupted" | sed -n 's/^\$[0-9]* = //p')
	case $(at "one: behind") in *@"$interrupted"#*) ;; *) break ;; esac
done
like "$(section "$out" first)" '^9	' "bs leads to the handler's first line" || diag "$out"
like "$(section "$out" signal)" '/\* waits \*/' "... to its signal"
like "$(section "$out" before)" '^12	}' "and to the last of the one before" || diag "$out"
like "$(section "$out" "lines: bs")" '/\* waits \*/' "its signal does not stop: bs leads to the line outside" || diag "$out"
like "$(section "$out" "lines: fs")" 'signal\(SIGALRM, at_once\)' "... from which fs goes over the handler"
is "$(at "lines: again")" "$(at "lines: bs")" "... and bs comes back"
like "$(section "$out" "one: bs")" '^2[4-7]	' "a handler in one line: bs leads to the line outside" || diag "$out"
like "$(section "$out" "one: fs")" '^2[4-7]	' "... from which fs goes over the handler"
is "$(at "one: again")" "$(at "one: bs")" "... to which bs comes back" || diag "$out"
is "$(at "one: bs from behind")" "$(at "one: behind")" "from behind it bs leads to where fs leads back from" || diag "$out"
like "$(section "$out" "one: bs from the first instruction")" '^2[4-7]	' "from its first instruction to the line outside, too" || diag "$out"

# A signal that arrives where a line begins: a step out of its handler stops there, one that goes over the handler does not.
prog_build at-line && record at-line
out=$(gdb_run "$T/at-line" <<'END'
handle SIGALRM nostop noprint pass
jump_forward on_alarm
jump_forward on_alarm
fs
-- last
fs
when
-- behind
fs
when
-- bs
bs
when
-- fs
fs
when
bs
bs
bs
-- outside
bs
-- over
fs
END
)
like "$(section "$out" behind)" '/\* behind the signal \*/' "out of a handler to where a line begins" || diag "$out"
is "$(at bs)" "$(at last)" "... bs leads back into the handler" || diag "$out"
is "$(at fs)" "$(at behind)" "... and fs out of it"
like "$(section "$out" outside)" '/\* behind the signal \*/' "from the handler's first line bs leads to the line outside" || diag "$out"
like "$(section "$out" over)" '^24	' "... and fs over the handler to the line after that"

# A call that control leaves by a longjmp into the caller: GDB goes on until the call's return address is come to, which is
# never, however often one asks.
lizard-cc -O2 -g -o "$T/setjmp" "$LIZARD_SRC/tests/progs/constructs/setjmp.c" && record setjmp
call=$(grep -n 'builtin_jump();' "$LIZARD_SRC/tests/progs/constructs/setjmp.c" | cut -d: -f1)
out=$(gdb_run "$T/setjmp" <<-END
	jump_forward end
	jump_backward setjmp.c:$call
	-- first
	next
	jump_backward setjmp.c:$call
	-- again
	next
END
)
for time in first again; do
	like "$(section "$out" $time)" "^The recording ends here" "$time: next over a call that never returns" || diag "$out"
done

# Of a stripped program GDB knows neither lines nor names, but those of the C library's that it ends in.
cat >"$T/empty.c" <<'END'
int main(void)
{
	return 0;
}
END
stops() { # RECORDING: where bs goes from the end
	printf 'when\nbs\nwhen\nstep\nwhen\nbs 2\nwhen\nbs 3\nwhen\n' | gdb_run -e "$T/$1" | sed -n 's/^position [0-9]*://p'
}
"$LIZARD_BIN/lizard-cc" -g -O1 "$T/empty.c" -o "$T/empty" && record empty
strip -o "$T/stripped" "$T/empty" && record stripped
if gdb_run -e "$T/empty" </dev/null | grep -q '_exit.c:[0-9]'; then
	is "$(stops stripped)" "$(stops empty)" "bs from the end of a stripped program goes through the C library's lines"
else
	skip "bs from the end of a stripped program" "libc6-dbg is not installed"
fi
done_testing
