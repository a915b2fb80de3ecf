#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The session API against itself: whichever way leads to a position (running, stepping, seeking, backwards or
# forwards), registers and memory are the same; every watched change found forward is found backward.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

walk=$(tool replay-walk) && watch=$(tool replay-watch)
ok $? "the tools build" || { diag "$(cat "$T"/replay-*.log)"; done_testing; }
rounds=3 seeds=1
[ -z "$LIZARD_LONG" ] || rounds=60 seeds="1 2 3 4 5 6 7 8"

record() { # NAME HOW [OPTION]: prints the recording
	case $2 in
	plain) gcc -w -D_GNU_SOURCE -O1 -g -o "$T/$1-$2" "$LIZARD_SRC/tests/progs/$1.c" ;;
	*) lizard-cc -w -D_GNU_SOURCE "-$2" -g -o "$T/$1-$2" "$LIZARD_SRC/tests/progs/$1.c" ;;
	esac 2>"$T/cc.log" && timeout -k 5 60 lizard-trace -q ${3:-} -o "$T/recordings/$1-$2" "$T/$1-$2" >"$T/out" 2>&1 </dev/null
	lizard verify "$T/recordings/$1-$2" >"$T/verify" && echo "$T/recordings/$1-$2"
}

mkdir -p "$T/process" "$T/signals" "$T/recordings/process" "$T/recordings/signals" "$T/replay" "$T/recordings/replay"
declare -A options=([process/twice]=--checkpoint-interval=0)
for case in process/io:O0 process/io:plain process/segv:O2 process/restart:O2 process/machine:O0 \
	process/altstack:O2 process/siglongjmp:O0 process/maps:O1 process/twice:O0 process/twice:plain signals/tight_loop:O2 replay/watched:O1; do
	name=${case%:*} how=${case#*:}
	rec=$(record "$name" "$how" ${options[$name]})
	ok $? "$name $how: recorded and clean" || { diag "$(tail -n 3 "$T/verify" "$T/cc.log")"; continue; }
	for seed in $seeds; do
		timeout 300 "$walk" "$rec" "$seed" "$rounds" >"$T/log" 2>&1
		ok $? "$name $how: a walk with seed $seed" || { diag "$(tail -n 3 "$T/log")"; replay_hint "$rec"; }
	done
done

# Where a variable is, in a recording made without address randomization.
address() { # PROGRAM NAME
	printf '0x%x' $((0x555555554000 + 0x$(nm "$1" | grep " $2\$" | cut -d' ' -f1)))
}

for how in O0 O1 O2; do
	rec=$(record replay/watched $how)
	ok $? "watched $how: recorded and clean" || { diag "$(tail -n 3 "$T/verify" "$T/cc.log")"; continue; }
	prog=$T/replay/watched-$how
	for range in hits:8 total:8 packed:32 fill:8 fill:200; do
		timeout 300 "$watch" "$rec" "$(address "$prog" ${range%:*})" ${range#*:} >"$T/log" 2>&1
		ok $? "watched $how: ${range%:*}, ${range#*:} bytes" || { diag "$(tail -n 3 "$T/log")"; replay_hint "$rec"; }
	done
	timeout 300 "$watch" "$rec" "$(address "$prog" hits)" 8 "$(address "$prog" fill)" 8 \
		"$(address "$prog" packed)" 16 "$(address "$prog" unaligned)" 8 >"$T/log" 2>&1
	ok $? "watched $how: four watchpoints at once" || { diag "$(tail -n 3 "$T/log")"; replay_hint "$rec"; }
done

rec=$(record replay/toggled O1 --checkpoint-interval=5)
ok $? "toggled: recorded and clean" || diag "$(tail -n 3 "$T/verify" "$T/cc.log")"
timeout 300 "$watch" "$rec" "$(address "$T/replay/toggled-O1" toggled)" 4 >"$T/log" 2>&1
is "$(cat "$T/log")" "24 stops: the same forward and backward" "toggled: what changes back is found" || replay_hint "$rec"

# Reads, and accesses of any kind: as many as the source says, also where no page was dirty between two checkpoints.
rm -r "$T/recordings/replay/watched-O0"
rec=$(record replay/watched O0 --checkpoint-interval=0)
prog=$T/replay/watched-O0
count() { # WANTED NAME LEN-AND-KIND...
	wanted=$1 what="${*:2}" words=
	shift
	while [ $# -gt 0 ]; do
		words="$words $(address "$prog" "$1") $2"
		shift 2
	done
	timeout 300 "$watch" "$rec" $words >"$T/log" 2>&1
	is "$(cat "$T/log")" "$wanted stops: the same forward and backward" "watched O0: $what" || replay_hint "$rec"
}
count 43 hits 8
count 44 hits 8r
count 87 hits 8a
count 100 level 8r
count 100 level 8a
# more than debug registers hold
count 193 hits 8a fill 8a level 8a
count 150 hits 8r fill 8 level 8r

rec=$(record replay/longgaps O1)
ok $? "longgaps: recorded and clean" || diag "$(tail -n 3 "$T/verify" "$T/cc.log")"
for offset in 500000 900000 1048570; do
	timeout 300 "$watch" "$rec" $(($(address "$T/replay/longgaps-O1" big) + offset)) 8 >"$T/log" 2>&1
	ok $? "longgaps: 8 bytes at $offset" || { diag "$(tail -n 3 "$T/log")"; replay_hint "$rec"; }
done

# Moves that fail or are interrupted on their way go back to where they began.
moves=$(tool replay-moves -Wl,--wrap=lz_session_unbreak,--wrap=lz_session_restore,--wrap=lz_engine_resume)
ok $? "the tool builds" || diag "$(cat "$T/replay-moves.log")"
rec=$(record replay/loopcall O0)
ok $? "a loop with calls: recorded and clean" || diag "$(tail -n 3 "$T/verify" "$T/cc.log")"
loop="$T/replay/loopcall-O0"
timeout 100 "$moves" "$rec" "$(address "$loop" loop_begins)" "$(address "$loop" loop_ends)" "$(address "$loop" callee)" >"$T/log" 2>&1
ok $? "moves out of it come back" || diag "$(cat "$T/log")"
done_testing
