#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The recorder is killed at random instants of a fixed seed, 200 of each kind with LIZARD_LONG: of one thread, of several, and the
# first one of a tree of processes. The recording replays up to its end and says that it is cut, or says that there is nothing in
# it yet; the program is gone, and nobody is left behind stopped.
. "$(dirname "$0")/../lib/tap.sh"

n=12 rounds=100000
[ -z "$LIZARD_LONG" ] || n=200

lizard-cc -g -O1 -pthread "$LIZARD_SRC/tests/progs/trace/rounds.c" -o "$T/rounds"
ok $? "builds" || done_testing

gone() {
	[ -z "$program" ] && return
	case $(ps -o stat= -p "$program") in '' | Z*) ;; *) return 1 ;; esac
}
# Children of a tree that had a recorder of their own may end by themselves.
nobody_left() { ! pgrep -f "^$T/rounds" >/dev/null; }

# What there is of each process verifies, and the first one is cut.
look_at() { # LABEL DIR
	timeout -k 5 300 lizard verify "$2" >"$T/verify" 2>&1
	local status=$? other
	if [ $status = 0 ] && tail -n 1 "$T/out" | grep -q "^round $((rounds - 1)):" && lizard info "$2" | grep -q '^ended .*exit 4'; then
		diag "$1: killed when the program had ended, on a machine that stood still"
	elif [ $status = 0 ]; then
		replayed=$((replayed + 1))
		like "$(lizard info "$2" 2>&1)" "incomplete|cut|ends early" "$1: it replays, and says that it is cut" || keep=1
	elif grep -q ': not verified: there is no recording of what the program did' "$T/verify"; then
		begun=$((begun + 1))
		is $status 1 "$1: it says that what has been written is only the beginning" || keep=1
	else
		empty=$((empty + 1))
		like "$status $(cat "$T/verify")" "^1 .*(no recording|no checkpoint|cannot open)" "$1: it says that there is nothing yet" || keep=1
	fi
	for other in "$2"/processes/[0-9]*; do
		[ -d "$other" ] || continue
		timeout -k 5 300 lizard verify "$other" >"$T/verify" 2>&1 || grep -q 'no recording\|no checkpoint\|cannot open' "$T/verify" ||
			{ ok 1 "$1: $(basename "$other") replays"; diag "$(tail -n 5 "$T/verify")"; keep=1; }
	done
	[ -z "$keep" ] || replay_hint "$2"
}

for mode in single threads tree; do
	follow=
	[ $mode != tree ] || follow="--follow all"
	replayed=0 begun=0 empty=0
	for delay in $(awk -v n=$n 'BEGIN { srand(7); for (i = 0; i < n; i++) printf "%.3f\n", 1.2 * rand() * rand() }'); do
		rec=$T/recordings/killed
		rm -rf "$rec"
		lizard-trace -q $follow --checkpoint-interval 20 -o "$rec" "$T/rounds" $mode $rounds >"$T/out" 2>"$T/err" &
		tracer=$!
		sleep "$delay"
		program=$(pgrep -P $tracer -f "^$T/rounds" | head -n 1)
		kill -9 $tracer
		wait $tracer 2>/dev/null
		case $? in
		137) ;;
		4) diag "$mode, after $delay s: the program had ended, on a machine that stood still"; continue ;;
		*) ok 1 "$mode, after $delay s: the recorder is killed"; continue ;;
		esac
		wait_until gone && wait_until nobody_left
		ok $? "$mode, after $delay s: the program is gone" || { ps -eo pid,ppid,stat,wchan:20,args | grep "$T/rounds" >&2; done_testing; }
		look_at "$mode, after $delay s" "$rec"
		[ -z "$keep" ] || done_testing
	done
	ok "$([ $replayed -gt 0 ] && [ $((replayed + begun)) -gt $((n / 2)) ]; echo $?)" \
		"$mode: most of them replay ($replayed, $begun have only begun, $empty hold nothing yet)"
done
done_testing
