#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads in the debugger. The truth is what the program itself prints, and what a forward run meets.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

prog_build threads || skip_all "no program"
record threads
is $? 0 "recorded"
rounds=$(sed -n 's/^round \([0-9]*\) of \([0-9]*\): \([0-9]*\)$/\1 \2 \3/p' "$T/threads.out")
is "$(echo "$rounds" | wc -l)" 18 "all rounds are in the output"

# Every call of add() in the order of the output: each in the thread of that name, with these arguments.
calls=$(echo "$rounds" | sed 's/\(.*\) \(.*\) .*/"worker-\2" add (x=\1, id=\2)/')
hits() {
	sed -n 's/^Thread [0-9]* \(".*"\) hit [A-Z]*[a-z]* *Breakpoint [0-9]*, \(add .*\) at .*/\1 \2/p'
}

out=$(gdb_run "$T/threads" <<END
break add
$(yes continue | head -18)
-- end
continue
-- backwards
$(yes reverse-continue | head -18)
-- start
reverse-continue
info threads
END
)
is "$(printf '%s\n' "$out" | sed '/^-- end/q' | hits)" "$calls" "a breakpoint stops each thread in its turn"
like "$(section "$out" end)" 'exited with status 0' "and then the program ends"
is "$(section "$out" backwards | hits)" "$(echo "$calls" | tac)" "and backwards in the other order"
is "$(section "$out" start | grep -c '^[* ] *[0-9]* *Thread')" 1 "at the start there is one thread"

# Steps of a thread that is not the one that stopped: out of what waits for it in the C library (inlined there), and by lines.
out=$(gdb_run "$T/threads" <<END
break add
continue
continue
delete
stepi
-- finish
thread 1
finish
when
-- next
thread 1
python
# No next is made where GDB knows no bounds of the C library's function.
try:
    gdb.execute("next")
except gdb.error:
    gdb.execute("nexti")
end
when
END
)
main_thread=$(printf '%s\n' "$out" | sed -n 's/.*(Thread \([0-9]*\)\.\1).*/\1/p' | head -n 1)
for how in finish next; do
	like "$(section "$out" $how)" "position $main_thread:" "$how goes on in the thread that was chosen" || diag "$out"
done

# What only live threads know.
out=$(gdb_run "$T/threads" <<'END'
set scheduler-locking step
show scheduler-locking
set scheduler-locking off
break add
signal 0
END
)
like "$out" 'hit Breakpoint [0-9]*, add' '"signal 0" continues' || diag "$out"
like "$out" 'during execution is "step"' "the scheduler can be locked" || diag "$out"
out=$("$LIZARD_BIN/lizard-gdb" -nx -batch -iex 'set non-stop on' "$T/threads" 2>&1 </dev/null)
like "$out" 'Non-stop mode requested, but' "non-stop mode is refused" || diag "$out"

# What a thread has added up itself is in a thread-local variable; what is printed of it follows from the output.
mine() { # of THREAD, after the first N rounds
	echo "$rounds" | head -"$2" | awk -v id="$1" '$2 == id { sum += $3 } END { print 100 + sum }'
}
out=$(gdb_run "$T/threads" <<END
break add
$(yes continue | head -11)
-- threads
info threads
-- mine
thread apply all -q print mine
-- stacks
thread apply all bt
-- when
when
-- call
thread 2
print mine
call twice (3)
delete
call add (1000, 0)
print mine
call twice (4)
thread 3
call twice (21)
print mine
-- kept
thread 2
stepi
print mine
thread
END
)
text=$(section "$out" threads)
is "$(printf '%s\n' "$text" | sed -n 's/^[* ] *[0-9]* *Thread [0-9.]* "\([^"]*\)".*/\1/p' | sort | tr '\n' ' ')" \
	"threads worker-0 worker-1 worker-2 " "all threads, by their names"
like "$text" '^\* [0-9]* *Thread [0-9.]* "worker-1" add .x=3, id=1.' "the one that stopped is the selected one"
is "$(section "$out" mine | sed -n 's/^\$[0-9]* = //p' | sort -n | tr '\n' ' ')" \
	"$(for i in 0 1 2 9; do mine $i 10; done | sort -n | tr '\n' ' ')" "a thread-local variable of each"
text=$(section "$out" stacks)
is "$(printf '%s\n' "$text" | grep -c ' worker (arg=')" 3 "the stacks of the workers"
is "$(printf '%s\n' "$text" | grep -c ' main () at')" 1 "and of main"
like "$(section "$out" when)" '^thread [0-9]* "worker-1", one of 4$' "when names the thread"
text=$(section "$out" call)
is "$(printf '%s\n' "$text" | sed -n 's/^\$[0-9]* = //p' | tr '\n' ' ')" \
	"$(mine 0 10) 6 2000 $(($(mine 0 10) + 2000)) 8 42 $(mine 1 10) " "calls in chosen threads"
text=$(section "$out" kept)
is "$(printf '%s\n' "$text" | sed -n 's/^\$[0-9]* = //p')" "$(mine 0 10)" "and nothing of it stays"

# A thread that waits is stepped to where it goes on; others run meanwhile, and their breakpoints stop.
out=$(gdb_run "$T/threads" <<END
break one_round if id == 0 && round == 1
continue
delete
-- over
next
next
thread
-- back
prev
prev
thread
-- into
break add if id == 1
next
thread
-- waiting
delete
thread 2
bs
when
-- jumps
jump_forward end
break twice
reverse-continue
delete
jump_backward twice
jump_backward -any one_round
END
)
text=$(section "$out" over)
like "$text" 'got = add' "next over a wait comes back to the same thread"
like "$text" 'Current thread is 2 .*' "(which is selected)"
text=$(section "$out" back)
is "$(printf '%s\n' "$text" | sed -n 's/^\([0-9][0-9]*\).*/\1/p' | tr '\n' ' ')" "53 52 " "prev goes back over it"
like "$text" 'Current thread is 2 .*' "in the same thread"
text=$(section "$out" into)
like "$text" 'Switching to [Tt]hread' "a breakpoint in another thread ends a next"
like "$text" '"worker-1" hit .*add .x=0, id=1.' "at the call that the program makes"
text=$(section "$out" waiting)
like "$text" '^thread [0-9]* "worker-0"' "bs in a thread that waits is there"
text=$(section "$out" jumps)
is "$(printf '%s\n' "$text" | sed -n 's/.*twice (x=\([0-9]*\)).*/\1/p' | tr '\n' ' ')" "5 4 " "jump_backward in the thread that runs"
like "$text" 'one_round .id=1, round=5.' "and -any in any"
out=$(printf 'jump_forward add\n' | gdb_run "$T/threads")
like "$out" 'thread [0-9]* does not come there any more; -any looks at all threads' "where it does not come to, a sentence says so"

# What ran, in one thread: each call of add() is a stretch before twice() and one behind it.
if patched_gdb && [ "$LIZARD_FRONT_END" != stock ]; then
	out=$(gdb_run "$T/threads" <<END
set record function-call-history-size 0
jump_forward -any pass_on
-- worker
record function-call-history 0,100000
-- main
thread 1
record function-call-history 0,100000
END
	)
	names=$(section "$out" worker | sed -n 's/^[0-9]*.\([a-z_]*\)$/\1/p')
	is "$(echo "$names" | sort | uniq -c | awk '{ printf "%s %s ", $2, $1 }')" \
		"add 12 one_round 24 pass_on 6 twice 6 wait_turn 6 worker 7 " "the call history of one thread"
	is "$(section "$out" main | sed -n 's/^[0-9]*.\([a-z_]*\)$/\1/p' | sort -u | tr '\n' ' ')" "main " "and of another"
else
	skip "the call history of one thread" "no patched GDB here"
	skip "and of another" "no patched GDB here"
fi

# Every change of a global variable, by whichever thread.
sums=$(echo "$rounds" | awk '{ print "worker-" $2, sum + 0, sum += $3 }' | tac)
out=$(gdb_run "$T/threads" <<END
jump_forward end
$(for i in $(seq 17); do echo "-- change $i"; echo "reverse_watchpoint total"; echo when; done)
END
)
got=$(printf '%s\n' "$out" | awk '/^Old value/ { o = $4 } /^New value/ { n = $4 } /^thread / { gsub(/[",]/, ""); print $3, o, n }')
is "$got" "$(echo "$sums" | head -17)" "reverse_watchpoint finds each change and who made it"

WALK_POSITIONS=6 WALK_N=12 WALK_MODES="step next jump watch" WALK_PLACES="add twice wait_turn pass_on one_round threads.c:37 threads.c:57" \
	WALK_WATCH="total; turn" walk threads "$T/threads"

prog_build threads -O2 && record threads
WALK_POSITIONS=5 WALK_N=12 WALK_MODES="step jump watch" WALK_PLACES="add wait_turn pass_on one_round threads.c:37 threads.c:57" \
	WALK_WATCH="total; turn" walk threads-O2 "$T/threads"

# Where a thread's time is over while it computes, at a breakpoint as well.
prog_build slices || skip_all "no program"
record slices
cat >"$T/slices.py" <<'END'
import gdb

def when():
    text = gdb.execute("monitor when", to_string=True)
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

def hits(command, n):
    found = []
    for _ in range(n):
        gdb.execute(command, to_string=True)
        found.append(when()["position"])
    return found

total = int(when()["total"])
for number, (marker, ip) in enumerate(switches):
    gdb.execute("jump_forward %.9f%%" % (100.0 * (marker - 30) / total), to_string=True)
    begin = when()["tid"]
    points = [gdb.Breakpoint(place, internal=True) for place in ("*%d" % ip, "even_round", "odd_round")]
    for point in points:
        point.silent = True
    there = hits("continue", 14)
    back = hits("reverse-continue", 13)
    for point in points:
        point.delete()
    threads = {position.split(":")[0] for position in there}
    good = there[-2::-1] == back and len(set(there)) == 14 and len(threads) == 2 and begin in threads
    print("switch %d: %s" % (number, "same" if good else "there %s, back %s" % (there, back)))
END
# To the other one, that is: main only waits for them, and computes nothing where it is switched to.
"$LIZARD_BIN/lizard" dump --events "$LIZARD_TRACE_DIR/slices-latest" >"$T/events"
main=$(sed -n 's/^event 0  *thread \([0-9]*\) .*/\1/p' "$T/events")
grep -v "switch to thread $main\>" "$T/events" |
	sed -n 's/^event.* marker \([1-9][0-9]*\) *ip \(0x5[0-9a-f]*\) .*switch to thread.*/(\1, \2),/p' >"$T/switches"
n=$(head -3 "$T/switches" | wc -l)
ok $((n == 0)) "threads that compute are switched at markers"
out=$(gdb_run -ex "python switches = [$(head -3 "$T/switches" | tr '\n' ' ')]" -x "$T/slices.py" "$T/slices" </dev/null)
is "$(printf '%s\n' "$out" | grep -c '^switch [0-9]: same$')" "$n" "breakpoints beside a switch are met in order, forwards and backwards" ||
	diag "$out"

# next over a function that other threads run as well: they return to where it will return, and run through where it waits.
prog_build same -O1 -pthread && record same
ok $? "threads in the same function" || done_testing
line=$(sed -n '/x = work/=' "$LIZARD_SRC/tests/progs/gdb/same.c")
for round in 1 2 3; do
	out=$(GDB_SECONDS=60 gdb_run "$T/same" <<END
handle all nostop noprint pass
break $line if round == $round
continue
delete
set \$thread = \$_thread
-- next
next
when
-- again
jump_backward same.c:$line
tbreak same.c:$((line + 1)) if \$_thread == \$thread
continue
when
END
)
	like "$(section "$out" next)" '^position ' "round $round: next ends"
	is "$(section "$out" next | grep ^position)" "$(section "$out" again | grep ^position)" "round $round: where a breakpoint for the thread stops" ||
		diag "$out"
done
done_testing
