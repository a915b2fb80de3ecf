#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a program writes is compared by verify: differences that change nothing else are seen, and none are seen where there are
# none.
. "$(dirname "$0")/../lib/tap.sh"

build() { # NAME
	lizard-cc -O1 -pthread -o "$T/$1" "$LIZARD_SRC/tests/progs/trace/$1.c"
	ok $? "$1.c: builds" || done_testing
}
build drawn
build taken

if grep -qw rdrand /proc/cpuinfo; then
	for way in write,write vector,writev pwrite,pwrite64 Vector,pwritev 2,pwritev2 send,sendto message,sendmsg; do
		call=${way#*,}
		rm -rf "$T/rec"
		lizard-trace -q -o "$T/rec" "$T/drawn" "${way%,*}" 2>"$T/err"
		lizard verify "$T/rec" >"$T/verify"
		ok $? "$call of a known number: clean" || diag "$(cat "$T/verify")"
		like "$(cat "$T/verify")" " (8|11) bytes written" "$call of a known number: its bytes are compared"
		rm -rf "$T/rec"
		lizard-trace -q -o "$T/rec" "$T/drawn" "${way%,*}" random 2>"$T/err"
		lizard verify "$T/rec" >"$T/verify"
		is $? 1 "$call of a number that nobody knows: verify fails"
		like "$(cat "$T/verify")" "diverged: .*: $call: the [0-9]+ bytes that it writes are not the recorded ones" \
			"$call of a number that nobody knows: said in words"
	done
else
	skip "numbers that nobody knows" "the processor has no rdrand"
fi

for case in stored dump vector itself; do
	rm -rf "$T/recordings/$case"
	lizard-trace -q -o "$T/recordings/$case" "$T/taken" "$case" 2>"$T/err"
	is $? 0 "$case: recorded"
	lizard verify "$T/recordings/$case" >"$T/verify"
	ok $? "$case: clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$T/recordings/$case"; }
done
done_testing
