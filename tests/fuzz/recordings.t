#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# 200 damaged recordings by fixed seeds, 500 with LIZARD_LONG=1: every command ends within seconds, with an error or with the
# valid part; never by a signal, never in silence. With SANITIZE=1 under the address sanitizer.
# lizard-gdb opens every fifteenth of the 200, all of the 500. LIZARD_FUZZ_SECONDS=N goes on to further seeds
# for so long, from LIZARD_FUZZ_FROM on.
. "$(dirname "$0")/../lib/tap.sh"

seeds=200
[ -z "$LIZARD_LONG" ] || seeds=500
seeds=${LIZARD_SEEDS:-$seeds}
damage=$LIZARD_BUILD/tests/fuzz/damage
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1

for prog in small threads; do
	lizard-cc -g -O1 -pthread -o "$T/$prog" "$LIZARD_SRC/tests/progs/fuzz/$prog.c" 2>"$T/cc.log"
	ok $? "$prog: builds" || { diag "$(cat "$T/cc.log")"; done_testing; }
	timeout -k 5 60 lizard-trace -q --checkpoint-interval 2 --full-every 4 -o "$T/whole-$prog" "$T/$prog" >"$T/out" 2>"$T/err"
	ok $? "$prog: records" || { diag "$(tail -n 3 "$T/err")"; done_testing; }
	timeout 60 lizard info --check "$T/whole-$prog" >/dev/null 2>"$T/err"
	ok $? "$prog: is whole" || diag "$(cat "$T/err")"
	checkpoints=$(lizard info --json "$T/whole-$prog" | grep -o '"checkpoints": [0-9]*')
	is "$([ "${checkpoints##* }" -gt 2 ] && echo several)" several "$prog: has several checkpoints"
	is "$(lizard dump --json --limit 300 "$T/whole-$prog" | perl -MJSON::PP -ne \
		'$o = decode_json($_); $n{$o->{part}}++; END { print join " ", sort keys %n }')" \
		"checkpoint event marker" "$prog: dump --json is JSON"
done
# The same with checksums instead of markers, but for the first few.
timeout -k 5 60 lizard-trace -q --checkpoint-interval 2 --full-every 4 --flow-limit 1 -o "$T/whole-hashed" "$T/threads" >"$T/out" 2>"$T/err"
lizard info "$T/whole-hashed" | grep -q "only checksums"
ok $? "hashed: records" || diag "$(tail -n 3 "$T/err")"
# The last part of a run only.
lizard-cc -g -O0 -pthread -o "$T/lastpart" "$LIZARD_SRC/tests/progs/trace/lastpart.c" &&
	timeout -k 5 60 lizard-trace -q --checkpoint-interval 2 --full-every 4 --max-size 400K --keep-part last -o "$T/whole-last" "$T/lastpart" 60 500 1 >"$T/out" 2>"$T/err"
lizard info "$T/whole-last" | grep -q "^kept "
ok $? "last: records" || diag "$(tail -n 3 "$T/err")"
switches=$(lizard info --json "$T/whole-threads" | grep -o '"switches": [0-9]*')
is "$([ "${switches##* }" -gt 20 ] && echo many)" many "threads: has many switches"

# try SECONDS WORDS...: fails if the command computes for longer, hangs, crashes, or fails without a word.
try() {
	local limit=$1 rc
	shift
	(ulimit -t "$limit" && exec timeout $((10 * limit)) "$@") >"$T/out" 2>"$T/err" </dev/null
	rc=$?
	# the status of diff says more
	[ $rc = 2 ] && [ "$2" = diff ] && rc=1
	[ $rc = 0 ] && return 0
	[ $rc = 1 ] && { [ -s "$T/err" ] || [ -s "$T/out" ]; } && return 0
	diag "seed $seed ($prog: $what): $*: status $rc"
	diag "$(tail -n 20 "$T/err")"
	return 1
}

bad=0
refused=0
seed=${LIZARD_FUZZ_FROM:-0}
seeds=$((seed + seeds))
until=$((SECONDS + ${LIZARD_FUZZ_SECONDS:-0}))
while [ $seed -lt "$seeds" ] || [ $SECONDS -lt $until ]; do
	seed=$((seed + 1))
	d=$T/damaged
	rm -rf "$d"
	case $((seed % 4)) in
	0) prog=small ;;
	1) prog=threads ;;
	2) prog=hashed ;;
	3) prog=last ;;
	esac
	cp -r "$T/whole-$prog" "$d"
	what=$("$damage" "$d" "$seed") || { bad=$((bad + 1)); diag "seed $seed: no damage done"; continue; }
	try 10 lizard info "$d" || bad=$((bad + 1))
	try 20 lizard info --check "$d" || bad=$((bad + 1))
	[ ! -s "$T/err" ] || refused=$((refused + 1))
	try 20 lizard dump "$d" || bad=$((bad + 1))
	try 20 lizard dump --json --bytes --limit 2000 "$d" || bad=$((bad + 1))
	case $((seed / 4 % 12)) in # each with each program
	0) try 60 lizard coverage "$d" ;;
	1) try 60 lizard profile "$d" ;;
	2) try 60 lizard tree --fold "$d" ;;
	3) try 60 lizard strace --inputs "$d" ;;
	4) try 60 lizard calls "$d" main ;;
	5) try 60 lizard output "$d" ;;
	6) try 60 lizard timeline "$d" ;;
	7) try 60 lizard diff "$T/whole-$prog" "$d" ;;
	8) try 60 lizard grep "$d" 'main > main' ;;
	9) try 60 lizard hits "$d" main ;;
	10) try 60 lizard calls --args --limit 2 "$d" main ;;
	11) try 60 lizard marks "$d" ;;
	esac || bad=$((bad + 1))
	try 60 lizard verify "$d" || bad=$((bad + 1))
	if [ -n "$LIZARD_LONG" ] || [ $((seed % 9)) = 0 ]; then
		LIZARD_FRONT_END=stock LIZARD_GDB=false try 60 lizard report "$d" || bad=$((bad + 1))
	fi
	if [ -n "$LIZARD_LONG" ] || [ $((seed % 15)) = 0 ]; then
		try 60 lizard-gdb -batch -ex next -ex bs -ex when -ex "info calls main" -ex "jump_forward output ." "$d" || bad=$((bad + 1))
	fi
done
is "$bad" 0 "damaged recordings up to seed $seed: every command ends with an error or the valid part"
tried=$((seed - ${LIZARD_FUZZ_FROM:-0}))
[ "$refused" -gt $((tried / 3)) ]
ok $? "damage is found ($refused of $tried)"
done_testing
