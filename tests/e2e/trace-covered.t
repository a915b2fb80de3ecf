#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Control comes by a jump to an instruction that the jump at a system call covers, also while a blocked SIGTRAP waits: the kernel
# then shows that signal instead of the trap. Where it comes often the jump covers nothing else any more, as where the code
# behind the call cannot be moved. Signals come behind such a call, too.
. "$(dirname "$0")/../lib/tap.sh"

debug() { # PATTERN: the number in the recorder's line
	sed -n "s/.*$1/\1/p" "$T/err"
}
at_least() { # NUMBER CALL LABEL
	n=$(debug "without a stop: $2 \([0-9]*\)$")
	[ "${n:-0}" -ge "$1" ]
	ok $? "$3" || diag "${n:-0}"
}

at_most() { # NUMBER LABEL
	n=$(debug "control came \([0-9]*\) times to what a jump covers$")
	[ "${n:-0}" -ge 1 ] && [ "$n" -le "$1" ]
	ok $? "$2" || diag "${n:-0}"
}

# used SECONDS COMMAND...: it succeeds, and takes less of the processors' time, whoever else is there.
used() {
	perl -e 'my $most = shift; exit 1 if system @ARGV; my @t = times; exit($t[2] + $t[3] >= $most)' "$@"
}

# with -O1 there is no padding behind a function
for what in "covered -O1" "covered -O2" "padded -O2" "behind -O1"; do
	set -- $what
	# a replay that misses the instants behind a call finds them by long searches
	[ $1 = behind ] && limit=1 || limit=100
	for cc in gcc lizard-cc; do
		prog=$T/$1$2-$cc
		$cc -w -g $2 -pthread "$LIZARD_SRC/tests/progs/trace/$1.c" -o "$prog"
		"$prog" >"$T/native"
		is "$? $(tail -n 1 "$T/native")" "0 well" "$what, $cc: natively"
		for how in --calls=buffer --chaos=1 --calls=stop; do
			rec=$T/recordings/$1$2-$cc$how
			LIZARD_DEBUG=1 timeout -k 5 100 lizard-trace $how -o "$rec" "$prog" >"$T/out" 2>"$T/err"
			is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "$what, $cc $how: recorded" ||
				diag "$(grep -v checkpoint: "$T/err" | tail -n 5)"
			used $limit timeout -k 5 100 lizard verify "$rec" >"$T/out" 2>&1
			ok $? "$what, $cc $how: verify is clean" || { diag "$(tail -n 3 "$T/out")"; replay_hint "$rec"; }
			[ "$how" = --calls=buffer ] || continue
			case $what in
			covered*) at_least 1600 getppid "$what, $cc: its calls have become jumps" ;;
			padded*) at_least 5500 gettid "$what, $cc: its calls have become jumps that cover nothing else" ;;
			esac
			case $what in
			*O1) at_most 350 "$what, $cc: what is not used any more is given up" ;;
			*O2) at_most 50 "$what, $cc: a jump that is in the way often becomes a short one" ;;
			esac
		done
	done
done
done_testing
