#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What the dynamic linker leaves on the stack when it looks a function up: the same in replay, on every processor.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

src=$LIZARD_SRC/tests/progs/trace
grep -q '\<xsavec\>' /proc/cpuinfo || skip_all "this processor has no xsavec"
grep -q '\<avx\>' /proc/cpuinfo && wide=-DWIDE || wide=
armed=
! grep -q 'AuthenticAMD\|HygonGenuine' /proc/cpuinfo || armed=yes

for how in plain O0 O2; do
	case $how in
	plain) cc=gcc flags=-O1 ;;
	*) cc=lizard-cc flags=-$how ;;
	esac
	$cc -g $flags $wide -fPIC -shared "$src/lazy-lib.c" -o "$T/liblazy-$how.so" -Wno-psabi 2>"$T/cc.log" &&
		$cc -g $flags $wide -fno-builtin -Wno-psabi -Wl,-z,lazy -rdynamic "$src/lazy.c" "$T/liblazy-$how.so" -o "$T/lazy-$how" 2>>"$T/cc.log"
	ok $? "$how: builds" || { diag "$(cat "$T/cc.log")"; continue; }
	native=$("$T/lazy-$how")
	is "$native" "0 wrong, child 7, other 0, left something" "$how: natively"
	for i in 1 2 3; do
		rec=$T/recordings/$how-$i
		LIZARD_TRACE_CHECK=1 lizard-trace -q --checkpoint-interval 0 --full-every 5 -o "$rec" "$T/lazy-$how" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out" "$T/err")" "0 $native" "$how, run $i: recorded"
		for again in 1 2; do
			timeout 100 lizard verify "$rec" >"$T/verify" 2>&1
			ok $? "$how, run $i: verify $again is clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$rec"; }
		done
	done
	rec=$T/recordings/$how-fast
	LIZARD_DEBUG=1 lizard-trace -q --calls=buffer -o "$rec" "$T/lazy-$how" calls >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $native" "$how, after many calls: recorded"
	timeout 100 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$how, after many calls: verify is clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$rec"; }
	[ "$armed" ] || { skip "$how: each of them is recorded" "they are not left to chance here"; continue; }
	rec=$T/recordings/$how-3
	n=$(lizard dump --events "$rec" | grep -c ' xsavec ')
	ok "$([ "$n" -ge 20 ]; echo $?)" "$how: each of them is recorded" || diag "$n"
done

# Behind some calls there is no stop, and near the end of the stack there are faults.
cp "$src/lazy-edge.h" "$T" &&
	gcc -O1 -g -fPIC -shared "$src/lazy-edge-lib.c" -o "$T/libedge.so" &&
	gcc -O1 -g -Wl,-z,lazy "$src/lazy-edge.c" "$T/libedge.so" -o "$T/edge"
ok $? "edge: builds"
native=$("$T/edge")
like "$native" "3200: called" "edge: natively some come through" || diag "$native"
like "$native" "[1-9][0-9]* faults" "edge: and some do not" || diag "$native"
for calls in stop buffer; do
	rec=$T/recordings/edge-$calls
	LIZARD_DEBUG=1 lizard-trace -q --calls=$calls -o "$rec" "$T/edge" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $native" "edge, --calls=$calls: recorded"
	timeout 100 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "edge, --calls=$calls: verify is clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$rec"; }
	fast=$(sed -n 's/.*of these were .* \([0-9]*\) times xsavec$/\1/p' "$T/err" | tail -n 1)
	case $armed-$calls in
	yes-buffer) ok "$([ "${fast:-0}" -gt 25 ]; echo $?)" "edge: most xsavec have no stop" || diag "$(cat "$T/err")" ;;
	*) is "$fast" "" "edge, --calls=$calls: none is made without a stop" ;;
	esac
done
if [ "$armed" ]; then
	is "$(lizard dump --events "$T/recordings/edge-buffer" | grep -c ' xsavec ')" "$(lizard dump --events "$T/recordings/edge-stop" | grep -c ' xsavec ')" \
		"edge: as many events by either way"
else
	skip "edge: as many events by either way" "they are not left to chance here"
fi

# The linker itself as the program.
native=$("$T/lazy-plain")
ld=$(readelf -l "$T/lazy-plain" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
lizard-trace -q -o "$T/recordings/linker" "$ld" "$T/lazy-plain" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out" "$T/err")" "0 $native" "the linker as the program: recorded"
timeout 100 lizard verify "$T/recordings/linker" >"$T/verify" 2>&1
ok $? "the linker as the program: verify is clean" || diag "$(tail -n 5 "$T/verify")"
if [ "$armed" ]; then
	is "$(lizard dump --events "$T/recordings/linker" | grep -c ' xsavec ')" "$(lizard dump --events "$T/recordings/plain-1" | grep -c ' xsavec ')" \
		"the linker as the program: as many"
else
	skip "the linker as the program: as many" "they are not left to chance here"
fi

# As the processes of one recording.
lizard-trace -q --follow all -o "$T/recordings/all" "$T/lazy-O0" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out" "$T/err")" "0 $native" "all processes: recorded"
timeout 100 lizard verify -a "$T/recordings/all" >"$T/verify" 2>&1
ok $? "all processes: verify is clean" || diag "$(tail -n 5 "$T/verify")"

# A function that is called in the debugger may have its own looked up.
out=$(gdb_run "$T/recordings/O0-1" <<END
-- call
print resolved_late(40)
-- on
continue
END
)
is "$(section "$out" call)" '$1 = 41' "a call in the debugger"
like "$(section "$out" on)" "End of the recorded execution|$no_history|exited" "and the run goes on to its end"
if [ "$armed" ]; then
	at=$(lizard dump --events "$T/recordings/O0-1" | awk '/ xsavec / { print $8; exit }')
	like "$(gdb_run -ex "x/i $at" "$T/recordings/O0-1" </dev/null)" "xsavec +0x" "a debugger is shown the linker's code"
else
	skip "a debugger is shown the linker's code" "it is as it was"
fi
done_testing
