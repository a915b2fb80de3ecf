#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Signals whose frame does not fit on the stack: the kernel sends SIGSEGV in their place.
. "$(dirname "$0")/../lib/tap.sh"
cd "$T" || exit 1
ulimit -c 0
source=$LIZARD_SRC/tests/progs/trace/noframe.c
gcc -O1 -g "$source" -o plain && lizard-cc -O0 -g "$source" -o o0 && lizard-cc -O2 -g "$source" -o o2 || exit 1

for how in nested coroutine altstack blocked overflow; do
	(./plain $how; echo "status $?") >native 2>/dev/null
	for program in plain o0 o2; do
		(lizard-trace -q --checkpoint-interval 0 -o $program-$how -- ./$program $how; echo "status $?") >out 2>err
		is "$(cat out err)" "$(cat native)" "$how, $program: as natively"
		timeout -k 5 200 lizard verify $program-$how >verify 2>&1
		ok $? "$how, $program: verify is clean" || { diag "$(tail -n 5 verify)"; replay_hint "$program-$how"; }
		[ $how != nested ] || continue
		like "$(timeout -k 5 100 lizard-gdb -nx -e -batch $program-$how 2>&1)" "SIGSEGV" "$how, $program: the end shows the signal"
	done
done
done_testing
