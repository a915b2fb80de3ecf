#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Recordings that are well-formed but say something else than what happened: verify must notice each, and
# say where. An honest copy made the same way stays clean.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

damage=$(tool replay-damage)
ok $? "the tool builds" || { diag "$(cat "$T/replay-damage.log")"; done_testing; }

cat >"$T/prog.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int table[4096];
static int walk(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			table[i % 4096] += i;
		else if (i % 5 == 1)
			s ^= i;
		s += table[(i * 7) % 4096];
	}
	return s;
}
int main(void)
{
	int s = 0;
	for (int i = 0; i < 40; i++) {
		s += walk(20000);
		usleep(2000);
	}
	printf("%d\n", s);
	return 0;
}
C
lizard-cc -O1 -g -o "$T/prog" "$T/prog.c" && lizard-trace -q --checkpoint-interval 0 -o "$T/rec" "$T/prog" >"$T/out"
ok $? "a program is recorded" || done_testing
lizard verify "$T/rec" >"$T/verify"
ok $? "its recording is clean" || diag "$(cat "$T/verify")"

checkpoints=$(sed 's/.* \([0-9]*\) checkpoints.*/\1/' "$T/verify")
events=$(sed 's/.* \([0-9]*\) events.*/\1/' "$T/verify")
sleeps=$(lizard dump --events "$T/rec" | sed -n 's/^event \([0-9]*\) .*clock_nanosleep.*/\1/p' | head -n 20 | tail -n 1)
ok "$([ "${checkpoints:-0}" -ge 3 ]; echo $?)" "it has several checkpoints ($checkpoints) and events ($events)"

"$damage" "$T/rec" "$T/honest" none >"$T/log"
ok $? "an honest copy is made" || diag "$(cat "$T/log")"
lizard verify "$T/honest" >"$T/verify"
ok $? "the honest copy is clean" || diag "$(cat "$T/verify")"

lie() { # PATTERN WHAT WHERE
	rm -rf "$T/lie"
	"$damage" "$T/rec" "$T/lie" "$2" "$3" >"$T/log" || diag "$(cat "$T/log")"
	timeout 60 lizard verify "$T/lie" >"$T/verify"
	is $? 1 "another $2 at $3: verify fails"
	grep -q "$1" "$T/verify"
	ok $? "another $2 at $3: said in words ($1)" || diag "$(head -n 3 "$T/verify")"
}

lie 'diverged: .*expected .*got ' marker 20
lie 'diverged: .*expected .*got ' marker 100000
lie 'diverged: .*expected .*got ' marker 500000
lie 'diverged: .*argument 1' arg "$sleeps"
lie 'diverged: .*recorded was' nr "$sleeps"
lie 'diverged: .*memory at\|diverged: .*register' page 2
lie 'diverged: .*checkpoint .*: memory at' page $((checkpoints - 1))
lie 'diverged: .*checkpoint .*: memory at' drop 1
lie 'diverged: .*checkpoint .*: memory at' changed 1
lie 'diverged: .*checkpoint .*: memory at' changed $((checkpoints - 1))
lie 'diverged: .*: vector registers' xmm 1
lie 'diverged: .*bytes of markers' more 0
lie 'diverged: .*register rbx' reg 1
lie 'diverged: .*register rbx' reg $((checkpoints - 1))
lie 'not verified: .*behind the last marker' far 0
# One bit of a copied file: said when the recording is opened, with the file's name, by whoever needs it.
for file in "$T"/rec/files/*; do
	name=files/$(basename "$file")
	rm -rf "$T/lie"
	cp -r "$T/rec" "$T/lie"
	perl -e 'my ($f) = @ARGV; chmod 0600, $f; open my $h, "+<", $f or die; my $at = int((-s $f) * 2 / 3);
		seek $h, $at, 0; read $h, my $c, 1; seek $h, $at, 0; print $h chr(ord($c) ^ 8)' "$T/lie/$name"
	timeout 60 lizard verify "$T/lie" >"$T/verify"
	is $? 1 "a bit of $name: verify fails"
	like "$(cat "$T/verify")" "not verified: .*copy of /.* is damaged: $name has the checksum" "a bit of $name: said by name"
	like "$(lizard info "$T/lie")" "^damage +damaged: $name has the checksum" "a bit of $name: info says so"
done
like "$(timeout 60 lizard-gdb -nx -batch "$T/lie" 2>&1)" "damaged: $name has the checksum" "lizard-gdb as well"

# A lie that makes the program loop for ever in code where nothing can be compared.
cat >"$T/wait.c" <<'C'
#include <stdio.h>
volatile int flag;
int main(void)
{
	flag = getchar();
	while (flag != 'x')
		;
	return 0;
}
C
gcc -O1 -o "$T/wait" "$T/wait.c" && echo x | lizard-trace -q -o "$T/rec2" "$T/wait"
lizard verify "$T/rec2" >"$T/verify"
ok $? "a program that waits for a byte: clean" || diag "$(cat "$T/verify")"
read=$(lizard dump --events "$T/rec2" | sed -n 's/^event \([0-9]*\) .*read(0.*/\1/p' | head -n 1)
"$damage" "$T/rec2" "$T/lie2" data "$read"
timeout 600 lizard verify "$T/lie2" >"$T/verify"
is $? 1 "the byte never comes: verify fails"
grep -q 'diverged: .*the program ran for' "$T/verify"
ok $? "the byte never comes: said in words" || diag "$(head -n 3 "$T/verify")"

# A program that goes through replay's own code in its process, and spins. All of it ends, and is said.
gcc -O1 -Wl,-z,now -o "$T/through" "$LIZARD_SRC/tests/progs/walls/through.c" && lizard-trace -q -o "$T/probe" "$T/through" 0
stub=$(printf '0x%x' "$(sed -n 's/^stub-addr //p' "$T/probe/meta")")
lizard-trace -q -o "$T/rec4" "$T/through" "$stub"
LIZARD_DEBUG=1 lizard verify "$T/rec4" >"$T/verify" 2>"$T/debug"
ok $? "a program with many calls: clean" || diag "$(cat "$T/verify")"
answered=$(sed -n 's/^.* \([0-9]*\) system calls were answered.*/\1/p' "$T/debug" | tail -n 1)
[ "${answered:-0}" -gt 3000 ] && grep -q "^stub-addr $((stub))\$" "$T/rec4/meta"
ok $? "its calls have no stops, and it knows where the stub is" || diag "$answered, $stub"
through() { # WAY PATTERN
	rm -rf "$T/lie4"
	"$damage" "$T/rec4" "$T/lie4" file "$1" >"$T/log" || diag "$(cat "$T/log")"
	LIZARD_REPLAY_CALLS=answer timeout -k 5 120 lizard verify "$T/lie4" >"$T/verify"
	is $? 1 "through replay's code, way $1: verify fails"
	like "$(cat "$T/verify")" "$2" "through replay's code, way $1: said in words"
	[ "$1" != 3 ] || return # 10 s of CPU time each
	timeout -k 5 120 lizard-gdb --stock --kept "$T/lie4" -nx -batch -ex 'jump_forward 90%' >"$T/out" 2>&1 </dev/null
	is "$(($? < 124))" 1 "through replay's code, way $1: GDB ends"
	like "$(cat "$T/out")" diverged "through replay's code, way $1: GDB says so, too"
}
through 1 'diverged: .*the program called getpid at'
through 2 'diverged: .*signal 5 '
through 3 'does not come back from code of the debugger'
# GDB is killed meanwhile: what it has started ends with it.
mkfifo "$T/commands"
lizard-gdb --stock --kept "$T/lie4" -nx <"$T/commands" >"$T/out" 2>&1 &
gdb=$!
exec 8>"$T/commands"
echo 'jump_forward 90%' >&8
server() {
	pgrep -P $gdb -f 'lizard serve'
}
spins() {
	ps -o stat= --ppid "$(server)" | grep -q '^R'
}
wait_until server && wait_until spins && server=$(server)
ok $? "the server's process spins" || diag "$(cat "$T/out")"
begin=$(date +%s%N)
kill -KILL $gdb
# Who nobody has waited for is a zombie.
has_ended() {
	case $(ps -o stat= -p "$1") in
	"" | Z*) ;;
	*) return 1 ;;
	esac
}
wait_until has_ended "$server"
took=$((($(date +%s%N) - begin) / 1000000))
exec 8>&-
[ $took -lt 6000 ]
ok $? "it ends when GDB has been killed" || diag "$took ms"
through 4 'diverged: .*the program called getpid at'
through 5 'diverged: .*the program called getpid at'

# Another state of the arrival at which a signal came.
lizard-cc -O0 -g -o "$T/list" "$LIZARD_SRC/tests/progs/signals/list.c" && lizard-trace -q --flow=full -o "$T/rec3" "$T/list" 9 >"$T/out"
lizard verify "$T/rec3" >"$T/verify"
ok $? "signals at any instruction: clean" || diag "$(cat "$T/verify")"
state=$(lizard dump --events "$T/rec3" | sed -n 's/^event \([0-9]*\) .*signal.* state .*/\1/p' | head -n 1)
like "$state" '^[0-9]+$' "one has a state"
"$damage" "$T/rec3" "$T/lie3" state "$state" >"$T/log" || diag "$(cat "$T/log")"
timeout 60 lizard verify "$T/lie3" >"$T/verify"
is $? 1 "another state: verify fails"
grep -q "diverged: event $state" "$T/verify"
ok $? "another state: said in words" || diag "$(head -n 3 "$T/verify")"
done_testing
