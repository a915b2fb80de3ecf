#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes that wait until all is written have no stop in a program of one thread, and give what they give natively: all, or a part
# where a signal has come or the reader has gone. Another thread has its turn meanwhile.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/kinds.sh"

kinds_build whole-writes

# of NAME: how many such calls have no stop at least
least() {
	case $1 in
	pipes | sockets | connections) echo 50 ;;
	left) echo 60 ;;
	# a signal's stop is one of the call that it ends
	interrupted | restarted) echo 20 ;;
	*) echo 0 ;;
	esac
}

for name in pipes sockets connections interrupted restarted left gone threads timed; do
	kinds_native $name
	kinds_record $name lizard-cc --calls=stop
	for with in lizard-cc gcc; do
		kinds_record $name $with || continue
		n=$(kinds_fast write writev sendto sendmsg)
		[ "$n" -ge "$(least $name)" ]
		ok $? "$name, $with: writes have no stop" || diag "$n had none"
	done
done
kinds_record threads gcc --chaos=5

# with a thread beside, what has not been written yet is written with a stop
kinds_with=beside
for name in pipes sockets connections interrupted restarted left gone threads timed fitting; do
	kinds_record $name lizard-cc --calls=stop
	for with in lizard-cc gcc; do
		kinds_record $name $with || continue
		[ $name = fitting ] || continue
		for call in write sendto; do
			n=$(kinds_fast $call)
			[ "$n" -ge 290 ]
			ok $? "$name, $with: $call has no stop" || diag "$n had none"
		done
	done
done
kinds_kill 4 KILL TERM
done_testing
