#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A forked child with threads in the debugger: caught system calls and signals, siginfo, mappings; and GDB's record
# commands, in the patched GDB.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build child -O0 -pthread || skip_all "no program"
timeout 120 "$LIZARD_BIN/lizard-trace" -q --follow all "$T/child" >"$T/child.out" 2>"$T/child.err"
is "$(cat "$T/child.out")" 5 "recorded"
child=$("$LIZARD_BIN/lizard" ps "$T/child" | awk '/exit 5/ { print $1 }')
value='print $_siginfo._sifields._rt.si_sigval.sival_int'

out=$(gdb_run -p "$child" "$T/child" <<END
-- signal
catch syscall write
catch signal SIGUSR1
continue
$value
-- entry
continue
-- return
continue
-- thread
delete
break twice
continue
info threads
-- mappings
info proc mappings
-- reverse
set exec-direction reverse
step
-- reverse signal
catch signal SIGUSR1
continue
$value
-- forward
set exec-direction forward
delete
catch syscall 1
jump_forward end
-- reverse call
reverse-continue
reverse-continue
END
)
like "$(section "$out" signal)" 'Thread 1 .* hit Catchpoint 2 .signal SIGUSR1' "catch signal"
like "$(section "$out" signal)" '= 77$' "and its siginfo"
like "$(section "$out" entry)" 'Catchpoint 1 .call to syscall write' "catch syscall: entry"
like "$(section "$out" return)" 'Catchpoint 1 .returned from syscall write' "and return"
like "$(section "$out" thread)" 'Thread 2 .* hit Breakpoint 3, twice .n=21' "a breakpoint in the child's thread"
is "$(section "$out" thread | grep -c ' Thread [0-9.]* "child" ')" 2 "info threads"
like "$(section "$out" mappings)" ' r-xp  */.*/child *$' "info proc mappings"
like "$(section "$out" mappings)" '\[stack\] *$' "with the stack"
like "$(section "$out" reverse)" '^worker .arg=' "set exec-direction reverse"
like "$(section "$out" "reverse signal")" 'hit Catchpoint 4 .signal SIGUSR1|received signal SIGUSR1' "catch signal, backwards"
like "$(section "$out" "reverse signal")" '= 77$' "and its siginfo"
like "$(section "$out" "reverse call" | tr '\n' ' ')" 'Thread 1 .* hit Catchpoint 5 .returned from syscall write.*Thread 1 .* hit Catchpoint 5 .call to syscall write' "catch syscall, backwards in another thread"

if [ "${LIZARD_FRONT_END:-patched}" = stock ] || ! patched_gdb; then
	skip "GDB's record commands" "they are the patched GDB's"
	done_testing
	exit
fi
out=$(gdb_run --patched -p "$child" "$T/child" <<END
-- info
info record
-- bookmark
handle SIGUSR1 nostop noprint
break twice
continue
bookmark
when
-- calls
record function-call-history /c
-- instructions
record instruction-history
-- end
record goto end
info threads
-- back
goto-bookmark 1
when
info threads
-- begin
record goto begin
when
-- number
record goto 21
when
END
)
like "$(section "$out" info)" "^Recording: .*/processes/$child\$" "info record names the child's recording"
like "$(section "$out" calls | tr '\n\t' '  ')" '[0-9] worker [0-9]+   twice [0-9]+ worker' "record function-call-history of the child's thread"
like "$(section "$out" instructions)" '^0	=> 0x[0-9a-f]+ <twice\+' "record instruction-history"
like "$(section "$out" end)" '_exit .*status=5' "record goto end"
is "$(section "$out" end | grep -c ' Thread [0-9.]* "child" ')" 1 "where the thread is gone"
is "$(section "$out" back | grep -E '^(position|thread)')" "$(section "$out" bookmark | grep -E '^(position|thread)')" "goto-bookmark into the other thread"
is "$(section "$out" back | grep -c ' Thread [0-9.]* "child" ')" 2 "where it is there again"
like "$(section "$out" begin)" 'time 0 of' "record goto begin"
like "$(section "$out" number)" 'time 21 of' "record goto TIME"
done_testing
