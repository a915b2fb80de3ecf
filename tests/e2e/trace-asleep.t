#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls that wait for somebody outside of the program have no stop while nobody else could run, and all that ends such a wait does
# what it does natively. The program is killed, and let go, while it waits.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/kinds.sh"

# It is copied into the program, and what is not copied with it cannot be read there.
is "$(readelf -rW "$LIZARD_BUILD"/obj/tracer/stub/*.o | grep -E '\.(LC|rodata|data|bss)')" "" "the stub has no data"

# of NAME: how many waits have no stop at least, and how many are cut
waits() {
	case $1 in
	reads) echo 200 0 ;;
	polls | epolls | selects) echo 150 0 ;;
	rests) echo 250 0 ;;
	accepts | connects) echo 60 0 ;;
	children | handled) echo 60 0 ;;
	interrupted_inside) echo 60 0 ;;
	masks) echo 450 0 ;;
	masks_interrupted) echo 140 1 ;;
	masks_children) echo 10 5 ;;
	others_inside) echo 60 4 ;;
	writes) echo 50 0 ;;
	times) echo 60 0 ;;
	sleeps) echo 250 2 ;;
	ignored) echo 100 1 ;;
	stopped) echo 60 1 ;;
	others) echo 60 1 ;;
	others_times) echo 100 1 ;;
	cancelled) echo 100 1 ;;
	*) echo 0 0 ;;
	esac
}

# which waits the last run had
counted() { sed -n 's/.* \([0-9]*\) waits were made without a stop, \([0-9]*\) of them in part$/\1 \2/p' "$T/err" | tail -n 1; }

# in all ways, NAME...
all_ways() {
	for name; do
		kinds_native $name
		kinds_record $name lizard-cc --calls=stop
		for with in lizard-cc gcc; do
			kinds_record $name $with || continue
			read -r least cut <<<"$(waits $name)"
			read -r n n_cut <<<"$(counted)"
			[ "${n:-0}" -ge "$least" ] && [ "${n_cut:-0}" -ge "$cut" ]
			ok $? "$name, $with: waits have no stop" || diag "${n:-0} had none, of ${n_cut:-0} a part"
		done
	done
}

kinds_build asleep_signals
all_ways sleeps interrupted masks masks_interrupted masks_children interrupted_inside ignored stopped
kinds_record sleeps gcc --chaos=7

kinds_build asleep
all_ways reads polls selects rests epolls writes accepts connects children handled times \
	others others_times others_inside cancelled replaced filtered

for name in late sticky; do
	kinds_native $name
	kinds_record $name gcc --checkpoint-interval=200
done
kinds_record sticky gcc --follow=all

for name in others others_times others_inside cancelled replaced; do
	kinds_record $name gcc --chaos=7
done

rec=$T/recordings/let-go
timeout -k 5 120 lizard-trace -q --max-size 3M -o "$rec" "$T/asleep-gcc" large >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out") $(counted)" "0 well 1 1" "let go while it waits"
timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
like "$(tail -n 1 "$T/verify")" "clean.*the program went on, exit status 0" "let go: verify is clean"
rm -rf "$rec"

kills=4
[ -z "$LIZARD_LONG" ] || kills=50
kinds_kill $kills KILL TERM
done_testing
