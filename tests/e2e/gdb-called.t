#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What the user does by mistake leaves the recording as it is: a called function that crashes or aborts, a breakpoint on data, "=" for
# "==". And a GDB option's text is not taken for another option.
. "$(dirname "$0")/../lib/tap.sh"
cd "$T" || exit 1
cat >p.c <<'END_OF_C'
#include <stdio.h>
#include <stdlib.h>

int inserts, list[4] = {3, 1, 2, 0};

__attribute__((noinline)) int at(const int *p, int i)
{
	return p[i];
}

__attribute__((noinline)) void insert(int n)
{
	inserts += n;
}

void give_up(void)
{
	abort();
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		insert(at(list, i));
	printf("%d\n", inserts);
	return 0;
}
END_OF_C
lizard-cc -O0 -g p.c -o p && lizard-trace -q -o rec -- ./p >out || exit 1
is "$(cat out)" 6 "recorded"

go() { # FRONT COMMAND...
	front=$1
	shift
	for command; do
		set -- "$@" -ex "$command"
		shift
	done
	timeout -k 5 100 lizard-gdb "--$front" -nx -batch -ex 'set width 0' -ex 'set confirm off' "$@" rec 2>&1
}

for front in stock patched; do
	[ $front = stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || { skip "$front" "it is not built"; continue; }

	go $front 'tbreak insert' continue 'print at((int *) 0, 0)' bs delete 'tbreak 27' continue 'print inserts' \
		'reverse_watchpoint inserts' reverse-continue when >shown
	like "$(cat shown)" "received signal SIGSEGV" "$front: a called function crashes"
	is "$(grep -c 'went another way' shown)" 0 "$front: runs go as recorded afterwards" || diag "$(cat shown)"
	like "$(cat shown)" '\$1 = 6' "$front: forwards"
	like "$(tr '\n' ' ' <shown)" "Old value = 4 +New value = 6" "$front: to a change"
	like "$(tail -n 4 shown)" "event 0 of" "$front: and to the start" || diag "$(tail -n 5 shown)"

	go $front 'tbreak insert' continue 'call give_up()' backtrace >aborted
	like "$(cat aborted)" "received signal SIGABRT" "$front: a called function that aborts"
	like "$(cat aborted)" " in give_up ()" "... is shown where it does" || diag "$(cat aborted)"

	go $front 'break *&inserts' 'break *(char *) &list[1]' 'tbreak 27' continue 'print inserts' 'print list' 'delete' \
		reverse-continue 'tbreak 27' continue 'print inserts' >shown
	is "$(grep -c '^\$[13] = 6$' shown) $(grep -c '^\$2 = {3, 1, 2, 0}$' shown) $(grep -c 'another way' shown)" "2 1 0" \
		"$front: breakpoints on data change nothing" || diag "$(cat shown)"

	# Changed after a call, before one, and in a function that stopped.
	go $front 'break insert' continue 'call at(list, 0)' 'set var $rcx = 1' step when 'set var $rcx = 1' 'call at(list, 0)' 'print $rcx' next when \
		'tbreak at' 'call at(list, 0)' 'call at(list, 1)' 'set var $rcx = 2' finish 'set var $rsp = $rsp - 8' next when next when >shown
	is "$(grep -c 'changed registers were thrown away' shown)" 3 "$front: changed registers are thrown away beside calls, too" || diag "$(cat shown)"
	is "$(grep '^position' shown | uniq -c | sed 's/ *\([0-9]*\) .*/\1/' | tr '\n' ' ')" "3 1 " "... nothing moves with them, the next step does" || diag "$(cat shown)"
	is "$(sed -n 's/^\(Value returned is \)*\$[0-9]* = //p' shown | tr '\n' ' ')" "3 3 1 1 3 " "... and the calls go on" || diag "$(cat shown)"

	for wrong in 'inserts = 5' 'inserts += 5' 'inserts++' '--inserts' 'inserts <<= 1'; do
		like "$(go $front 'tbreak 27' continue "reverse_watchpoint $wrong")" "changes what it is to watch" "$front: reverse_watchpoint $wrong"
	done
	for right in 'inserts == 3' 'inserts >= 6' 'inserts != 6' "inserts == '='"; do
		is "$(go $front 'tbreak 27' continue "reverse_watchpoint $right" | grep -c 'changes what it is to watch')" 0 "$front: reverse_watchpoint $right"
	done

	go $front 'echo minimum\n' 'jump_forward insert' 'jump_forward 27' bs 'reverse_watchpoint inserts' | sed 1,/minimum/d >one
	go $front 'echo maximum\n' 'jump_forward insert' 'jump_forward 27' bs 'reverse_watchpoint inserts' | sed 1,/maximum/d >other
	like "$(cat one)" "insert \(n=3\) at p.c" "$front: a command with \"mi\" in it"
	is "$(cat one)" "$(cat other)" "$front: does not make GDB speak to an IDE"
	like "$(printf 'interpreter-exec mi -gdb-version\n-gdb-exit\n' | timeout 60 lizard-gdb --$front -nx -i=mi rec 2>&1)" '\^done|\^exit' "$front: -i=mi does"
done
done_testing
