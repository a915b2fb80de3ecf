# SPDX-License-Identifier: GPL-3.0-or-later
# For tests of programs with kinds (tests/progs/trace/kinds.h), recorded in all the ways in which they may be compiled.
# Source it behind tap.sh.
unset LIZARD_TRACE_CALLS
export LIZARD_DEBUG=1

# kinds_build NAME: as NAME-gcc and NAME-lizard-cc.
kinds_build() {
	prog=$1
	for cc in gcc lizard-cc; do
		$cc -w -g -O1 -pthread "$LIZARD_SRC/tests/progs/trace/$1.c" -o "$T/$1-$cc" || break
	done
	ok $? "builds" || done_testing
}

# kinds_native KIND
kinds_native() {
	timeout 60 "$T/$prog-gcc" "$1" >"$T/native" 2>&1
	is "$? $(cat "$T/native")" "0 well" "$1: natively"
}

# kinds_record KIND CC [OPTION]: with a second argument of the program's if $kinds_with is set, records and verifies it. What the recorder says is in $T/err.
kinds_record() {
	rec=$T/recordings/$1-$2$3
	LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q ${3:+"$3"} -o "$rec" "$T/$prog-$2" "$1" ${kinds_with:+"$kinds_with"} \
		>"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 well" "$1, $2${3:+ }$3: recorded" || { diag "$(grep -v checkpoint: "$T/err" | tail -n 5)"; return 1; }
	kinds_verify "$1, $2${3:+ }$3"
}

# kinds_fast CALL...: how many of these calls had no stop.
kinds_fast() {
	for call; do
		sed -n "s/.*without a stop: $call \([0-9]*\)$/\1/p" "$T/err"
	done | awk '{ n += $1 } END { print n + 0 }'
}

# kinds_verify NAME: of $rec, which is removed.
kinds_verify() {
	timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$1: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; return 1; }
	rm -rf "$rec"
}

# kinds_kill TIMES [SIGNAL...]: in the midst of the kind that is called forever, by each of them in turn, or KILL.
kinds_kill() {
	times=$1
	shift
	[ $# -gt 0 ] || set -- KILL
	for i in $(seq "$times"); do
		signal=$1
		shift
		set -- "$@" "$signal"
		rec=$T/recordings/killed-$i
		timeout -k 5 60 lizard-trace -q -o "$rec" "$T/$prog-gcc" forever >"$T/out" 2>"$T/err" &
		tracer=$!
		program() { pgrep -P "$(pgrep -P $tracer | head -n 1)" 2>/dev/null | head -n 1; }
		wait_until eval '[ -n "$(program)" ]'
		sleep "0.$((i * 7 % 5 + 3))"
		kill -"$signal" "$(program)"
		wait $tracer
		kinds_verify "$signal, $i"
	done
}
