#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every program of tests/progs/process checks itself and prints a token. Each is recorded at -O0, at -O2
# and without instrumentation: it must find all well, end as it does without Lizard, and verify.
. "$(dirname "$0")/../lib/tap.sh"

progs=$LIZARD_SRC/tests/progs/process

build() { # NAME HOW: prints the program's path
	case $2 in
	plain) gcc -D_GNU_SOURCE -O1 -g -o "$T/$1-$2" "$progs/$1.c" ;;
	*) lizard-cc -D_GNU_SOURCE "-$2" -g -o "$T/$1-$2" "$progs/$1.c" ;;
	esac 2>"$T/cc.log" && echo "$T/$1-$2"
}

verified() { # LABEL DIR
	timeout 120 lizard verify "$2" >"$T/verify.log" 2>&1
	ok $? "$1: verify is clean" || {
		diag "$(tail -n 5 "$T/verify.log")"
		diag "replay it with: $LIZARD_BIN/lizard-gdb $2"
	}
}

for source in "$progs"/*.c; do
	name=$(basename "$source" .c)
	[ "$name" != ends ] || continue
	for how in O0 O2 plain; do
		prog=$(build "$name" $how)
		ok $? "$name $how: builds" || { diag "$(cat "$T/cc.log")"; continue; }
		rec=$T/recordings/$name-$how
		timeout -k 5 60 lizard-trace -q -o "$rec" "$prog" >"$T/out" 2>"$T/err"
		is "$? $(tail -n 1 "$T/out")" "0 all is well" "$name $how: all is well while recorded" ||
			diag "$(tail -n 5 "$T/err")"
		verified "$name $how" "$rec"
	done
done

# Exit statuses, and the shell's 128+n for signals, are passed on.
for how in O0 plain; do
	prog=$(build ends $how)
	for case in 0:0 7:7 255:255 segv:139 abort:134 term:143 kill:137; do
		rec=$T/recordings/ends-$how-${case%:*}
		timeout -k 5 60 lizard-trace -q -o "$rec" "$prog" "${case%:*}" >"$T/out" 2>"$T/err"
		is $? "${case#*:}" "ends $how ${case%:*}: exit status"
		verified "ends $how ${case%:*}" "$rec"
	done
done
done_testing
