#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Signals, caught system calls and libraries loaded late, in the debugger; a program without markers.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build events || skip_all "no program"
"$LIZARD_BIN/lizard-cc" -g -fPIC -shared "$LIZARD_SRC/tests/progs/gdb/late.c" -o "$T/late.so" || skip_all "no library"
record events "$T/late.so"
is "$(cat "$T/events.out" | tail -1)" "3 1 1 42" "recorded"

out=$(gdb_run "$T/events" <<END
-- signal
continue
print \$_siginfo.si_signo
print hits
continue
-- signal backwards
reverse-continue
print hits
reverse-continue
continue

-- watch
handle SIGALRM stop
jump_forward end
reverse_watchpoint hits
reverse_watchpoint hits
-- handler
jump_forward start
handle SIGUSR1 nostop noprint pass
handle SIGALRM stop print nopass
break on_usr1
continue
up 2
next
continue
print hits
-- step over
delete
handle all nostop noprint pass
jump_forward start
jump_forward main
next
next
next
next
print hits
prev
print hits
fn
-- catch
jump_forward start
catch syscall write
continue
continue
continue
reverse-continue
reverse-continue
reverse-continue
delete
-- library
jump_forward end
jump_backward triple
bt
fn
prev
bs
jump_backward start
jump_forward end
jump_backward late.c:9
END
)
like "$(section "$out" signal)" 'Program received signal SIGUSR1' "a signal stops"
like "$(section "$out" signal)" '^\$1 = 10' "siginfo"
like "$(section "$out" signal)" '^\$2 = 0' "before its handler"
like "$(section "$out" signal)" 'The recording ends here: the program exited with status 0' "and goes on to the end"
like "$(section "$out" "signal backwards" | tr '\n' ' ')" "Program received signal SIGUSR1.*= 0 .*($no_history).*Program received signal SIGUSR1" \
	"a signal stops on the way back, too"
like "$(section "$out" watch)" '^New value = 1' "reverse_watchpoint"
is "$(section "$out" watch | grep -c 'Program received')" 0 "passes signals by"
like "$(section "$out" handler)" 'Breakpoint [0-9]+, on_usr1 \(sig=10\)' "a breakpoint in a handler"
like "$(section "$out" handler)" 'Program received signal SIGALRM' "a signal that GDB would not pass on"
like "$(section "$out" handler)" '^\$[0-9]+ = 1' "the handler ran"
like "$(section "$out" "step over" | tr '\n' ' ')" 'raise\(SIGUSR1\).*before = 2.*= 1 .*raise\(SIGUSR1\).*= 0 .*before = 2' \
	"next and prev step over a signal's handler"
like "$(section "$out" catch | tr '\n' ' ')" "call to syscall write.* in .*$in_write \\(.*returned from syscall write.*call to syscall write.*returned from syscall write.*call to syscall write.*($no_history)" \
	"catch syscall, both ways"
like "$(section "$out" library)" '^triple \(n=14\)' "a function of a library loaded late"
like "$(section "$out" library)" '^#1 .* in late \(' "its caller"
is "$(section "$out" library | grep -v 'ld-linux' | grep -c '?? ()')" 0 "no place without a name, but in the loader"
like "$(section "$out" library)" 'in late \(path|^late \(path' "bs out of the library"

# All stops at system calls, forwards and then backwards, as lines `DIRECTION call|returned NAME POSITION`. A signal's handler
# runs between some; threads wait in some, and end with one that does not return.
cat >"$T/catch.py" <<'END'
import gdb

gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("jump_forward start", to_string=True)
gdb.execute("catch syscall")
for command in ("continue", "reverse-continue"):
    position = before = None
    while before is None or position != before:
        before = position
        gdb.execute(command)
        position = gdb.execute("when", to_string=True).split("position ")[1].split()[0]
        print("stop", command, position, flush=True)
END
caught() {
	gdb_run "$T/$1" -x "$T/catch.py" </dev/null |
		sed -n "s/.*(\(call\|returned\) [a-z]* syscall '*\([a-z0-9_]*\).*/\1 \2/p; /^stop/p" |
		awk '/^stop/ { if (what) print $2, what, $3; what = ""; next } { what = $0 }'
}
prog_build threads && record threads
for name in events threads; do
	caught $name >"$T/caught"
	# The last one forwards is where the recording ends: the way back begins there.
	sed -n 's/^continue //p' "$T/caught" | sed '$d' >"$T/forwards"
	sed -n 's/^reverse-continue //p' "$T/caught" | tac >"$T/backwards"
	like "$(sed -n 's/^continue //p' "$T/caught" | tail -n 1)" '^call exit_group ' "$name: stops at all system calls, up to the last"
	ok $(($(grep -c ^returned "$T/forwards") < 60)) "... and behind them" || diag "$(tail -n 5 "$T/caught")"
	cmp -s "$T/forwards" "$T/backwards"
	ok $? "... and the same on the way back" || diag "$(diff "$T/forwards" "$T/backwards" | head -n 5)"
done

# Without markers.
gcc -g -O0 -w "$LIZARD_SRC/tests/progs/gdb/tour.c" -o "$T/plain" || skip_all "no plain program"
record plain
is $? 7 "a program without markers is recorded"
out=$(gdb_run "$T/plain" <<END
-- walk
break factorial
continue
bs
prev
reverse-continue
-- jump
jump_forward end
jump_backward factorial
reverse_watchpoint total
END
)
like "$out" 'not built with lizard-cc' "is announced"
like "$(section "$out" walk)" 'Breakpoint 1, factorial \(n=5\)' "a breakpoint"
like "$(section "$out" walk)" "this is GDB's reverse-step" "bs says what it is"
like "$(section "$out" walk)" "$no_history" "back to the start"
like "$(section "$out" jump)" '^factorial \(n=1\)' "a jump"
like "$(section "$out" jump)" '^New value = 20' "a reverse watchpoint"
# GDB evaluates what is watched with the symbols of libraries, also where a library is not loaded: what else is mapped there
# before counts as well.
out=$(gdb_run "$T/events" <<END
set breakpoint pending on
handle SIGUSR1 SIGALRM nostop noprint pass
break triple
continue
next
next
delete
watch tripled
reverse-continue
-- begin
$(yes reverse-continue | head -n 12)
when
info sharedlibrary
-- forward
$(yes continue | head -n 14)
-- forgotten
delete
jump_backward start
info sharedlibrary
-- search
tbreak triple
continue
next
next
reverse_watchpoint tripled
reverse_watchpoint tripled
when
END
)
like "$(section "$out" begin | tr '\n' ' ')" "($no_history).*event 0 of .*late\.so" "back to the begin with a library's variable watched"
like "$(section "$out" forward | tr '\n' ' ')" 'Old value = 0 New value = 14 .*recording ends here' "and forward again"
is "$(section "$out" forgotten | grep -c 'late\.so')" 0 "without the watchpoint the library is not known where it is not loaded"
like "$(section "$out" search | tr '\n' ' ')" 'Old value = 0 New value = 14 .*event [0-9]+ of ' "reverse_watchpoint to before the library"
done_testing
