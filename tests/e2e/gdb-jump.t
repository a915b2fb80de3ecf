#!/bin/sh
# jump_forward and jump_backward in control flow that has no structure, from every iteration of a loop: where a breakpoint
# at the same place stops.
. "$(dirname "$0")/../lib/tap.sh"

cat >"$T/compare.py" <<'END'
import gdb


def place():
    return gdb.execute("when", to_string=True).splitlines()[1]


def compare(line):
    """From collatz's return, here and there in the run."""
    wrong = compared = 0
    for percent in range(8, 100, 9):
        gdb.execute("jump_forward %d%%" % percent, to_string=True)
        gdb.execute("jump_backward loops.c:14", to_string=True)
        start = place()
        for jump, run in (("jump_forward", "continue"), ("jump_backward", "reverse-continue")):
            gdb.execute("%s loops.c:%d" % (jump, line), to_string=True)
            jumped = place()
            gdb.execute("jump_forward " + start.split()[1], to_string=True)
            point = gdb.Breakpoint("loops.c:%d" % line, internal=True)
            gdb.execute(run, to_string=True)
            ran = place()
            point.delete()
            gdb.execute("jump_forward " + start.split()[1], to_string=True)
            compared += 1
            if jumped != ran:
                wrong += 1
                print("# from %s: %s to line %d: %s, %s: %s" % (start, jump, line, jumped, run, ran))
    print("RESULT %d: %s compared, %d wrong" % (line, compared, wrong), flush=True)


gdb.execute("set pagination off")
for line in (24, 27, 28):
    compare(line)
END

for level in -O0 -O2; do
	rec=$T/recordings/loops$level
	lizard-cc $level -g "$LIZARD_SRC/tests/progs/constructs/loops.c" -o "$T/loops$level" &&
		lizard-trace -q -o "$rec" "$T/loops$level" >"$T/out"
	ok $? "$level: recorded"
	timeout -k 5 600 lizard-gdb "$rec" -nx -batch -x "$T/compare.py" >"$T/log" 2>&1
	is "$(grep -c '^RESULT .* compared, 0 wrong$' "$T/log")" 3 "$level: jumps go where breakpoints stop" ||
		{ diag "$(grep '^#\|^RESULT' "$T/log" | tail)"; replay_hint "$rec"; }
done
# A handler that begins, and is interrupted by another signal's before its first instruction.
cat >"$T/handlers.py" <<'END'
import gdb


def run(command):
    return gdb.execute(command, to_string=True)


def arrivals(command, begin):
    run("jump_forward " + begin)
    found = []
    while len(found) < 100:
        try:
            run(command)
        except gdb.error:
            break
        if gdb.selected_frame().pc() not in handlers:
            break
        found.append(run("when").splitlines()[1])
    return [place for place in found if "@0x%x#" % address in place]


run("set pagination off")
run("handle SIGUSR1 SIGUSR2 nostop noprint pass")
names = ("first", "second")
handlers = [int(gdb.parse_and_eval("(long) &" + name)) for name in names]
for name, address in zip(names, handlers):
    # With one breakpoint only, GDB's way over it would lead through the other handler, back to the same place.
    points = [gdb.Breakpoint("*%d" % handler, internal=True) for handler in handlers]
    truth = arrivals("continue", "0%")
    for point in points:
        point.delete()
    print("TRUTH %s %d" % (name, len(truth)))
    for command, begin in (("jump_forward", "0%"), ("jump_backward", "100%")):
        found = arrivals("%s *%d" % (command, address), begin)
        if command == "jump_backward":
            found.reverse()
        print("RESULT %s %s: %d" % (command, name, found == truth))
        if found != truth:
            print("# wanted %s, found %s" % (truth, found))
END
for level in -O0 -O2; do
	rec=$T/recordings/handlers$level
	lizard-cc $level -g "$LIZARD_SRC/tests/progs/gdb/handlers.c" -o "$T/handlers$level" &&
		lizard-trace -q -o "$rec" "$T/handlers$level" >"$T/out"
	ok $? "handlers, $level: recorded"
	timeout -k 5 600 lizard-gdb "$rec" -nx -batch -x "$T/handlers.py" >"$T/log" 2>&1
	is "$(grep '^TRUTH' "$T/log")" "TRUTH first 12
TRUTH second 6" "$level: a handler that is interrupted at once is arrived at twice"
	is "$(grep -c '^RESULT .*: 1$' "$T/log")" 4 "$level: jumps find each beginning of a handler" ||
		{ diag "$(grep '^#\|^RESULT' "$T/log" | tail)"; replay_hint "$rec"; }
done
done_testing
