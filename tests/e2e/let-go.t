#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Wherever a program is when its recording reaches its limit, or becomes what cannot be recorded, it goes on as if it had not been recorded.
. "$(dirname "$0")/../lib/tap.sh"

runs=4
[ -z "$LIZARD_LONG" ] || runs=50

# let_go RUNS LABEL PROGRAM...
let_go() {
	local n=$1 label=$2 i got rec=$T/recordings/cut
	shift 2
	for i in $(seq "$n"); do
		rm -rf "$rec"
		timeout -k 5 60 lizard-trace -q --max-size 1K -o "$rec" "$@" >"$T/out" 2>"$T/err"
		got="$? $(cat "$T/out")"
		[ "$got" = "0 all is well" ] && grep -q "goes on unrecorded" "$T/err" || break
	done
	is "$got" "0 all is well" "$label: goes on" || diag "run $i: $(cat "$T/err")"
	like "$(cat "$T/err")" "goes on unrecorded" "$label: by itself"
	timeout 100 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$label: verify is clean" || diag "$(tail -n 5 "$T/verify")"
}

for cc in gcc lizard-cc; do
	for name in turns starts; do
		$cc -D_GNU_SOURCE -O1 -g -pthread "$LIZARD_SRC/tests/progs/let-go/$name.c" -o "$T/$name-$cc" 2>"$T/cc"
		ok $? "$name: builds with $cc" || diag "$(cat "$T/cc")"
	done
	let_go $((2 * runs)) "turns, $cc" "$T/turns-$cc"
	for what in fork vfork thread exec; do
		let_go $runs "starts $what, $cc" "$T/starts-$cc" $what
	done

	# ---- it steps itself ----
	$cc -O1 -g "$LIZARD_SRC/tests/progs/let-go/steps.c" -o "$T/steps-$cc" 2>"$T/cc"
	ok $? "steps: builds with $cc" || diag "$(cat "$T/cc")"
	for how in "" fatal; do
		rec=$T/recordings/steps-$cc-$how
		timeout -k 5 60 lizard-trace -q -o "$rec" "$T/steps-$cc" $how >"$T/out" 2>"$T/err"
		got="$? $(cat "$T/out")"
		[ "$how" = fatal ] && want="133 " || want="0 steps 50, others 0, sum 504450"
		is "$got" "$want" "steps $how, $cc: none is lost"
		like "$(cat "$T/err")" "recording ends here: the program has set the trap flag" "steps $how, $cc: it is said"
		timeout 100 lizard verify "$rec" >"$T/verify" 2>&1
		like "$? $(cat "$T/verify")" "^0 .*clean: .* events.*the program has set the trap flag" "steps $how, $cc: what is there replays"
		# the last call before, or before main
		[ "$how" = fatal ] && last='munmap(0x[0-9a-f]*, ' || last='rt_sigaction(5, '
		ok "$(lizard dump --events "$rec" | grep -q " $last"; echo $?)" "steps $how, $cc: all that was before is there"
	done
done
done_testing
