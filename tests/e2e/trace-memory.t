#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# However often a program does something, the recorder holds no more memory: many times as much of each kind of event ends in
# the same peak, but for what the compressors' tables and the queue take as they fill: 8 MiB. docs/design/format.md, "Memory of
# the recorder", names the bound; here the queue is small.
. "$(dirname "$0")/../lib/tap.sh"

[ "${LIZARD_SANITIZE:-}" != 1 ] || skip_all "the sanitizer holds memory back"
lizard-cc -O2 -g -D_GNU_SOURCE -pthread "$LIZARD_SRC/tests/progs/trace/more.c" -o "$T/more"
ok $? "builds" || done_testing

# Prints the recorder's peak in KiB as it was seen last: it only grows. Before lizard-trace itself runs it is the shell's. Of
# a tree it is that of the first process's recorder.
peak() { # WAY N OPTIONS...
	way=$1 n=$2 seen=0
	shift 2
	rm -rf "$T/recordings/more"
	lizard-trace -q --max-size 20M --keep-part last "$@" -o "$T/recordings/more" -- "$T/more" "$way" "$n" >"$T/out" 2>"$T/err" &
	while now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$!/status" 2>/dev/null) && [ -n "$now" ]; do
		seen=$now
		sleep 0.02
	done
	wait $!
	echo "$? $(cat "$T/out" "$T/err") $seen"
}

while read -r way few many options; do
	label=$way${options:+, $options}
	set -- $(peak "$way" "$few" $options) $(peak "$way" "$many" $options)
	is "$1 $2, $4 $5" "0 done, 0 done" "$label: recorded"
	[ "$3" -lt 5000 ] && set -- "$1" "$2" 5000 "$4" "$5" "$6" # hardly seen
	[ "$6" -gt 5000 ] && [ "$6" -lt $(($3 + 8192)) ]
	ok $? "$label: $many take no more memory than $few" || diag "$3 and $6 KiB"
done <<END
markers 30000 150000
calls 5000 120000
pages 32000 100000
mappings 1000 30000
threads 100 5000
signals 1000 30000
children 50 500
children 50 500 --follow all
END
done_testing
