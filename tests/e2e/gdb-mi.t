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
&-exec-continue
&-gdb-show language
-exec-interrupt
-gdb-exit
END
like "$(mi '-exec-interrupt')" '\*stopped,reason="signal-received",signal-name="SIGINT".*func="(main|next)"' "-exec-interrupt"
like "$(mi '-data-eval')" '\^done,value="1"' "in the middle of the run"
like "$(mi "&-gdb-show")" '\^done,value=' "commands are answered meanwhile"
done_testing
