#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# flowback: the origins that are planted in tests/progs/gdb/planted.c, more than 60 of them. At -O0 whole chains are compared with
# planted.chains, which was written beside the source; at -O2 the ways are others, but not their ends.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

source=$LIZARD_SRC/tests/progs/gdb/planted.c
planted() { python3 "$LIZARD_SRC/tests/lib/planted.py" "$@"; }

# The last one first at -O2: what was found of later calls does not count for earlier ones.
ask() { # ORDER
	echo "jump_forward planted.c:$(grep -n 'CHECK \*/$' "$source" | cut -d: -f1)"
	for name in $(planted names "$source" | $1); do
		echo "-- $name"
		echo "flowback from_$name"
	done
	# the last of several allocations
	printf '%s\n' '-- last' 'flowback from_reused_often' 'flowback-goto 2' 'frame function make_reused_often' 'print i'
}

for level in -O0 -O2; do
	order=cat
	[ $level = -O0 ] || order=tac
	prog_build planted "$level" -w -pthread && mv "$T/planted" "$T/planted$level" || skip_all "no program"
	(cd "$T" && PLANTED=value record "planted$level" arg)
	ok $? "$level: recorded"
	ask $order | GDB_SECONDS=580 gdb_run "$T/planted$level" >"$T/chains$level"
	[ $level = -O2 ] || like "$(cat "$T/chains$level")" '= 49$' "$level: it is the last allocation"
	planted ends "$source" "$T/chains$level" >"$T/ends$level"
	while read -r verdict text; do
		case $verdict in
		ok) ok 0 "$level: $text" ;;
		not) ok 1 "$level: ${text#ok }" ;;
		*) diag "$text" ;;
		esac
	done <"$T/ends$level"
done
planted chains "$source" "$T/chains-O0" >"$T/chains"
diff -u "$LIZARD_SRC/tests/progs/gdb/planted.chains" "$T/chains" >"$T/diff"
ok $? "-O0: the whole chains" || diag "$(cat "$T/diff")"
done_testing
