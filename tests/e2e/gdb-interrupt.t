#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Ctrl-C in long runs, forward and backward, typed on a terminal.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build long || skip_all "no program"
mv "$T/long" "$T/long-O0" && record long-O0 10000000
is $? 0 "recorded"
prog_build long -O1 && mv "$T/long" "$T/long-O1" && record long-O1 1000000
timeout 300 python3 "$LIZARD_SRC/tests/lib/interrupt.py" "$LIZARD_BIN/lizard-gdb" "$T/long-O0" "$T/long-O1" >"$T/tap" 2>&1
grep '^#' "$T/tap" >&2
while read -r verdict name; do
	case $verdict in
	ok) ok 0 "${name#- }" ;;
	not) ok 1 "${name#ok - }" ;;
	esac
done <"$T/tap"
all=6
! grep -q instruction-history "$T/tap" || all=8 # the patched GDB
[ "$(grep -c '^\(not \)\?ok' "$T/tap")" = $all ]
ok $? "all was tried" || diag "$(tail -5 "$T/tap")"
done_testing
