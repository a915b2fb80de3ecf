#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A tour of lizard-gdb on one small program: forward, backward, jumps, and GDB's own commands.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour
is $? 7 "the program's exit status"
line() { grep -n "$1" "$LIZARD_SRC/tests/progs/gdb/tour.c" | head -1 | cut -d: -f1; }
total=$(line 'total += r')
wide=$(line 'box.width = fact')

out=$(gdb_run "$T/tour" <<END
-- steps
fs 2
fn
bs
-- into
tbreak add
continue
bs
bs
-- last line of a callee
jump_forward factorial
finish
bs
-- over a call
jump_backward $wide
fn
prev
-- jumps
jump_backward start
jump_forward add
jump_forward add
jump_backward add
jump_forward *add
x/i \$pc
jump_forward tour.c:$total
jump_backward start
jump_forward end
jump_forward 50%
-- when
jump_backward start
jump_forward add
when
info lizard
-- count
jump_forward start
jump_forward main
fs 3
bs 3
END
)
like "$out" '^main \(argc=1, argv=0x[0-9a-f]+\) at .*tour.c:[0-9]+' "stops at main"
like "$(section "$out" "into")" '^Temporary breakpoint [0-9]+, add \(x=0, y=0\)' "tbreak"
like "$(section "$out" "into")" 'main .*at .*tour.c:[0-9]+' "bs out to the caller"
like "$(section "$out" "last line of a callee" | tail -2)" '^factorial \(n=5\)|^[0-9]+.*}' "bs into a callee's last line"
like "$(section "$out" "over a call")" 'box.width = factorial' "prev over a call"
like "$(section "$out" "jumps")" '^add \(x=0, y=0\)' "jump_forward to a function"
like "$(section "$out" "jumps")" '^add \(x=0, y=1\)' "and to its next call"
like "$(section "$out" "jumps")" '^=> 0x[0-9a-f]+ <add>:' "and to its first instruction"
like "$(section "$out" "when")" '^event [0-9,]+ of [0-9,]+, time [0-9,]+ of [0-9,]+ \([0-9.]+%\)' "when"
like "$(section "$out" "when")" '^position [0-9]+:[0-9,]+\.[0-9,]+@' "when prints a position"
like "$(section "$out" "when")" 'exit status 7' "info lizard"
is "$(section "$out" "count" | sed -n 5p)" "$(section "$out" "count" | sed -n 3p)" "bs 3 undoes fs 3" ||
	diag "$(section "$out" count)"

out=$(gdb_run "$T/tour" <<END
-- reverse
break add if x == 3
continue
next
reverse-next
reverse-finish
reverse-step
reverse-stepi
reverse-nexti
reverse-continue
-- forward
delete
break add
continue
info breakpoints
up
until
delete
finish
continue
-- looks
jump_backward add
info threads
info registers rip
info proc mappings
info signals SIGINT
x/2i \$pc
print box
print \$_siginfo
END
)
like "$(section "$out" "reverse")" '^Breakpoint 1, add \(x=3, y=3\)' "a condition"
like "$(section "$out" "reverse")" "$no_history" "reverse-continue to the start says so"
like "$(section "$out" "forward")" 'breakpoint already hit 1 time' "hits are counted"
like "$(section "$out" "forward")" 'The recording ends here: the program exited with status 7' "the end says so"
like "$(section "$out" "forward")" "$no_history" "as GDB does"
like "$(section "$out" "looks")" '^\* 1 .*Thread' "info threads"
like "$(section "$out" "looks")" 'rip +0x[0-9a-f]+ .*<add' "info registers"
like "$(section "$out" "looks")" 'r-xp.*/tour' "info proc mappings"
like "$(section "$out" "looks")" '=> 0x[0-9a-f]+ <add' "x/i"
like "$(section "$out" "looks")" 'depth = \{3, 5, 2\}|depth = \{' "print a structure"

entry=$(printf '0x%x' $((0x555555554000 + $(readelf -h "$T/tour" | sed -n 's/.*Entry point address: *//p'))))
out=$(gdb_run "$T/tour" <<END
-- calls
jump_backward start
jump_forward fill
print total
call length("abcdef")
print add(1000, 1)
print total
when
fs
print total
-- deep calls
print factorial(20000)
print (long)malloc(1 << 22) > 0
call (long)write(1, "from a call\n", 12)
call (int)puts("a line of a call")
python
try:
    gdb.execute("call (void)exit(3)")
except gdb.error as e:
    print("given up: %s" % e)
end
print total
-- writes
set var total = 12345
print total
fn
print total
jump_backward fill
-- registers
set var \$rip = main
stepi
bt 1
-- refusals
set confirm off
python
for c in ("jump main", "return", "signal SIGUSR1", "queue-signal SIGUSR1", "jump_forward nowhere", "jump_forward 101%", "restart 9"):
    try:
        gdb.execute(c)
    except gdb.error as e:
        print("refused %s: %s" % (c, e))
end
-- checkpoints
checkpoint
jump_forward end
checkpoint
-- restart
restart 1
-- lists
info checkpoints
delete checkpoint 1
info checkpoints
-- nowhere
jump_forward start
python
try:
    gdb.execute("jump_backward factorial")
except gdb.error as e:
    print(e)
end
-- before all markers
jump_forward end
jump_backward *$entry
x/i \$pc
-- percent
jump_forward end
when
jump_backward factorial
when
jump_forward 100%
when
END
)
like "$(section "$out" "calls" | grep '^\$')" '^\$1 = 20' "print"
like "$(section "$out" "calls" | grep '^\$')" '^\$2 = 6' "call f(\"abc\")"
like "$(section "$out" "calls" | grep '^\$')" '^\$3 = 1001' "a call that changes memory"
is "$(section "$out" "calls" | grep '^\$' | tail -1)" '$5 = 20' "is thrown away with the next move"
like "$(section "$out" "deep calls" | tr '\n' ' ')" '\$6 = 0 \$7 = 1 ' "calls that write many markers, and that map memory"
like "$(section "$out" "deep calls" | tr '\n' ' ')" 'from a call \$8 = 12 ' "what a call writes is shown"
like "$(section "$out" "deep calls" | tr '\n' ' ')" 'a line of a call \$9 = ' "and what it writes line by line"
like "$(section "$out" "deep calls" | tr '\n' ' ')" 'called function ended the program.*\$10 = 20' "a call of exit ends the call only"
like "$(section "$out" "writes")" 'this happens in a copy' "a write to memory is explained"
like "$(section "$out" "writes")" 'change of memory was thrown away' "and when it is thrown away"
like "$(section "$out" "registers")" 'changed registers were thrown away' "a changed program counter is refused"
like "$(section "$out" "registers")" '^#0 .*fill \(' "nothing has moved"
like "$(section "$out" "writes" | grep '^\$' | head -1)" '= 12345' "it holds in a diversion"
like "$(section "$out" "writes" | grep '^\$' | tail -1)" '= 20' "and is thrown away"
like "$(section "$out" "refusals")" 'refused jump main: .*another way' "jump is refused"
like "$(section "$out" "refusals")" 'refused return: .*return early' "return is refused"
like "$(section "$out" "refusals")" 'refused signal SIGUSR1: .*the signals that it got' "signal is refused"
like "$(section "$out" "refusals")" 'refused queue-signal SIGUSR1: .*the signals that it got' "queue-signal is refused"
like "$(section "$out" "refusals")" 'refused jump_forward nowhere: ' "an unknown place"
like "$(section "$out" "refusals")" 'refused jump_forward 101%: ' "an unknown percentage"
like "$(section "$out" "refusals")" 'refused restart 9: .*no checkpoint' "an unknown checkpoint"
like "$(section "$out" "checkpoints")" '^Checkpoint 1: fill' "checkpoint"
like "$(section "$out" "restart")" '^fill \(' "restart"
is "$(section "$out" "lists" | sed -n 's/^  \([12]\) .*/\1/p' | tr '\n' ' ')" "1 2 2 " "info checkpoints, delete checkpoint"
like "$(section "$out" "before all markers")" '^=> 0x[0-9a-f]+ <_start>' "a jump to before the first marker"
like "$(section "$out" "nowhere")" 'control was not there before' "a jump that finds nothing says so"
is "$(section "$out" "percent" | sed -n 's/.* time \([0-9]*\) of \([0-9]*\) (\(.*\)%)/\1 \2 \3/p' |
	awk '{ printf "%s ", sprintf("%.2f", 100 * $1 / $2) == $3 }')" "1 1 1 " "when's percentage"
is "$(section "$out" "percent" | sed -n 's/^position //p' | sed -n '1p;$p' | uniq | wc -l)" 1 "100% is the end" || diag "$(section "$out" percent)"

out=$(gdb_run "$T/tour" </dev/null)
printf '%s\n' "$out" | grep -q '^sum '
is $? 1 "the program's output is not repeated"
out=$(echo continue | gdb_run --echo "$T/tour")
like "$out" '^sum 10 total 20 width 120 list 77' "--echo repeats it"

# From in front of the last marker into what runs behind it without any.
(cd "$LIZARD_SRC/tests/progs/constructs" && "$LIZARD_BIN/lizard-cc" -g -O0 noreturn.c -o "$T/noreturn")
record noreturn
out=$(gdb_run "$T/noreturn" <<END
jump_forward $(grep -n 'exit(code)' "$LIZARD_SRC/tests/progs/constructs/noreturn.c" | cut -d: -f1)
-- last gap
jump_forward _exit
-- before it
jump_backward last
END
)
like "$(section "$out" "last gap")" '_exit \(status=0\)|in _exit \(\)' "jump_forward to what runs behind the last marker"
like "$(section "$out" "before it")" '^last \(\)' "and back"
# Percentages of a run without markers are of its events.
cat >"$T/asks.c" <<'END'
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 100; i++)
		getppid();
	return 0;
}
END
${CC:-cc} -g "$T/asks.c" -o "$T/asks" && record asks
out=$(gdb_run "$T/asks" <<END
-- shares
jump_forward 25%
when
jump_forward 75%
when
jump_backward 50%
when
jump_backward 0%
when
-- end
jump_forward 100%
when
jump_backward 50%
jump_forward 99.9%
when
END
)
is "$(section "$out" shares | sed -n 's/^event \([0-9]*\) of \([0-9]*\),.*/\1 \2/p' |
	awk 'BEGIN { split("25 75 50 0", p) } { d = $1 - p[NR] / 100 * $2; printf "%d ", (d >= 0 && d < 1) }')" "1 1 1 1 " \
	"percentages without markers" || diag "$out"
is "$(section "$out" end | sed -n 's/^event .*(\(.*\))$/\1/p' | tr '\n' ' ')" "100.00% 100.00% " "up to the end"

done_testing
