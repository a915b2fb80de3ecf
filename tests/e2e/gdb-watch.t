#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# reverse_watchpoint on all kinds of expressions.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour
line() { grep -n "$1" "$LIZARD_SRC/tests/progs/gdb/tour.c" | head -1 | cut -d: -f1; }
printf_line=tour.c:$(line 'printf(')
return_line=tour.c:$(line 'return n \* below')

out=$(gdb_run "$T/tour" <<END
jump_backward start
jump_forward $printf_line
-- variable
reverse_watchpoint total
reverse_watchpoint total
-- member
jump_backward start
jump_forward $printf_line
reverse_watchpoint box.depth[1]
-- heap
jump_backward start
jump_forward $printf_line
reverse_watchpoint list->next->value
-- operands
jump_backward start
jump_forward $printf_line
reverse_watchpoint left * 100 + right
reverse_watchpoint left * 100 + right
-- system call
jump_backward start
jump_forward $printf_line
reverse_watchpoint buffer
bt
-- string
jump_backward start
jump_forward $printf_line
reverse_watchpoint box.label[0]
-- local
jump_backward start
jump_forward $printf_line
reverse_watchpoint sum
reverse_watchpoint sum
-- activation
jump_backward start
jump_forward push
finish
reverse-step
reverse_watchpoint n->next
reverse_watchpoint n
-- recursion
jump_backward start
jump_forward $printf_line
jump_backward $return_line
reverse_watchpoint n
-- breakpoints
jump_backward start
jump_forward $printf_line
break push
reverse_watchpoint total
info breakpoints
delete
-- reads
jump_backward start
jump_forward $printf_line
rwatch total
continue
reverse-continue
set debug remote 1
reverse-continue
set debug remote 0
bt 1
delete
-- accesses
awatch total
reverse-continue
reverse-continue
continue
continue
continue
delete
-- main
jump_backward start
jump_forward main
reverse_watchpoint i
-- start
jump_backward start
jump_forward main
reverse_watchpoint total
-- nowhere
jump_backward main
END
)
like "$(section "$out" variable | tr '\n' ' ')" 'Old value = 10 New value = 20 .*total \+= r.*Old value = 4 New value = 10' "a variable, twice"
like "$(section "$out" member | tr '\n' ' ')" 'Old value = 1 New value = 5 .*depth\[i % 3\]' "a member"
like "$(section "$out" heap | tr '\n' ' ')" 'Old value = 1 New value = 77 .*list->next->value = 77' "heap memory"
like "$(section "$out" operands | tr '\n' ' ')" 'Old value = 1004 New value = 1020 .*right = 20.*Old value = 304 New value = 1004 .*left = 10' \
	"an expression with two operands"
like "$(section "$out" "system call" | tr '\n' ' ')" 'Old value = .*000.* New value = "pipes.* fill \(\)' "written by a system call"
like "$(section "$out" string | tr '\n' ' ')" "Old value = 0 .*New value = 108 'l'" "written by a library"
like "$(section "$out" "local" | tr '\n' ' ')" 'Old value = 6 New value = 10 .*sum = add.*Old value = 3 New value = 6' "a local variable"
like "$(section "$out" activation | tr '\n' ' ')" 'Old value = .*New value = .*n = malloc' "a local pointer"
like "$(section "$out" recursion | tr '\n' ' ')" 'Old value = .* New value = 5 .*in factorial \(' \
	"over calls of the function itself"
like "$(section "$out" breakpoints | tr '\n' ' ')" 'Old value = 10 New value = 20 .*total \+= r' "breakpoints do not stop it"
is "$(section "$out" breakpoints | grep -c -e 'already hit' -e ', push')" 0 "and are not counted"
like "$(section "$out" reads | tr '\n' ' ')" 'read watchpoint [0-9]+: total  Value = 20 .* Value = 20 .* Value = 10 .*#0 +add \(x=6, y=4\)' \
	"GDB's rwatch, both ways"
if echo 'info lizard' | gdb_run "$T/tour" | grep -q '^front end .*lizard serve$'; then
	like "$(section "$out" reads)" 'received: T05.*;rwatch:[0-9a-f]+;' "in the protocol's words"
else
	skip "in the protocol's words" "this front end has no protocol"
fi
like "$(section "$out" accesses | tr '\n' ' ')" \
	'Old value = 10 New value = 4 .*add \(x=3, y=3\).* Value = 4 .* Value = 4 .*Old value = 4 New value = 10 .* Value = 10 .*add \(x=6, y=4\)' \
	"GDB's awatch, both ways"
like "$(section "$out" main | tr '\n' ' ')" 'i did not change since the start of the activation.*main .argc=.* at .*tour.c:' "a local variable of main that has not changed"
like "$(section "$out" start)" 'did not change since the start of the recording' "the start of the recording"
is "$(section "$out" start | grep -E -c " in (_start|\?\?) |$no_history|^main \(")" 4 "which is not shown"
is "$(section "$out" nowhere | grep -c 'control was not there before')" 1 "a jump that finds nothing says so once"

# Inlined functions begin between here and the change.
prog_build inlined -O2 && record inlined
return_line=inlined.c:$(grep -n 'return sum' "$LIZARD_SRC/tests/progs/gdb/inlined.c" | cut -d: -f1)
out=$(gdb_run "$T/inlined" <<END
jump_forward $return_line
reverse_watchpoint sum
END
)
like "$(echo "$out" | tr '\n' ' ')" 'sum  Old value = 31 New value = 94 .*sum = sum \* 3' "past inlined calls"

# Thread-local variables: before the loader has made them they are nowhere.
cat >"$T/local.c" <<'END'
static __thread int zero, five = 5;
int main(void)
{
	zero++;
	five++;
	return zero + five;
}
END
"$LIZARD_BIN/lizard-cc" -g -O0 "$T/local.c" -o "$T/local" && record local
"$LIZARD_BIN/lizard-cc" -g -O0 -static "$T/local.c" -o "$T/local-static" && record local-static
# GDB 17 and newer look for such a variable themselves. They delete a watchpoint on one that is not there; one on its memory stays.
major=$(echo 'python print("major", gdb.VERSION.split(".")[0])' | gdb_run "$T/local" | sed -n 's/^major //p')
location=
[ "$major" -le 16 ] || location=-l
out=$(gdb_run "$T/local" <<END
reverse_watchpoint zero
when
-- set
jump_forward main
reverse_watchpoint five
bt
-- wild
jump_forward main
watch *(int *) 0x8000000000000000
continue
delete
-- both
jump_backward main
watch $location zero
watch $location five
reverse-continue
reverse-continue
reverse-continue
continue
continue
continue
continue
-- nowhere
jump_backward start
print zero
END
)
like "$(echo "$out" | sed '/^-- set/q' | tr '\n' ' ')" 'zero  Old value = <Cannot access memory.* New value = 0 .* in (.*mmap|\?\? )' \
	"a thread-local variable begins to be there"
like "$(section "$out" nowhere)" 'Cannot access memory|Cannot find thread-local storage' "which is not there at the start"
like "$(section "$out" "set" | tr '\n' ' ')" 'Old value = 0 New value = 5 .*_dl_allocate_tls_init' "one that the loader has set"
is "$(printf '%s\n' "$out" | grep -c 'aborted\|debug registers')" 0 "no run is ended by it"
like "$(section "$out" wild)" 'recording ends here' "nor by an address beyond all memory"
like "$(section "$out" both | tr '\n' ' ')" "Old value = 5 New value = 0 .*($no_history).*Old value = 0 New value = 1 .*Old value = 5 New value = 6 " \
	"watched from before it is there"
out=$(gdb_run "$T/local-static" <<END
watch zero
reverse-continue
continue
END
)
if [ "$major" -le 16 ]; then
	like "$(echo "$out" | tr '\n' ' ')" 'Old value = 0 New value = <unreadable> .*thread-local variable is not there yet: .*recording ends here' \
		"where nothing stops GDB when it is there, a sentence says so"
else
	like "$(echo "$out" | tr '\n' ' ')" 'Cannot find thread-local storage.*Watchpoint 1 deleted.*recording ends here' \
		"this GDB deletes the watchpoint, and the run goes on"
fi

# Where it cannot be read; the second variable is in a register.
cat >"$T/wild.c" <<'END'
char cell[2], *p;
int n;
__attribute__((noipa)) static char *at(long to) { return to ? (char *)to : cell; }
__attribute__((noipa)) static void use(char *q) { n += q != 0; }
int main(void)
{
	char *q = at(0);
	p = q;
	q[1] = 'a';
	use(q);
	p[1] = 'b';
	p = at(8);
	use(q);
	q = at(4);
	use(q);
	q = at(8);
	use(q);
	p = 0;
	n = 0;
	return 0;
}
END
"$LIZARD_BIN/lizard-cc" -g -O1 "$T/wild.c" -o "$T/wild" && record wild
out=$(gdb_run "$T/wild" <<END
jump_forward wild.c:17
-- register
info address q
reverse_watchpoint q[1]
reverse_watchpoint q[1]
jump_forward end
-- memory
reverse_watchpoint p[1]
reverse_watchpoint p[1]
reverse_watchpoint p[1]
-- null
reverse_watchpoint *(char *) 0
-- unknown
reverse_watchpoint p[nothing]
END
)
values() { section "$out" "$1" | sed -n 's/^\(Old\|New\) value = //p' | tr '\n' ' '; }
is "$(values register)" "98 'b' <Cannot access memory at address 0x5> 97 'a' 98 'b' " "from a register that leads nowhere"
like "$(section "$out" register)" 'a variable in .r' "it is in a register"
is "$(values memory)" "98 'b' <Cannot access memory at address 0x1> 97 'a' 98 'b' 0 '\\000' 97 'a' " \
	"to where it could be read, not to where it led to another place that cannot"
like "$(section "$out" null)" 'did not change since the start of the recording' "what never could"
like "$(section "$out" unknown)" 'No symbol "nothing" in current context' "a name that is none"

# Breakpoints with an enable count, checkpoints and moves while GDB's direction is backward.
out=$(gdb_run "$T/tour" <<END
jump_forward $printf_line
break push
enable count 3 1
break fill
reverse_watchpoint total
info breakpoints
delete
-- moves
set exec-direction reverse
bs
prev
reverse_watchpoint total
jump_forward $printf_line
reverse_watchpoint total
-- step
jump_forward $printf_line
step
reverse_watchpoint total
-- start
start
show exec-direction
END
)
like "$out" 'disable after next 3 hits' "an enable count stays"
is "$(printf '%s\n' "$out" | grep -c 'disable after')" 1 "one only"
is "$(printf '%s\n' "$out" | grep -c 'Already in reverse')" 0 "set exec-direction reverse: no move is refused"
like "$(section "$out" moves | tr '\n' ' ')" 'Old value = 4 New value = 10 .*Old value = 10 New value = 20 ' "and each goes where it should"
like "$(section "$out" step | tr '\n' ' ')" 'printf.*total \+= r' "as step does"
like "$(section "$out" start | tr '\n' ' ')" 'main \(.*Reverse' "and start to main, and then it is still reverse"
# Registers are those of the selected frame, not of whichever is the newest at another instant.
cat >"$T/frames.c" <<'END'
static int seen;
__attribute__((noipa)) static void set(volatile int *p) { *p = 7; }
__attribute__((noipa)) static void look(void) { seen++; }
int main(void)
{
	volatile int x = 1;
	set(&x);
	look();
	return seen - 1;
}
END
"$LIZARD_BIN/lizard-cc" -g -O0 "$T/frames.c" -o "$T/frames" && record frames
out=$(gdb_run "$T/frames" <<'END'
jump_forward look
up
set $distance = (long)$rbp - (long)&x
-- memory
reverse_watchpoint *(int *)($rbp - $distance)
-- register
frame function main
reverse_watchpoint $rbp
END
)
is "$(values memory)" "1 7 " "memory that a register of the selected frame leads to" || diag "$out"
like "$(section "$out" memory)" ' in set \(' "changed by another function"
like "$(section "$out" register)" '^[$]rbp: only in frame #0 can a register be followed' "a register of an outer frame is refused"

# ---- what has been run in vain is not run again, and the same is found ----
cat >"$T/rare.c" <<'C'
#include <stdio.h>
static volatile unsigned rare, often;
int main(void)
{
	for (unsigned i = 1; i <= 400000; i++) {
		often += i % 7 > 3 ? i : 1;
		if (i == 3000 || i == 3001 || i == 150000)
			rare = i;
	}
	printf("%u %u\n", rare, often);
	return 0;
}
C
lizard-cc -g -O0 "$T/rare.c" -o "$T/rare" && lizard-trace -q --checkpoint-interval 20 -o "$T/recordings/rare" "$T/rare" >"$T/out"
ok $? "a program whose variable changes seldom: recorded"
cat >"$T/chains.py" <<'END'
import gdb


def place():
    return gdb.execute("when", to_string=True).splitlines()[1]


def chain(start, n):
    gdb.execute("jump_forward " + start, to_string=True)
    found = []
    for _ in range(n):
        gdb.execute("reverse-continue", to_string=True)
        found.append((place(), int(gdb.parse_and_eval("rare"))))
    return found


gdb.execute("set pagination off")
gdb.execute("jump_forward 90%", to_string=True)
gdb.execute("jump_backward main", to_string=True)
gdb.execute("watch rare", to_string=True)
first, again, middle, behind = chain("100%", 4), chain("100%", 4), chain("20%", 3), chain("80%", 4)
print("VALUES %s" % [value for _, value in first])
print("SAME %s %s %s" % (again == first, middle == first[1:], behind == first))
END
timeout 200 lizard-gdb -nx -batch -x "$T/chains.py" "$T/recordings/rare" >"$T/log" 2>&1
is "$(grep '^VALUES' "$T/log")" "VALUES [3001, 3000, 0, 0]" "changes are found one after the other" || diag "$(tail -n 5 "$T/log")"
is "$(grep '^SAME' "$T/log")" "SAME True True True" "from the same end, from the middle of the run, and from behind it"
done_testing
