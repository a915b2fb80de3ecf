#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Restartable sequences: the program is told what the kernel tells, is where it believes to be, and is not interrupted in a sequence.
# The kernel takes over in children that are not recorded, and when the program is let go.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
export LIZARD_TRACE_CHECK=1

replay_echo
gcc -O1 -w -pthread -o "$T/plain" "$LIZARD_SRC/tests/progs/trace/rseq.c" &&
	lizard-cc -O1 -w -pthread -o "$T/markers" "$LIZARD_SRC/tests/progs/trace/rseq.c"
ok $? "the program builds" || done_testing

for registers in 0 1; do
	export GLIBC_TUNABLES=glibc.pthread.rseq=$registers
	"$T/plain" >"$T/native" 2>&1 || skip_all "this kernel has no rseq: $(tail -n 1 "$T/native")"
	ways=("plain --calls=buffer")
	[ $registers = 0 ] || ways+=("markers --chaos=3" "markers --follow=all" "plain --follow=nobody")
	for how in "${ways[@]}"; do
		set -- $how
		label="$how, by glibc: $registers" rec=$T/recordings/$1$2-$registers
		timeout -k 5 100 lizard-trace -q "$2" -o "$rec" "$T/$1" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "$label: as without a recorder" || diag "$(cat "$T/err")"
		timeout -k 5 100 "$echo" "$rec" >"$T/replayed" 2>"$T/verify"
		ok $? "$label: it replays" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$rec"; }
		is "$(cat "$T/replayed")" "$(cat "$T/out")" "$label: replay prints the same"
	done
	timeout -k 5 100 lizard-trace -q --max-size 1K -o "$T/recordings/late$registers" "$T/plain" late >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "by glibc: $registers, let go: as without a recorder"
	like "$(cat "$T/err")" "goes on unrecorded" "... it was let go" || diag "$(cat "$T/err")"
done
done_testing
