#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Conditions that are evaluated where the process is: the stops are those that the program's own output tells of, in both
# directions, and those that GDB finds where it evaluates by itself. GDB's own breakpoints at the same address stop steps.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build weighed && record weighed 100 || skip_all "no program"
truth=$T/weighed.out

cat >"$T/stops.py" <<'END'
import gdb
def stops(move):
    found = []
    while len(found) < 100:
        gdb.execute(move, to_string=True)
        if gdb.selected_frame().name() != "visit":
            break
        if not found:
            print(*(l.split("(")[-1] for l in gdb.execute("info breakpoints", to_string=True).splitlines() if "evals)" in l))
        found.append(str(gdb.parse_and_eval("n")))
    print(move + ": " + " ".join(found))
END
# all_stops CONDITION AWK NAME: the visits in both directions are those for which AWK holds.
all_stops() {
	for move in continue reverse-continue; do
		end=
		[ $move = continue ] || end=-e
		visits=$(awk "$2 { print \$1 }" "$truth")
		[ $move = continue ] || visits=$(printf '%s\n' "$visits" | tac)
		out=$(printf 'break visit if %s\nsource %s\npython stops("%s")\n' "$1" "$T/stops.py" $move | gdb_run $end "$T/weighed")
		is "$(printf '%s\n' "$out" | grep "^$move")" "$move: $(echo $visits)" "$3: $move" || diag "$out"
		[ -z "$visits" ] || like "$out" '^target evals' "it is handed over" || diag "$out"
	done
}

all_stops 'p->whole < -5000' '$2 < -5000' "an int"
all_stops 'p->big > 1000 && p->tiny < 0' '$3 > 1000 && $4 < 0' "a long and a char"
all_stops 'p->count >= 2147483648' '$5 >= 2147483648' "an unsigned"
all_stops 'n == 99' '$1 == 99' "one of a hundred"
all_stops 'n == -1' 'False' "none"
all_stops 'n % 10 == 3 || $rdi == 5' '$1 % 10 == 3 || $1 == 5' "a register"

# What cannot be read stops, and GDB says why.
unreadable=$(gdb_run "$T/weighed" <<'END'
break visit if p->next->whole == 123456789
python
for i in range(5):
    said = gdb.execute("continue", to_string=True)
    print("%s at %s" % ("unreadable" if "Cannot access memory at address" in said else "read", gdb.parse_and_eval("n")))
end
END
)
is "$(printf '%s\n' "$unreadable" | sed -n 's/^unreadable at //p' | tr '\n' ' ')" \
	"$(awk '$6 == "last" { print $1 }' "$truth" | head -5 | tr '\n' ' ')" "unreadable memory stops" || diag "$unreadable"

# Several conditions of one place, of threads, with counts; one without.
several=$(gdb_run "$T/weighed" <<'END'
python
def next_stops(times, move="continue"):
    for i in range(times):
        gdb.execute(move, to_string=True)
        print(move + " " + str(gdb.parse_and_eval("n")))
end
break visit if n == 20
break visit if n == 10 || n == 30
-- either
python next_stops(3)
python next_stops(2, "reverse-continue")
-- counted
jump_backward start
delete
break visit if n > 40
ignore 3 5
python next_stops(2)
-- threads
delete
break visit thread 1 if n > 90
python next_stops(2)
-- changed
condition 4 n > 95
python next_stops(1)
condition 4 n > 10 && n < 14
python next_stops(2, "reverse-continue")
-- another one
break visit
python next_stops(1)
delete 5
python next_stops(1, "reverse-continue")
-- commands
delete
break visit if n == 50
commands
silent
print n + 1000
end
continue
END
)
is "$(section "$several" either | grep "^[a-z-]*continue [0-9]" | tr '\n' ' ')" "continue 10 continue 20 continue 30 reverse-continue 20 reverse-continue 10 " "either of two" || diag "$several"
like "$(section "$several" counted | grep "^[a-z-]*continue [0-9]" | tr '\n' ' ')" 'continue 46 continue 47 $' "ignored hits" || diag "$several"
like "$(section "$several" threads | grep "^[a-z-]*continue [0-9]" | tr '\n' ' ')" 'continue 91 continue 92 $' "of a thread"
is "$(section "$several" changed | grep "^[a-z-]*continue [0-9]" | tr '\n' ' ')" "continue 96 reverse-continue 13 reverse-continue 12 " "another condition"
is "$(section "$several" 'another one' | grep "^[a-z-]*continue [0-9]" | tr '\n' ' ')" "continue 13 reverse-continue 12 " "a breakpoint without one beside it"
like "$(section "$several" commands)" '= 1050' "commands"

# GDB hears of none of the hits that do not count.
hears() {
	gdb_run $2 "$T/weighed" <<END
set breakpoint condition-evaluation $1
break visit if n == 1000
python
gdb.execute("set debug infrun 1")
said = gdb.execute("$3", to_string=True)
gdb.execute("set debug infrun 0")
print("stops %s" % ("many" if said.count("handle_inferior_event") > 100 else "few"))
end
END
}
for way in ' continue' '-e reverse-continue'; do
	is "$(hears host "${way% *}" "${way#* }" | grep '^stops')" "stops many" "evaluated by GDB, ${way#* } stops each time"
	is "$(hears target "${way% *}" "${way#* }" | grep '^stops')" "stops few" "else it does not"
done

# Chance.
for how in -O0 -O2; do
	prog_build weighed $how && record weighed 40
	random=$(printf 'source %s\npython compare(%d, %d)\n' "$LIZARD_SRC/tests/lib/conditions.py" "${LIZARD_SEED:-5}" "${LIZARD_LONG:+20}${LIZARD_LONG:-8}" | gdb_run "$T/weighed")
	is "$(printf '%s\n' "$random" | grep '^differ')" "different 0, handed over some" "conditions at random, $how" || diag "$random"
done

# GDB takes its own breakpoints for a step or finish for the user's at the same address.
LIZARD_CC=gcc prog_build behind && record behind
own=$(gdb_run "$T/behind" <<'END'
python
def at(line, text):
    import os
    for number, is_line in enumerate(open(os.environ["LIZARD_SRC"] + "/tests/progs/gdb/behind.c"), 1):
        if text in is_line:
            gdb.execute("%s %d%s" % (line, number, " if total == 12345"), to_string=True)
def shows(command):
    gdb.execute(command, to_string=True)
    frame = gdb.selected_frame()
    symtab = frame.find_sal().symtab
    line = frame.find_sal().line
    print("%s: %s" % (command, frame.name() + " " + (gdb.execute("list %d,%d" % (line, line), to_string=True).split(None, 1)[1].strip() if symtab else "?")))
def begin(place):
    gdb.execute("delete")
    gdb.execute("tbreak " + place, to_string=True)
    gdb.execute("continue", to_string=True)
end
python
begin("more")
at("break", "less(i);")
shows("finish")
begin("more")
shows("finish")
at("break", "total++;")
gdb.execute("break less if total == 12345")
shows("step")
at("break", "total++;")
shows("finish")
begin("more")
shows("finish")
at("break", "total++;")
shows("next")
begin("more")
gdb.execute("break less if total == 12345")
shows("advance less")
shows("advance less")
gdb.execute("delete")
gdb.execute("break *less if total == 12345")
shows("reverse-finish")
shows("stepi")
shows("reverse-stepi")
end
END
)
is "$(printf '%s\n' "$own" | grep -E '^[a-z -]+: (main|less) ')" "finish: main less(i);
finish: main less(i);
step: less total -= n / 2;
finish: main total++;
finish: main less(i);
next: main total++;
advance less: main less(i);
advance less: less total -= n / 2;
reverse-finish: main less(i);
stepi: less {
reverse-stepi: main less(i);" "steps end where GDB has its own breakpoint" || diag "$own"

# A whole loop without a marker or an event: positions count the arrivals that were passed by, too.
counted=$(gdb_run "$T/behind" <<END
source $LIZARD_SRC/tests/lib/conditions.py
break more if n == 3 || n == 7
python
host, target = both_ways("host"), both_ways("target")
print("stops %d, the same: %s" % (len(host[0]), host == target))
END
)
like "$counted" '^stops 3, the same: True' "positions behind hits that do not count" || diag "$counted"
done_testing
