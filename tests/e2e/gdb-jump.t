#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# jump_forward and jump_backward in control flow that has no structure, from every iteration of a loop: where a breakpoint
# at the same place stops.
. "$(dirname "$0")/../lib/tap.sh"

cat >"$T/compare.py" <<'END'
import os

import gdb

# What finds the answers is the same for both front ends: a third of the places does for the second.
STEP = 27 if os.environ.get("LIZARD_FRONT_END") == "stock" else 9


def place():
    return gdb.execute("when", to_string=True).splitlines()[1]


def go(jump, start):
    """One that finds nothing stays, where a run comes to an end."""
    try:
        gdb.execute(jump, to_string=True)
    except gdb.error:
        return "nowhere" if place() == start else "stayed neither"
    return place()


def compare(line):
    """From collatz's loop, here and there in the run."""
    wrong = compared = 0
    for percent in range(8, 100, STEP):
        gdb.execute("jump_forward %d%%" % percent, to_string=True)
        gdb.execute("jump_backward loops.c:11", to_string=True)
        start = place()
        for jump, run in (("jump_forward", "continue"), ("jump_backward", "reverse-continue")):
            jumped = go("%s loops.c:%d" % (jump, line), start)
            gdb.execute("jump_forward " + start.split()[1], to_string=True)
            point = gdb.Breakpoint("loops.c:%d" % line, internal=True)
            gdb.execute(run, to_string=True)
            ran = "nowhere" if place() in ends else place()
            point.delete()
            gdb.execute("jump_forward " + start.split()[1], to_string=True)
            compared += 1
            if jumped != ran:
                wrong += 1
                print("# from %s: %s to line %d: %s, %s: %s" % (start, jump, line, jumped, run, ran))
    print("RESULT %d: %s compared, %d wrong" % (line, compared, wrong), flush=True)


gdb.execute("set pagination off")
ends = [go("jump_forward " + end, None) for end in ("start", "end")]
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
# In optimised code the machine code says which gaps of a function are no candidates: whole chains of arrivals are compared.
cat >"$T/chains.py" <<'END'
import gdb


def chain(command, start):
    """Up to six arrivals."""
    gdb.execute("jump_forward " + start, to_string=True)
    places = []
    while len(places) < 6:
        try:
            gdb.execute(command, to_string=True)
        except gdb.error:
            break
        place = gdb.execute("when", to_string=True).splitlines()[1]
        if place in ends:
            break
        places.append(place)
    return places


gdb.execute("set pagination off")
ends = []
for end in ("0%", "100%"):
    gdb.execute("jump_forward " + end, to_string=True)
    ends.append(gdb.execute("when", to_string=True).splitlines()[1])
arrivals = wrong = 0
for line in (18, 22, 37, 53, 71, 86):
    for start, jump, run in (("0%", "jump_forward", "continue"), ("100%", "jump_backward", "reverse-continue")):
        jumped = chain("%s -any places.c:%d" % (jump, line), start)
        point = gdb.Breakpoint("places.c:%d" % line, internal=True)
        ran = chain(run, start)
        point.delete()
        arrivals += len(ran)
        if jumped != ran:
            wrong += 1
            print("# line %d: %s: %s, %s: %s" % (line, jump, jumped, run, ran))
print("CHAINS %s, %d wrong" % ("many" if arrivals > 20 else arrivals, wrong))
END
lizard-cc -O2 -g "$LIZARD_SRC/tests/progs/answers/places.c" -o "$T/places" -lpthread &&
	lizard-trace -q -o "$T/recordings/places" "$T/places" 12 >"$T/out"
ok $? "places: recorded"
timeout -k 5 600 lizard-gdb "$T/recordings/places" -nx -batch -x "$T/chains.py" >"$T/log" 2>&1
is "$(grep '^CHAINS' "$T/log")" "CHAINS many, 0 wrong" "optimised: jumps go to each arrival" || { diag "$(tail -n 8 "$T/log")"; replay_hint "$T/recordings/places"; }

# Where reading the markers takes longer than running, whole intervals are run. The program counts its arrivals.
cat >"$T/stretches.py" <<'END'
import gdb


def counts(jump, start, place):
    """What has been counted at up to five arrivals, -1 where there is none."""
    gdb.execute("jump_forward " + start, to_string=True)
    seen = []
    while len(seen) < 5 and -1 not in seen:
        try:
            gdb.execute("%s -any *%d" % (jump, place[1]), to_string=True)
            seen.append(int(gdb.parse_and_eval(place[0])))
        except gdb.error:
            seen.append(-1)
    return seen


def run_back(condition, place):
    """What has been counted where a breakpoint stops two runs back from the end."""
    gdb.execute("jump_forward 100%", to_string=True)
    point = gdb.Breakpoint("*%d" % place[1], internal=True)
    point.condition = condition
    seen = []
    for _ in range(2):
        gdb.execute("reverse-continue", to_string=True)
        seen.append(int(gdb.parse_and_eval(place[0])) if gdb.selected_frame().pc() == place[1] else -1)
    point.delete()
    return seen


def load_of(name, number):
    """The first instruction of a line, which stands before it counts."""
    return name, gdb.find_pc_line(gdb.decode_line("stretches.c:%d" % number)[1][0].pc).pc


gdb.execute("set pagination off")
source = open(gdb.lookup_symbol("main")[0].symtab.fullname()).read().splitlines()
for name in ("rare", "often", "never"):
    number = [i for i, line in enumerate(source, 1) if "/* %s */" % name.upper() in line][0]
    place = load_of(name, number)
    for jump, start in (("jump_backward", "100%"), ("jump_forward", "0%")):
        print("COUNTS %s %s %s" % (name, jump, counts(jump, start, place)))
    for condition in (None, name + " == 2", name + " == 7000", name + " > 30000"):
        print("BACK %s if %s: %s" % (name, condition, run_back(condition, place)))
END
rec=$T/recordings/stretches
lizard-cc -O2 -g "$LIZARD_SRC/tests/progs/gdb/stretches.c" -o "$T/stretches" &&
	lizard-trace -q --checkpoint-interval=30 -o "$rec" "$T/stretches" >"$T/out"
like "$(cat "$T/out")" 'rare 4, often 25000, never 0$' "stretches: recorded"
timeout -k 5 600 lizard-gdb "$rec" -nx -batch -x "$T/stretches.py" >"$T/log" 2>&1
is "$(grep '^COUNTS' "$T/log")" "COUNTS rare jump_backward [3, 2, 1, 0, -1]
COUNTS rare jump_forward [0, 1, 2, 3, -1]
COUNTS often jump_backward [24999, 24998, 24997, 24996, 24995]
COUNTS often jump_forward [0, 1, 2, 3, 4]
COUNTS never jump_backward [-1]
COUNTS never jump_forward [-1]" "jumps over stretches that only compute" || { diag "$(tail -n 8 "$T/log")"; replay_hint "$rec"; }
is "$(grep '^BACK' "$T/log")" "BACK rare if None: [3, 2]
BACK rare if rare == 2: [2, -1]
BACK rare if rare == 7000: [-1, -1]
BACK rare if rare > 30000: [-1, -1]
BACK often if None: [24999, 24998]
BACK often if often == 2: [2, -1]
BACK often if often == 7000: [7000, -1]
BACK often if often > 30000: [-1, -1]
BACK never if None: [-1, -1]
BACK never if never == 2: [-1, -1]
BACK never if never == 7000: [-1, -1]
BACK never if never > 30000: [-1, -1]" "runs back over them, with conditions and without" || { diag "$(tail -n 8 "$T/log")"; replay_hint "$rec"; }

# GDB's explicit locations.
. "$LIZARD_SRC/tests/lib/gdb.sh"
out=$(gdb_run "$T/recordings/loops-O0" <<END
-- function
jump_forward -any -function collatz
-- line
jump_backward start
jump_forward -source loops.c -line 14
jump_backward -qualified collatz
-- junk
jump_forward -line 14 more
END
)
like "$(section "$out" function)" '^collatz \(' "jump_forward -any -function"
like "$(section "$out" line | tr '\n' ' ')" ' 14[^0-9].*collatz \(' "-source -line, -qualified"
like "$(section "$out" junk)" 'Junk at end of arguments' "and nothing behind"
for where in -qualified '-probe-stap libc:setjmp' '-function nothing' '-line'; do
	out=$(echo "jump_forward $where" | gdb_run "$T/recordings/loops-O0")
	like "$out" 'There is no code at -|Function "nothing" not defined|missing argument for "-line"' "no location: $where"
done
address=$(printf 'print/x (long)collatz + 2\n' | gdb_run "$T/recordings/loops-O0" | sed -n 's/^\$1 = //p')
out=$(echo "jump_forward *$address" | gdb_run "$T/recordings/loops-O0")
like "$out" "no instruction seems to begin at $address" "*ADDRESS within an instruction"

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
# A name that code without markers has as well: arrivals at both, in their order.
cat >"$T/namesakes.py" <<'END'
import gdb


def place():
    return gdb.execute("when", to_string=True).splitlines()[1].split()[1]


gdb.execute("set pagination off")
libraries = wrong = 0
for percent in range(4, 100, 5):
    gdb.execute("jump_forward %d%%" % percent, to_string=True)
    start = place()
    for jump, run in (("jump_forward", "continue"), ("jump_backward", "reverse-continue")):
        # several in a row, as calls of the library's come in pairs
        places = []
        for command in (jump, run):
            gdb.execute("jump_forward " + start, to_string=True)
            point = gdb.Breakpoint("visit", internal=True) if command == run else None
            found = []
            for _ in range(8):
                gdb.execute(command + (" visit" if command == jump else ""), to_string=True)
                found.append(place())
                libraries += command == run and gdb.selected_frame().find_sal().symtab.filename.endswith("lib.c")
            if point:
                point.delete()
            places.append(found)
        wrong += places[0] != places[1]
        if places[0] != places[1]:
            print("# from %s: %s: %s, %s: %s" % (start, jump, places[0], run, places[1]))
print("RESULT %s, %d wrong" % ("some in the library" if libraries > 40 else libraries, wrong))
END
for level in -O0 -O2; do
	rec=$T/recordings/namesakes$level
	gcc -O1 -g -fPIC -shared "$LIZARD_SRC/tests/progs/gdb/namesakes_lib.c" -o "$T/libnamesakes.so" &&
		lizard-cc $level -g "$LIZARD_SRC/tests/progs/gdb/namesakes.c" "$T/libnamesakes.so" -o "$T/namesakes$level" &&
		lizard-trace -q -o "$rec" "$T/namesakes$level" >"$T/out"
	ok $? "namesakes, $level: recorded"
	timeout -k 5 600 lizard-gdb "$rec" -nx -batch -x "$T/namesakes.py" >"$T/log" 2>&1
	is "$(grep '^RESULT' "$T/log")" "RESULT some in the library, 0 wrong" \
		"$level: jumps go to each of a name's places, with markers or without" ||
		{ diag "$(grep '^#\|^RESULT' "$T/log" | tail)"; replay_hint "$rec"; }
done
done_testing
