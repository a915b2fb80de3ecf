#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls that may wait are tried without waiting: each kind does what it does natively, by both ways, verifies, and is made without
# a stop. The program is killed in the midst of them.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/kinds.sh"
kinds_build waits

# of NAME: the calls that are made without a stop
fast() {
	case $1 in
	writes) echo write ;;
	nonblocking) echo read write recvfrom ;;
	broken) echo write ;;
	faults) echo sendto recvfrom ;;
	patience) echo read ;;
	masks) echo ppoll pselect6 read ;;
	messages) echo sendto sendmsg recvfrom recvmsg ;;
	threads) echo read write futex ;;
	reused) echo read recvfrom ;;
	closes) echo close dup2 connect ;;
	esac
}

for name in writes nonblocking broken faults patience masks messages threads hands reused closes blocked stolen; do
	kinds_native $name
	for how in stop:lizard-cc buffer:lizard-cc buffer:gcc; do
		kinds_record $name "${how#*:}" "--calls=${how%:*}" || continue
		[ "${how%:*}" = buffer ] || continue
		for call in $(fast $name); do
			n=$(kinds_fast "$call")
			[ "$n" -ge 15 ]
			ok $? "$name, $how: $call has no stop" || diag "it had none $n times"
		done
		if [ $name = hands ]; then
			n=$(sed -n 's/^[^ ]* \([0-9]*\) stops$/\1/p' "$T/err" | tail -n 1)
			[ "${n:-9999}" -lt 2500 ]
			ok $? "$name, $how: each of 1000 reads has two stops while another thread is ready" || diag "there were ${n:-no} stops"
		fi
		[ $name = closes ] || continue
		for call in close dup2; do
			n=$(sed -n "s/.*with stops: $call \([0-9]*\)$/\1/p" "$T/err")
			[ "${n:-0}" -ge 30 ]
			ok $? "$how: $call has a stop if a socket lingers" || diag "it had ${n:-0}"
		done
	done
done

# What is left of a time is in memory before there is an event: checkpoints of other threads show what was there before.
kinds_native remaining
for calls in buffer stop; do
	LIZARD_TRACE_CALLS=$calls kinds_record remaining gcc --checkpoint-interval=20
done

kills=5
[ -z "$LIZARD_LONG" ] || kills=50
kinds_kill $kills
done_testing
