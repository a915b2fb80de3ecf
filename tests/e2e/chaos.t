#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Turns by chance end at any instruction: races show up that lie between two markers, the seed brings them again, and walks that
# start at such instants or cross them are exact.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/json.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

progs=$LIZARD_SRC/tests/progs/chaos

for name in lock_order lost_update signal_before_pause; do
	lizard-cc -g -O0 -pthread -D_GNU_SOURCE "$progs/$name.c" -o "$T/$name" && lizard-cc -g -O2 -pthread -D_GNU_SOURCE "$progs/$name.c" -o "$T/$name-O2"
	ok $? "$name: builds" || done_testing
done

# find PROGRAM: the first seed of ten that makes it fail; $rec is that recording
find() {
	seed=0
	while [ $((seed += 1)) -le 10 ]; do
		rec=$T/recordings/$1-$seed
		timeout -k 5 60 lizard-trace -q --chaos=$seed -o "$rec" "$T/$1" >"$T/out" 2>"$T/err"
		status=$?
		[ $status = 0 ] || return 0
		timeout 100 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "$1, seed $seed: verify is clean" || diag "$(tail -n 5 "$T/verify")"
		rm -rf "$rec"
	done
	return 1
}

turns() { # RECORDING: where its turns end
	lizard dump --events --json "$1" | perl -MJSON::PP -ne '$e = decode_json $_; print "$e->{marker} $e->{ip}\n" if ($e->{kind} // "") eq "switch"'
}

# In the third case the turn must end some instructions behind a call that the C library makes.
for case in lock_order:142 lock_order-O2:142 signal_before_pause:142 lost_update:1; do
	name=${case%:*}
	find "$name"
	is $status "${case#*:}" "$name: fails within ten seeds" || continue
	timeout 100 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$name: verify is clean" || {
		diag "$(tail -n 5 "$T/verify")"
		replay_hint "$rec"
	}
	for again in 1; do
		lizard-trace -q --chaos="$seed" -o "$rec-again" "$T/$name" >"$T/again" 2>"$T/err"
		is $? $status "$name: seed $seed fails again"
		cmp -s "$T/out" "$T/again"
		ok $? "$name: in the same way" || diag "$(diff "$T/out" "$T/again")"
		turns "$rec" >"$T/turns"
		turns "$rec-again" | cmp -s "$T/turns" -
		ok $? "$name: by the same turns" || diag "$(turns "$rec-again" | diff "$T/turns" - | head -n 4)"
		rm -rf "$rec-again"
	done
done

# What was done is said at the end.
lizard-trace --chaos=3 -o "$T/recordings/said" "$T/lost_update" >/dev/null 2>"$T/err"
said=$(sed -n 's/^lizard: \([0-9]* turns were ended: .*\)/\1/p' "$T/err")
like "$said" '^[0-9]+ turns were ended: [0-9]+ at a marker or a call, [0-9]+ some instructions behind one, [0-9]+ behind a lock, [0-9]+ behind a function.s call$' \
	"the summary says how turns ended"
anywhere=$(lizard info --json "$T/recordings/said" | json '$o->{instants}{turns}{anywhere}')
is "$(echo "$said" | sed 's/.* call, \([0-9]*\) some.*, \([0-9]*\) behind a lock, \([0-9]*\) .*/\1 \2 \3/' | { read -r a b c && echo $((a + b + c)); })" "$anywhere" \
	"lizard info counts the same"

# Walks from such instants, and over them.
WALK_FROM=$(lizard dump --events --json "$rec" | python3 "$LIZARD_SRC/tests/lib/instants.py" switch 5) WALK_N=10 \
	WALK_MODES="step next watch" WALK_WATCH="'lost_update.c'::n" walk lost_update "$rec"
done_testing
