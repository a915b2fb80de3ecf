#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads that wait for each other have one stop for it or none, and each way in which such a wait ends does what it does natively.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/kinds.sh"
kinds_build hands

for name in handovers woken_by_bits times interrupted clocks made_code requeued stopped left long_asleep registers registers_far crowd; do
	kinds_native $name
	for with in gcc lizard-cc; do
		kinds_record $name $with || continue
		n=$(sed -n 's/.* \([0-9]*\) waits for a futex had \(one stop\|none\)$/\1/p' "$T/err" | awk "{ n += \$1 } END { print n }")
		[ "${n:-0}" -ge 300 ]
		ok $? "$name, $with: waits have one stop or none" || diag "${n:-0} had"
		[ $name = handovers ] || continue
		n=$(sed -n 's/.* \([0-9]*\) waits for a futex had none$/\1/p' "$T/err")
		[ "${n:-0}" -ge 7000 ]
		ok $? "$name, $with: of 8000 waits most have none" || diag "${n:-0} had"
	done
done

# Calls are made again just when their instruction becomes a jump: that is met once a run at most, on a busy machine.
for round in $(seq 6); do
	tracers=
	for i in 1 2 3 4 5 6; do
		env -u LIZARD_DEBUG lizard-trace -q -o "$T/recordings/again-$round-$i" "$T/hands-gcc" requeued >>"$T/again" 2>&1 &
		tracers="$tracers $!"
	done
	wait $tracers
done
is "$(sort "$T/again" | uniq -c | sed "s/^ *//")" "36 well" "calls made again while their instruction becomes a jump"
rm -rf "$T"/recordings/again-*

kills=3
[ -z "$LIZARD_LONG" ] || kills=50
kinds_kill $kills

# The recorder is killed: the program with it, whoever has the turn or is about to have it, and what is there replays.
for i in $(seq $kills); do
	rec=$T/recordings/recorder-$i
	timeout 60 lizard-trace -q -o "$rec" "$T/hands-gcc" forever >"$T/out" 2>"$T/err" &
	tracer=$!
	recorder() { pgrep -P $tracer lizard-trace | head -n 1; }
	program() { pgrep -P "$(recorder)" hands-gcc | head -n 1; }
	wait_until eval '[ -n "$(program)" ]'
	sleep "0.$((i * 7 % 5 + 3))"
	was=$(program)
	kill -KILL "$(recorder)"
	wait $tracer 2>/dev/null
	wait_until eval '! grep -q "^State:[[:space:]]*[^ZX[:space:]]" "/proc/$was/status"'
	ok $? "recorder killed, $i: the program is gone"
	kinds_verify "recorder killed, $i"
done
done_testing
