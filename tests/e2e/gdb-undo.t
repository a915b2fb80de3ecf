#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A search that finds nothing stays where it was; undo-move and redo-move go through the last hundred moves.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour
out=$(gdb_run "$T/tour" <<'END'
python
def at():
    return gdb.execute("when", to_string=True).split("position ")[1].split()[0]
def go(command):
    try:
        gdb.execute(command, to_string=True)
    except gdb.error as e:
        print("%s: %s" % (command, e))
    return at()
main = at()
print("nothing to undo: %s" % (go("undo-move") == main))
print("jump_backward: %s" % (go("jump_backward factorial") == main))
print("reverse_watchpoint: %s" % (go("reverse_watchpoint total") == main))
end
-- local
next
reverse_watchpoint i
-- places
python
print("local: %s" % (go("undo-move") == main))
fill = go("jump_forward fill")
print("jump_forward: %s" % (go("jump_forward fill") == fill))
print("jump_forward -any: %s" % (go("jump_forward -any fill") == fill))
end
-- back
reverse-continue
reverse-nexti
reverse-continue
-- forth
python
print("reverse-continue: %s" % (go("undo-move") == fill))
start = go("redo-move")
print("redo-move: %s" % (start != fill and go("redo-move") == start))
print("two: %s" % (go("undo-move 2") == main))
end_ = go("continue")
print("redo is gone: %s" % (go("redo-move") == end_))
print("continue: %s" % (go("undo-move") == main))
places = [main] + [go("stepi") for i in range(110)]
print("a hundred: %s" % ([go("undo-move") for i in range(100)] == places[-2:-102:-1]))
print("no more: %s" % (go("undo-move") == places[-101]))
print("all again: %s" % (go("redo-move 1000") == places[-1]))
end
END
)
missing() { printf '%s\n' "$out" | grep -c "$1"; }
is "$(printf '%s\n' "$out" | grep ': \(True\|False\)$' | sed 's/.*: //' | sort -u)" True "all places are as they were" || diag "$out"
is "$(printf '%s\n' "$out" | grep -c ': True$')" 14 "of all cases"
is "$(missing '^undo-move: there is no move to take back')" 2 "where there is no earlier one"
is "$(missing '^redo-move: there is no move to make again')" 2 "and no later one"
is "$(missing '^jump_backward factorial: control was not there before')" 1 "jump_backward says that it found nothing"
is "$(missing '^jump_forward -any fill: control does not come there any more')" 1 "jump_forward says so"
like "$(section "$out" local | tr '\n' ' ')" 'i did not change since the start of the activation: nothing has moved. main \(' \
	"reverse_watchpoint of a local variable stays, too"
is "$(section "$out" back | grep -c '"undo-move" goes back')" 1 "the first reverse-continue to the start tells of undo-move"

# Places in a long stretch without markers, where arrivals are not counted.
cat >"$T/stretch.c" <<'END'
#include <unistd.h>
int main(void)
{
	volatile int sum = 0, y = 0;
	getppid();
	for (int i = 0; i < 4000; i++)
		sum += i;
	for (int i = 0; i < 3; i++)
		y += 7;
	getppid();
	return y != 21;
}
END
${CC:-cc} -g -O0 "$T/stretch.c" -o "$T/stretch" && record stretch
out=$(gdb_run "$T/stretch" <<'END'
break 9
continue
continue
continue
delete
stepi
stepi
stepi
-- was
print y
print $pc
-- then
stepi
stepi
continue
undo-move 3
-- is
print y
print $pc
END
)
values() { section "$out" "$1" | sed -n 's/^[$][0-9]* = //p' | tr '\n' ' '; }
like "$(values was)" '^21 .*main' "after three rounds" || diag "$out"
is "$(values is)" "$(values was)" "undo-move comes back to the third round"
done_testing
