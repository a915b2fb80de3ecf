#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls whose vectors and headers lie where they write, or are changed while they wait: all that the kernel has written is recorded.
# The program prints sums of its memory, and replay prints the same.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
unset LIZARD_TRACE_CALLS
export LIZARD_TRACE_CHECK=1 LIZARD_DEBUG=1

replay_echo
gcc -g -O1 -w -pthread "$LIZARD_SRC/tests/progs/trace/own_vectors.c" -o "$T/vectors"
ok $? "the program builds" || done_testing

recorded() { # CASE WAY OPTIONS
	rec=$T/recordings/$1-$2
	case=$1 way=$2
	shift 2
	timeout -k 5 120 lizard-trace -q --calls="$way" "$@" -o "$rec" "$T/vectors" "$case" >"$T/out" 2>"$T/err"
	is "$? $(grep -c 'lizard-trace:' "$T/err")" "0 0" "$case, $way: recorded" || diag "$(cat "$T/out" "$T/err")"
	timeout -k 5 120 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$case, $way: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; }
	replays "$case, $way" "$rec"
}

# With a checkpoint behind each call all memory is compared.
for case in pipe file process message bad messages addresses requests attributes numbers lengths second short late; do
	recorded $case stop --checkpoint-interval 0
	recorded $case buffer
	[ $case != late ] || is "$(sed 's/ [0-9a-f]*$//' "$T/out")" "$("$T/vectors" late | sed 's/ [0-9a-f]*$//')" "late, buffer: no message is lost"
	case $case in
	pipe) name=readv ;;
	file) name=preadv ;;
	message | bad | lengths) name=recvmsg ;;
	addresses | short) name=recvfrom ;;
	*) continue ;;
	esac
	[ "$(sed -n "s/.*without a stop: $name //p" "$T/err")" -gt 50 ]
	ok $? "$case, buffer: $name has no stop" || diag "$(grep -e "$name" "$T/err")"
done
recorded waiting stop
recorded waiting buffer
done_testing
