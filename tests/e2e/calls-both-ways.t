#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The same by both ways, --calls=stop and --calls=buffer. Each call that may be made without a stop, by its recipe (tests/calls):
# it is made without a stop at least once, the program sees what it is to see, replay prints the same, and both recordings have
# the same events. Then programs of tests/progs, some of each folder; with LIZARD_LONG=1 all of them.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
unset LIZARD_TRACE_CALLS
export LIZARD_DEBUG=1 LIZARD_TRACE_CHECK=1

calls=$T/calls
lizard-cc -D_GNU_SOURCE -w -Wno-int-conversion -Wno-incompatible-pointer-types -g -O1 -static -I"$LIZARD_SRC/include" -I"$LIZARD_SRC" -o "$calls" \
	"$LIZARD_SRC"/tests/calls/*.c "$LIZARD_SRC/common/process/syscalls.c" 2>"$T/cc.log"
ok $? "the recipes build" || { diag "$(grep -E 'error|undefined' "$T/cc.log")"; done_testing; }
echo=$(tool replay-echo) && list=$(tool fast-calls)
ok $? "the tools build" || { diag "$(cat "$T"/*.log)"; done_testing; }
mkdir "$T/work"

# record WAY NAME COMMAND...: status of the program in $status, why it failed in $why. replayed WAY NAME, behind it: the same.
record() {
	local way=$1 rec=$T/recordings/$2-$1
	shift 2
	rm -rf "$rec"
	timeout -k 5 60 lizard-trace -q --calls="$way" -o "$rec" "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$? why=
	if grep -q 'lizard-trace: ' "$T/err"; then
		why="$way: $(cat "$T/err")"
	fi
}

replayed() {
	local way=$1 rec=$T/recordings/$2-$1
	if ! timeout -k 5 60 "$echo" "$rec" >"$T/replayed" 2>"$T/verify"; then
		why="$way: replay: $(tail -n 3 "$T/verify")"
	elif ! cmp -s "$T/out" "$T/replayed"; then
		why="$way: it printed $(head -n 9 "$T/out"), in replay $(head -n 9 "$T/replayed")"
	fi
}

# Of each event: where, what, whether it succeeds, how many pieces of memory it writes. How often a timer's signal comes is left to
# chance.
events() {
	lizard dump --events "$1" | grep -v 'signal 14 (ALRM)\| rt_sigreturn(' | sed 's/^event [0-9]*  thread [0-9]*  marker [0-9]*  //; s/  [0-9.]* s  / /; s/([^)]*) = -/ -/; s/([^)]*) = .*/&@/; s/([^)]*) = [^[{@]*/ /; s/[0-9]* bytes at [^]]*//g; s/@$//'
}

while read -r name; do
	setsid -w timeout 60 "$calls" "$name" "$T/work/$name-native" native >"$T/native" 2>&1 </dev/null
	native=$?
	record stop "$name" "$calls" "$name" "$T/work/$name-stop" often
	[ -n "$why" ] || [ $status = $native ] || why="stop: status $status, natively $native: $(cat "$T/out")"
	if [ -z "$why" ] && [ $status = 77 ]; then
		skip "$name" "$(sed 's/^skipped: //' "$T/out")"
		continue
	fi
	[ -n "$why" ] || record buffer "$name" "$calls" "$name" "$T/work/$name-buff" often
	[ -n "$why" ] || replayed buffer "$name"
	[ -n "$why" ] || [ $status = $native ] || why="buffer: status $status, natively $native: $(cat "$T/out")"
	[ -n "$why" ] || grep -q "without a stop: $name " "$T/err" || why="it had a stop each time"
	if [ -z "$why" ]; then
		events "$T/recordings/$name-stop" >"$T/events-stop"
		events "$T/recordings/$name-buffer" >"$T/events-buffer"
		diff "$T/events-stop" "$T/events-buffer" >"$T/diff" || why="other events: $(head -n 9 "$T/diff")"
	fi
	[ -z "$why" ]
	ok $? "$name" || { diag "$why"; replay_hint "$T/recordings/$name-buffer"; }
	rm -rf "$T/recordings/$name"-*
done < <("$list")

# Threads take turns at other instants: what they print may differ.
programs() { # FOLDER EVERY
	local i=0 file name
	for file in "$LIZARD_SRC/tests/progs/$1"/*.c; do
		name=$(basename "$file" .c)
		i=$((i + 1))
		[ -n "$LIZARD_LONG" ] || [ $((i % $2)) = 1 ] || continue
		lizard-cc -D_GNU_SOURCE -w -g -O1 -pthread -I"$LIZARD_SRC/include" -I"$LIZARD_SRC" -o "$T/$name" "$file" -lrt -lm -ldl >"$T/cc.log" 2>&1 || continue
		(cd "$T/work" && timeout -k 1 30 "$T/$name" >"$T/native" 2>&1 </dev/null)
		native=$?
		[ $native -lt 124 ] || continue
		for way in stop buffer; do
			record $way "$name" "$T/$name"
			[ -n "$why" ] || replayed $way "$name"
			[ -n "$why" ] || [ $status = $native ] || why="$way: status $status, natively $native: $(tail -n 3 "$T/out")"
			[ -z "$why" ]
			ok $? "$1/$name, $way" || { diag "$why"; replay_hint "$T/recordings/$name-$way"; continue; }
			rm -rf "$T/recordings/$name-$way"
		done
	done
}
cd "$T/work" || exit 1
programs constructs 9
programs process 6
programs threads 9
done_testing
