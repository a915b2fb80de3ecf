#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Control comes by a jump to an instruction that the jump at a system call covers, also while a blocked SIGTRAP waits: the kernel
# then shows that signal instead of the trap.
. "$(dirname "$0")/../lib/tap.sh"

for cc in gcc lizard-cc; do
	$cc -w -g -O1 "$LIZARD_SRC/tests/progs/trace/covered.c" -o "$T/covered-$cc"
	is "$("$T/covered-$cc")" well "$cc: natively"
	for chaos in "" --chaos=1 --calls=stop; do
		rec=$T/recordings/$cc$chaos
		LIZARD_DEBUG=1 lizard-trace ${chaos:+"$chaos"} -o "$rec" "$T/covered-$cc" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 well" "$cc $chaos: recorded" || diag "$(grep -v checkpoint: "$T/err" | tail -n 5)"
		lizard verify "$rec" >"$T/out" 2>&1
		ok $? "$cc $chaos: verify is clean" || { diag "$(tail -n 3 "$T/out")"; replay_hint "$rec"; }
		[ -z "$chaos" ] || continue
		n=$(sed -n 's/.*without a stop: getppid \([0-9]*\)$/\1/p' "$T/err")
		[ "${n:-0}" -gt 300 ]
		ok $? "$cc: its calls have become jumps" || diag "${n:-0}"
	done
done
done_testing
