#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The time-stamp counter: a program sees what it sees without a recorder, and replay prints what it printed.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
progs=$LIZARD_SRC/tests/progs/trace
export LIZARD_TRACE_CHECK=1

replay_echo
# the dynamic linker reads the counter
gcc -O1 -w -pthread -static -o "$T/tsc" "$progs/tsc.c" && lizard-cc -O1 -w -pthread -static -o "$T/tsc-markers" "$progs/tsc.c"
ok $? "the programs build" || done_testing

replays() { # LABEL RECORDING OUTPUT
	timeout -k 5 100 "$echo" "$2" >"$T/replayed" 2>"$T/verify"
	ok $? "$1: it replays" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$2"; }
	is "$(cat "$T/replayed")" "$3" "$1: replay prints the same"
}

# ---- who may read it ----
"$T/tsc" >"$T/native" || skip_all "no PR_SET_TSC here"
for how in "tsc --calls=stop" "tsc --calls=buffer" "tsc-markers --calls=buffer" "tsc --follow=all" "tsc --follow=nobody"; do
	set -- $how
	rec=$T/recordings/$1$2
	timeout -k 5 100 lizard-trace -q "$2" -o "$rec" "$T/$1" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "$how: as without a recorder" || diag "$(cat "$T/err")"
	timeout -k 5 100 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$how: verify is clean" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$rec"; }
done
# ---- without a stop ----
gcc -O1 -w -pthread -o "$T/counter" "$progs/counter.c" && lizard-cc -O1 -w -pthread -o "$T/counter-markers" "$progs/counter.c"
ok $? "counter builds" || done_testing
"$T/counter" >"$T/native"
fsgsbase=$(LD_SHOW_AUXV=1 /bin/true | sed -n 's/^AT_HWCAP2: *//p')
for how in "counter --calls=stop" "counter --calls=buffer" "counter-markers --calls=buffer" \
	"counter-markers --chaos=3" "counter --follow=all"; do
	set -- $how
	rec=$T/recordings/$1$2
	LIZARD_TRACE_CALLS=buffer LIZARD_DEBUG=1 timeout -k 5 100 lizard-trace -q "$2" -o "$rec" "$T/$1" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "$how: as without a recorder" || diag "$(cat "$T/err")"
	replays "$how" "$rec" "$(cat "$T/out")"
	fast=$(sed -n 's/.*were \([0-9]*\) times rdtsc, \([0-9]*\) times rdtscp, [0-9]* times xsavec$/\1 \2/p' "$T/err" | tail -n 1)
	[ $((fsgsbase & 2)) -ne 0 ] || continue
	case $how in
	*=stop) is "$fast" "" "$how: each rdtsc and rdtscp has a stop" ;;
	*=buffer)
		ok "$([ "${fast% *}" -gt 5000 ]; echo $?)" "$how: most rdtsc have none" || diag "$fast"
		ok "$([ "${fast#* }" -gt 5000 ]; echo $?)" "$how: most rdtscp have none" || diag "$fast"
		;;
	esac
done
done_testing
