#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A replay that hardly gets the CPU, for longer than a diverged one may run, has not diverged.
. "$(dirname "$0")/../lib/tap.sh"

[ -n "$LIZARD_LONG" ] || skip_all "takes a minute: with LIZARD_LONG"

cat >"$T/rounds.c" <<'C'
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 80; i++) {
		for (volatile long k = 0; k < 40000000; k++)
			;
		getppid();
	}
	return 0;
}
C
gcc -O1 -o "$T/rounds" "$T/rounds.c" && timeout -k 5 300 lizard-trace -q -o "$T/rec" "$T/rounds"
ok $? "recorded"

lizard verify "$T/rec" >"$T/verify" 2>&1 &
verify=$!
computes() {
	replay=$(ps -o pid=,stat= --ppid $verify | awk '$2 ~ /^R/ { print $1; exit }')
	[ -n "$replay" ]
}
wait_until computes
ok $? "the replay runs"
# Of the lowest class, beside two that only turn round on its CPU.
cpu=$(taskset -cp "$replay" | sed 's/.*: *//')
for _ in 1 2; do
	/usr/bin/timeout 40 taskset -c "$cpu" sh -c 'while :; do :; done' &
done
# Scheduling groups, where the kernel makes one of each session, count before classes do.
weaken() { # NICE CLASS
	[ ! -w "/proc/$replay/autogroup" ] || echo "$1" >"/proc/$replay/autogroup"
	chrt "$2" --pid 0 "$replay"
}
weaken 19 --idle
ok $? "it is starved"
sleep 40
weaken 0 --other
ok $? "it still runs"
wait $verify
ok $? "starved for longer than the limit: verify is clean" || diag "$(head -n 3 "$T/verify")"
wait
like "$(cat "$T/verify")" ': clean' "it says so"
done_testing
