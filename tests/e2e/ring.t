#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --keep-part last: what is on disk stays below the limit, and the last part of the run replays and is walked like a whole
# one, also if the tracer is killed.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/gdb.sh"

limit=2097152
lizard-cc -g -O0 "$LIZARD_SRC/tests/progs/trace/lastpart.c" -o "$T/lastpart" -pthread
ok $? "builds" || done_testing

# Bytes of all files that the limit is for.
stored() {
	cat "$1"/events* "$1"/markers* "$1"/checkpoints* | wc -c
}

# ---- recorded, and what there is of it ----
rec=$T/recordings/last
timeout -k 5 200 lizard-trace -q --max-size 2M --keep-part last -o "$rec" "$T/lastpart" 260 >"$T/out" 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "recorded, nothing on stderr"
"$T/lastpart" 260 >"$T/native"
is "$(md5sum <"$T/out")" "$(md5sum <"$T/native")" "the output is as natively"
n=$(stored "$rec")
[ "$n" -le $limit ] && [ "$n" -ge $((limit / 2)) ]
ok $? "no larger than the limit, and not much smaller ($n bytes)"
lizard info --json "$rec" >"$T/info"
first=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["first_event"])' <"$T/info")
[ "$first" -gt 200 ]
ok $? "its first events were not kept ($first)"
like "$(lizard info "$rec")" "^kept +the last part, from event $first " "info says so"
lizard info --check "$rec" >"$T/check" 2>&1
ok $? "all that is kept is as it was written" || diag "$(cat "$T/check")"
is "$(lizard dump --events "$rec" | head -n 1 | cut -d ' ' -f 2)" "$first" "dump begins with the first event that was kept"
like "$(timeout 200 lizard verify "$rec")" "clean: .* events" "it verifies"
like "$(timeout 200 lizard verify --all "$rec")" "clean: .* events" "as every process of it"
like "$(lizard ps "$rec")" "lastpart" "ps lists it"
like "$(lizard ls)" "last .*exit 0|exit 0.*last" "ls lists it"

# ---- in GDB: the end of the run is known, its beginning is not ----
line_of_call=$(grep -n 'total += round_of' "$LIZARD_SRC/tests/progs/trace/lastpart.c" | cut -d : -f 1)
print_line=$(grep -n 'the end \*/' "$LIZARD_SRC/tests/progs/trace/lastpart.c" | cut -d : -f 1)
tail=$(tail -n 1 "$T/native")
out=$(gdb_run --end "$rec" <<END
-- last
jump_backward lastpart.c:$print_line
printf "end %d: %ld %u %ld\n", i, total, state, aside
-- up
jump_backward next_random
backtrace
-- start
delete
reverse-continue
when
-- still
bs
prev
python
try:
    gdb.execute("jump_backward main")
except gdb.error as e:
    print(e)
end
-- again
jump_forward lastpart.c:$print_line
printf "end %d: %ld %u %ld\n", i, total, state, aside
END
)
is "$(section "$out" last | tail -n 1)" "$tail" "GDB: the last variables are those that the program printed"
like "$(section "$out" up)" "#0 .*next_random.*" "GDB: a function of the last round"
like "$(section "$out" up)" "#[23] .*main .*argc=2" "GDB: its callers, which were entered before the part"
like "$(section "$out" start)" "begins here: earlier parts of the run were not kept" "GDB: the recording's beginning is said to be one"
like "$(section "$out" start)" "^event $first of " "GDB: it is where the kept part begins"
is "$(section "$out" still | grep -c "begins here: earlier parts of the run were not kept")" 3 "GDB: neither bs nor prev nor a jump leads further back, which is said"
is "$(section "$out" again | grep '^end')" "$tail" "GDB: forwards from there to the end"

# ---- walks: backwards is forwards read from its end, and main, which was entered long ago, is main ----
cat >"$T/walk.py" <<'END'
import gdb


def at():
    return gdb.execute("when", to_string=True).splitlines()[1].split()[1]


def go(command):
    gdb.execute(command, to_string=True)
    return at()


def compare(name, start, forward, backward, n):
    go(start)
    there = [at()] + [go(forward) for _ in range(n)]
    back = [there[-1]] + [go(backward) for _ in range(n - 1)]
    wrong = sum(a != b for a, b in zip(reversed(there[1:]), back))
    print("WALK %s: %d steps, %d wrong" % (name, n, wrong), flush=True)
    for a, b in zip(reversed(there[1:]), back):
        if a != b:
            print("# %s: from %s: %s, wanted %s" % (name, start, b, a))
            break
    return there


gdb.execute("set pagination off")
compare("begin", "jump_forward 0%", "step", "bs", 40)
go("jump_forward 97%")
there = go("jump_forward round_of")
compare("in a round", "jump_forward " + there, "step", "bs", 60)
compare("over calls", "jump_forward " + there, "next", "prev", 40)
go("jump_forward " + there)
gdb.execute("up", to_string=True)
total = int(gdb.parse_and_eval("total"))
i = int(gdb.parse_and_eval("i"))
line = gdb.selected_frame().find_sal().line
go("jump_backward lastpart.c:%d" % line)
print("MAIN %s" % (int(gdb.parse_and_eval("i")) == i and gdb.selected_frame().name() == "main"))
go("next")
go("next")
then = at()
go("prev")
print("PREV %s" % (go("next") == then and gdb.selected_frame().name() == "main"))
point = gdb.Breakpoint("lastpart.c:%d" % line, internal=True)
go("jump_forward 100%")
seen = []
for _ in range(3):
    go("reverse-continue")
    seen.append(int(gdb.parse_and_eval("i")))
last = seen[0]
print("BREAKS %s" % (seen == [last, last - 1, last - 2] and last == 259))
END
timeout 280 lizard-gdb "$rec" -nx -batch -x "$T/walk.py" >"$T/walk" 2>&1
is "$(grep -c '^WALK .* 0 wrong$' "$T/walk")" 3 "walks: bs and prev go where step and next came from" || diag "$(grep '^[#WT]\|rror' "$T/walk")"
is "$(grep '^MAIN\|^PREV\|^BREAKS' "$T/walk" | tr '\n' ' ')" "MAIN True PREV True BREAKS True " "walks: jumps, prev and breakpoints in main, which was entered before" || diag "$(tail -n 12 "$T/walk")"

# The calls made before the part are known from its first state: else the markers of their functions would fit nothing.
LIZARD_DEBUG=1 timeout 200 lizard-gdb --end "$rec" -nx -batch -ex 'jump_backward round_of' -ex "jump_backward lastpart.c:$line_of_call" >"$T/debug" 2>&1
is "$(grep -c 'do not fit' "$T/debug")" 0 "walks: the call stacks at the beginning are known"
like "$(cat "$T/debug")" "total \+= round_of" "walks: ... and lead to the line of a call"

# ---- a deep stack at the beginning: all its frames are known, also behind a longjmp out of the upper ones ----
# A part is due when twice the size of such a state has been written: with this limit no second one is due before the end,
# where it would begin behind the place that is looked for. All markers are stored, so that a busy machine changes nothing.
cat >"$T/deep.py" <<'END'
import gdb


def place():
    return gdb.execute("when", to_string=True).splitlines()[1]


gdb.execute("set pagination off")
gdb.execute("jump_forward 0%", to_string=True)
start = place()
gdb.execute("jump_forward deepstack.c:%s" % line, to_string=True)
jumped = place()
gdb.execute("jump_forward " + start.split()[1], to_string=True)
gdb.Breakpoint("deepstack.c:%s" % line, internal=True)
gdb.execute("continue", to_string=True)
print("DEEP %d" % (jumped == place()))
print("# %s, continue: %s" % (jumped, place()))
gdb.execute("jump_forward 100%", to_string=True)
gdb.execute("jump_backward deepstack.c:%s" % line, to_string=True)
print("OUTERMOST %d" % int(gdb.parse_and_eval("n")))
END
lizard-cc -O0 -g "$LIZARD_SRC/tests/progs/replay/deepstack.c" -o "$T/deepstack"
for case in "return:/. back" "longjmp:outer back"; do
	how=${case%:*}
	line=$(grep -n "${case#*:}" "$LIZARD_SRC/tests/progs/replay/deepstack.c" | cut -d: -f1)
	deep=$T/recordings/deep-$how
	lizard-trace -q --max-size 3M --flow=full --keep-part last --checkpoint-interval 100 -o "$deep" "$T/deepstack" 70000 $how >"$T/out" 2>"$T/err"
	like "$(lizard info "$deep")" "^kept +the last part" "$how from a deep stack: the last part is kept" || diag "$(cat "$T/err")"
	LIZARD_DEBUG=1 timeout 300 lizard-gdb "$deep" -nx -batch -ex "python line = $line" -x "$T/deep.py" >"$T/deep" 2>&1
	is "$(grep '^DEEP' "$T/deep")" "DEEP 1" "$how from a deep stack: a jump goes where a breakpoint stops" || diag "$(tail -n 5 "$T/deep")"
	is "$(grep '^OUTERMOST' "$T/deep") $(grep -c 'do not fit' "$T/deep")" "OUTERMOST 70000 0" "$how from a deep stack: all its frames are known"
done

# ---- threads ----
timeout -k 5 200 lizard-trace -q --max-size 2M --keep-part last -o "$T/recordings/threads" "$T/lastpart" 120 2000 1 >"$T/out" 2>"$T/err"
is "$?" 0 "threads: recorded"
"$T/lastpart" 120 2000 1 >"$T/native"
is "$(md5sum <"$T/out")" "$(md5sum <"$T/native")" "threads: the output is as natively"
like "$(timeout 200 lizard verify "$T/recordings/threads")" "clean" "threads: it verifies"
is "$(stored "$T/recordings/threads" | awk -v max=$limit '{ print $1 <= max }')" 1 "threads: no larger than the limit"
out=$(gdb_run --end "$T/recordings/threads" <<END
jump_backward lastpart.c:$print_line
printf "end %d: %ld %u %ld\n", i, total, state, aside
END
)
is "$(printf '%s\n' "$out" | grep '^end')" "$(tail -n 1 "$T/native")" "threads: GDB: the last variables"

# ---- files that come and go: what is kept knows those that it needs, and no others; one that grows and shrinks is needed ----
lizard-cc -g -O0 "$LIZARD_SRC/tests/progs/trace/manyfiles.c" -o "$T/manyfiles" && mkdir "$T/many" "$T/many-native"
ok $? "files: builds"
rounds=${LIZARD_LONG:+70000} # more than a table has room for
rounds=${rounds:-4000}
"$T/manyfiles" "$T/many-native" $rounds >"$T/native"
timeout -k 5 600 lizard-trace -q --max-size 1M --keep-part last -o "$T/recordings/many" "$T/manyfiles" "$T/many" $rounds >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out" "$T/err")" "0 $(cat "$T/native")" "files: recorded"
timeout 200 lizard verify "$T/recordings/many" >"$T/verify" 2>&1
like "$(cat "$T/verify")" "clean" "files: it verifies, those included that became shorter"
n=$(lizard info --json "$T/recordings/many" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["files"]))')
[ "$n" -lt 2500 ]
ok $? "files: $n of $rounds are known"

# ---- packed, on another machine, as it were ----
lizard pack -o "$T/last.lizard" "$rec" >"$T/pack" 2>&1 && lizard unpack "$T/last.lizard" "$T/elsewhere" >>"$T/pack" 2>&1
like "$(timeout 200 lizard verify "$T/elsewhere")" "clean" "packed and unpacked it verifies" || diag "$(cat "$T/pack")"

# ---- the tracer is killed ----
for delay in 0.6 1.3 2.1 3.4; do
	rec=$T/recordings/killed
	rm -rf "$rec"
	lizard-trace -q --max-size 1M --keep-part last -o "$rec" "$T/lastpart" 5000 >/dev/null 2>&1 &
	tracer=$!
	sleep "$delay"
	kill -9 $tracer
	wait $tracer 2>/dev/null
	like "$(timeout 200 lizard verify "$rec" 2>&1)" "clean: .*incomplete|no checkpoint|no recording" "killed after $delay s: what is there verifies"
	rc=$?
	like "$(lizard info "$rec" 2>&1 | grep damage)" "incomplete" "... and says that it is cut"
	[ "$(stored "$rec")" -le 1048576 ] && [ $rc = 0 ]
	ok $? "... no larger than the limit"
done

# ---- a limit that is too small for the program ----
timeout -k 5 100 lizard-trace -q --max-size 20K --keep-part last -o "$T/recordings/tiny" "$T/lastpart" 40 >"$T/out" 2>"$T/err"
is "$? $(grep -c 'larger than 20480 bytes' "$T/err")" "0 1" "too small a limit: said once"
like "$(timeout 200 lizard verify "$T/recordings/tiny")" "clean" "... and the end is there all the same"

# ---- the first part, as before ----
timeout -k 5 100 lizard-trace -q --flow=full --max-size 1M --keep-part first -o "$T/recordings/first" "$T/lastpart" 3000 >"$T/out" 2>"$T/err"
is "$? $(grep -c 'goes on unrecorded' "$T/err")" "0 1" "the first part: recording ends, the program goes on"
like "$(timeout 200 lizard verify "$T/recordings/first")" "clean" "the first part: it verifies"

# ---- the terminal is the program's: a prompt stays where it is ----
if command -v script >/dev/null; then
	out=$(script -qec "timeout -k 5 100 lizard-trace -o $T/recordings/prompt sh -c 'printf \"your name? \"; sleep 2; echo done'" /dev/null </dev/null 2>&1)
	is "$(printf '%s\n' "$out" | head -n 1 | tr -d '\r')" "your name? done" "on a terminal nothing is written over the program's line"
	is "$(printf '%s\n' "$out" | tail -n +2 | grep -vc '^lizard: ')" 0 "... what the recorder says comes behind it" || diag "$out"
else
	skip "a terminal" "there is no script"
fi

lizard-trace --keep-part last true >"$T/out" 2>&1
is "$? $(grep -c 'max-size' "$T/out")" "125 1" "--keep-part last without --max-size is refused"
lizard-trace --keep-part middle --max-size 1M true >"$T/out" 2>&1
is "$? $(grep -c 'first or last' "$T/out")" "125 1" "an unknown part is refused"
done_testing
