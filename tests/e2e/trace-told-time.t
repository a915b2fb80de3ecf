#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Clocks without the kernel: a program that reads them often sees what it sees natively, whatever it does next, and replay
# prints what it printed.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
progs=$LIZARD_SRC/tests/progs/trace
export LIZARD_TRACE_CHECK=1

replay_echo
gcc -g -O1 -w -pthread -o "$T/plain" "$progs/told_time.c" -ldl && lizard-cc -g -O1 -w -pthread -o "$T/markers" "$progs/told_time.c" -ldl &&
	gcc -shared -fPIC -O1 -o "$T/library.so" "$progs/told_library.c"
ok $? "the programs build" || done_testing
export TOLD_LIBRARY=$T/library.so
fsgsbase=$(LD_SHOW_AUXV=1 /bin/true | sed -n 's/^AT_HWCAP2: *//p')

record() { # PROGRAM WHAT OPTION...
	local program=$1 what=$2
	shift 2
	"$T/$program" "$what" 2>/dev/null | grep -v value >"$T/native"
	rec=$T/recordings/$program-$what$1
	LIZARD_TRACE_CALLS=buffer LIZARD_DEBUG=1 timeout -k 5 100 lizard-trace -q "$@" -o "$rec" "$T/$program" "$what" >"$T/out" 2>"$T/err"
	is "$? $(grep -v value "$T/out")" "0 $(cat "$T/native")" "$program $what $*: as without a recorder" || diag "$(tail -n 5 "$T/err")"
}

replays() { # LABEL
	timeout -k 5 100 "$echo" "$rec" >"$T/replayed" 2>"$T/verify"
	ok $? "$1: it replays" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$rec"; }
	cmp -s "$T/replayed" "$T/out"
	ok $? "$1: replay prints the same" || diag "$(diff "$T/replayed" "$T/out" | head -n 5)"
}

for program in plain markers; do
	for what in clocks counter registers made once file library patched memory constants early threads child signals forbid again; do
		record $program $what
		replays "$program $what"
		[ $((fsgsbase & 2)) -ne 0 ] || continue
		like "$(cat "$T/err")" "the clocks are read without the kernel" "$program $what: the kernel is not asked"
	done
done
# how the readings lie in a log decides what is known of the thread when the new code comes
for n in 24000 38000 44000; do
	"$T/plain" quiet $n | grep -v value >"$T/native"
	rec=$T/recordings/quiet-$n
	timeout -k 5 100 lizard-trace -q -o "$rec" "$T/plain" quiet $n >"$T/out" 2>"$T/err"
	is "$? $(grep -v value "$T/out")" "0 $(cat "$T/native")" "quiet $n: as without a recorder" || diag "$(tail -n 5 "$T/err")"
	replays "quiet $n"
done
# code of which nobody can be sure
gcc -g -O1 -w -pthread -DODD -o "$T/odd" "$progs/told_time.c" -ldl
ok $? "odd code builds"
record odd counter
replays "odd counter"
like "$(cat "$T/err")" "rdtsc is not known in the code" "odd counter: the kernel is asked"
record plain threads --chaos=3
replays "plain threads --chaos=3"
record plain clocks --calls=stop
replays "plain clocks --calls=stop"
is "$(grep -c "the clocks are read without the kernel" "$T/err")" 0 "... the kernel is asked"

# ---- children that are recorded, too; a process that is let go ----
"$T/plain" child 2>/dev/null | grep -v value >"$T/native"
LIZARD_DEBUG=1 timeout -k 5 100 lizard-trace -q --follow=all -o "$T/recordings/followed" "$T/plain" child >"$T/out" 2>"$T/err"
is "$? $(grep -v value "$T/out")" "0 $(cat "$T/native")" "--follow=all: as without a recorder" || diag "$(tail -n 5 "$T/err")"
timeout -k 5 100 lizard verify -a "$T/recordings/followed" >"$T/verify" 2>&1
ok $? "--follow=all: verify is clean" || diag "$(tail -n 3 "$T/verify")"
is "$(grep -c 'clocks are read without' "$T/err")" 2 "--follow=all: both ask the kernel no more" || diag "$(cat "$T/err")"

"$T/plain" late | grep -v value >"$T/native"
timeout -k 5 100 lizard-trace -q --max-size 1K -o "$T/recordings/late" "$T/plain" late >"$T/out" 2>"$T/err"
is "$? $(grep -v value "$T/out")" "0 $(cat "$T/native")" "let go: as without a recorder" || diag "$(cat "$T/err")"
like "$(cat "$T/err")" "goes on unrecorded|went on" "... it was let go" || diag "$(cat "$T/err")"
done_testing
