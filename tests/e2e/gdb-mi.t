#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The machine interface that IDEs speak.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour

# Each command waits until GDB's answer to the one before, and the stop that it leads to, are there.
# A line that begins with & is not waited for to stop; what comes next comes a moment later.
cat >"$T/talk.py" <<'END'
import subprocess, sys, time
gdb = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def until(*starts):
    for line in gdb.stdout:
        print(line, end="")
        if line.startswith(starts):
            return
until("(gdb)")
for n, line in enumerate(sys.stdin, 1):
    print(">> " + line, end="")
    background = line.startswith("&")
    line = line.lstrip("&")
    gdb.stdin.write("%d%s" % (n, line))
    gdb.stdin.flush()
    moves = any(w in line for w in ("-exec-", "jump_", "bs", "prev", "reverse_"))
    until("*stopped", "%d^error" % n) if moves and not background else until("%d^" % n)
    if "-exec-interrupt" not in line:  # there the prompt comes before the stop
        until("(gdb)")
    time.sleep(0.3 if background else 0)
END
timeout 120 python3 "$T/talk.py" "$LIZARD_BIN/lizard-gdb" -nx -i=mi "$T/tour" >"$T/mi" 2>"$T/mi.err" <<'END'
-stack-info-frame
-break-insert add
-exec-continue
-exec-next
-exec-next --reverse
-exec-step-instruction
-break-delete 1
-exec-finish --reverse
-interpreter-exec console "bs"
-interpreter-exec console "jump_forward fill"
-interpreter-exec console "reverse_watchpoint total"
-data-evaluate-expression "length(\"four\")"
-exec-continue --reverse
-thread-info
-exec-jump main
-gdb-exit
END
mi() { sed -n "/^>> $1/,/^>> /p" "$T/mi"; }
like "$(mi -stack-info-frame)" '\^done,frame=.*func="main"' "stands at main"
like "$(mi -exec-continue | head -20)" '\*stopped,reason="breakpoint-hit".*func="add"' "-exec-continue"
like "$(mi '-exec-next$')" '\*stopped,reason="end-stepping-range"' "-exec-next"
like "$(mi '-exec-next --reverse')" '\*stopped.*func="add"' "-exec-next --reverse"
like "$(mi '-exec-finish --reverse')" '\*stopped.*func="main"' "-exec-finish --reverse"
like "$(mi '-interpreter-exec console "bs"')" '\*stopped,reason="end-stepping-range",frame=' "bs"
like "$(mi '-interpreter-exec console "jump')" '\*stopped,reason="end-stepping-range",frame=.*func="fill"' "jump_forward"
like "$(mi '-interpreter-exec console "reverse_w')" '\*stopped,.*frame=.*func="add"' "reverse_watchpoint"
like "$(mi '-interpreter-exec console "reverse_w')" 'New value = 20' "and its values"
like "$(mi '-data-eval')" '\^done,value="4"' "a call"
like "$(mi -thread-info)" '\^done,threads=\[\{id="1"' "-thread-info"
like "$(mi -exec-jump)" 'another way' "-exec-jump is refused"

prog_build long
record long 50000000
timeout 30 python3 "$T/talk.py" "$LIZARD_BIN/lizard-gdb" -nx -iex 'set mi-async on' -i=mi "$T/long" >"$T/mi" 2>"$T/mi.err" <<'END'
&-exec-continue
-exec-interrupt
-data-evaluate-expression "state != 1 && main::n == 50000000"
-interpreter-exec console "jump_backward start"
&-exec-continue
&-gdb-show language
-exec-interrupt
-gdb-exit
END
like "$(mi '-exec-interrupt')" '\*stopped,reason="signal-received",signal-name="SIGINT".*func="(main|next)"' "-exec-interrupt"
like "$(mi '-data-eval')" '\^done,value="1"' "in the middle of the run"
like "$(mi "&-gdb-show")" '\^done,value=' "commands are answered meanwhile"

# As editors start a debugger: without a program, which they name when the settings are made.
# Of a line `COMMAND => START`, the answer is read up to a line that matches START.
cat >"$T/edit.py" <<'END'
import re, subprocess, sys
gdb = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in sys.stdin:
    command, start = line.rstrip("\n").split(" => ")
    print(">> " + command)
    gdb.stdin.write(command + "\n")
    gdb.stdin.flush()
    for answer in gdb.stdout:
        print(answer, end="")
        if re.match(start, answer):
            break
gdb.stdin.close()
gdb.wait()
END
editor() { timeout 60 python3 "$T/edit.py" "$LIZARD_BIN/lizard-gdb" -nx --interpreter=mi2 "$@" >"$T/mi" 2>"$T/mi.err"; }
editor <<END
1-gdb-set non-stop off => 1\^
2-gdb-set mi-async on => 2\^
3-gdb-set print pretty on => 3\^
4-gdb-set breakpoint pending on => 4\^
5-enable-pretty-printing => 5\^
6-list-features => 6\^
7-environment-cd / => 7\^
8-inferior-tty-set /dev/null => 8\^
9-exec-arguments one two => 9\^
10-exec-run => 10\^
11-file-exec-and-symbols $T/tour => 11\^
12-break-insert add => 12\^
13-exec-run => \*stopped,reason
14-exec-finish --reverse => \*stopped,reason
15-exec-run --start => \*stopped.*func="main"
16-target-disconnect => 16\^
17-exec-run => \*stopped,reason
18-gdb-exit => 18\^
END
is "$(grep -c '^[1-9]^done' "$T/mi")" 9 "the settings are accepted" || diag "$(cat "$T/mi")"
like "$(mi 10)" '10\^error,msg="No program is named' "... -exec-run without a program"
like "$(mi 13)" '^13\^running' "... -exec-run is running"
like "$(mi 13)" '\*stopped,reason="breakpoint-hit".*func="add"' "... to the breakpoint"
like "$(mi 14)" '\*stopped.*func="main"' "... and goes backwards" || diag "$(mi 14)"
like "$(mi 15)" '\*stopped.*func="main"' "... -exec-run --start"
like "$(mi 17)" '\*stopped,reason="breakpoint-hit".*func="add"' "... -exec-run opens it again" || diag "$(mi 17)"
printf '1-file-exec-and-symbols /bin/true => 1.\n2-exec-run => 2.\n' | editor
like "$(mi 2)" '2\^error,msg=".*true has never been recorded' "a program without a recording" || diag "$(cat "$T/mi")"
printf '1-gdb-set non-stop off => 1.\n2-gdb-set mi-async off => 2.\n3-gdb-set non-stop on => 3.\n4-gdb-set mi-async on => 4.\n' | editor "$T/tour"
like "$(cat "$T/mi")" '^1\^done' "with a program: non-stop off is accepted"
like "$(cat "$T/mi")" '^2\^done' "... mi-async off as well"
like "$(cat "$T/mi")" '^3\^error' "... non-stop on is refused"
if grep -q 'takes this setting only' "$T/mi"; then
	like "$(cat "$T/mi")" "^4.error,msg=.*lizard-gdb -iex 'set mi-async on'" "... mi-async on comes first"
else
	like "$(cat "$T/mi")" '^4\^done' "... mi-async on is accepted"
fi
done_testing
