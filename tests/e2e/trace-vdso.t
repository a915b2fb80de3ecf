#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The vDSO: a recorded program finds one as natively, and its calls need no stop. A debugger sees it, and the frames behind it.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
progs=$LIZARD_SRC/tests/progs/trace
export LIZARD_TRACE_CHECK=1

replay_echo
gcc -g -O1 -w -o "$T/plain" "$progs/vdso.c" && gcc -O1 -w -static -o "$T/static" "$progs/vdso.c" &&
	lizard-cc -g -O1 -w -o "$T/markers" "$progs/vdso.c"
ok $? "the programs build" || done_testing
"$T/plain" >"$T/native" || skip_all "no vDSO here"
is "$(grep -c NO "$T/native")" 0 "it is what the program expects" || diag "$(cat "$T/native")"

for how in "plain --calls=stop" "plain --calls=buffer" "static --calls=buffer" "markers --calls=buffer" "markers --aslr" \
	"plain --follow=all once" "markers --chaos=3" "plain --dirty=scan filtered" "plain --dirty=scan strict" \
	"markers --calls=stop strict"; do
	set -- $how
	"$T/plain" $3 >"$T/native"
	rec=$T/recordings/$1$2$3
	LIZARD_TRACE_CALLS=buffer LIZARD_DEBUG=1 timeout -k 5 100 lizard-trace -q "$2" -o "$rec" "$T/$1" $3 >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "$how: as without a recorder" || diag "$(cat "$T/err")"
	timeout -k 5 100 "$echo" "$rec" >"$T/replayed" 2>"$T/verify"
	ok $? "$how: it replays" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$rec"; }
	is "$(cat "$T/replayed")" "$(cat "$T/out")" "$how: replay prints the same"
	[ "$2" = --calls=buffer ] || continue
	for call in clock_gettime clock_getres gettimeofday time getcpu; do
		n=$(sed -n "s/.*without a stop: $call \([0-9]*\)$/\1/p" "$T/err" | sort -n | tail -n 1)
		[ "${n:-0}" -gt 1900 ]
		ok $? "$how: $call has no stop" || diag "${n:-0}"
	done
done

"$T/plain" once >"$T/native"
timeout -k 5 100 lizard-trace -q --calls=buffer --max-size 1K -o "$T/recordings/late" "$T/plain" late >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "let go: as without a recorder"
like "$(cat "$T/err")" "goes on unrecorded" "... it was let go" || diag "$(cat "$T/err")"

cat >"$T/commands" <<-'EOF'
	break __vdso_gettimeofday
	continue
	backtrace
	stepi
	stepi
	x/i $pc-2
	reverse-stepi
	x/i $pc
	reverse-stepi
	info symbol $pc
	finish
	info proc mappings
EOF
for front in stock patched; do
	[ "$front" = stock ] || [ -x "$LIZARD_BUILD/lib/lizard/gdb/bin/gdb" ] || continue
	timeout -k 5 100 lizard-gdb --$front "$T/recordings/plain--calls=buffer" -nx -batch -x "$T/commands" >"$T/gdb" 2>&1
	like "$(tr '\n' ' ' <"$T/gdb")" "#0 .*__vdso_gettimeofday \(\).* #1 .*call_all.* #2 .* main " "$front: its frame has callers" || diag "$(cat "$T/gdb")"
	is "$(grep -c 'syscall' "$T/gdb")" 2 "$front: stepped over its call, and back" || diag "$(cat "$T/gdb")"
	like "$(cat "$T/gdb")" "__vdso_gettimeofday in section .text" "$front: to where it begins"
	like "$(cat "$T/gdb")" "\[vdso\]" "$front: it has its name among the mappings"
	is "$(grep -c 'warning\|rror' "$T/gdb")" 0 "$front: nothing is missed" || diag "$(cat "$T/gdb")"
done
done_testing
