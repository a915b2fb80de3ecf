#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# 20 recordings of a tight loop under a 2 ms SIGALRM: no two runs print the same, every one verifies, and
# replay prints what its own recording printed.
. "$(dirname "$0")/../lib/tap.sh"

lizard-cc -g -O2 "$LIZARD_SRC/tests/progs/signals/tight_loop.c" -o "$T/loop2" &&
	lizard-cc -g -O0 "$LIZARD_SRC/tests/progs/signals/tight_loop.c" -o "$T/loop0"
ok $? "builds" || done_testing

for i in $(seq 20); do
	loop=$T/loop$((i % 2 * 2))
	rec=$T/recordings/run-$i
	timeout -k 5 60 lizard-trace -q -o "$rec" "$loop" >"$T/out-$i" 2>"$T/err-$i"
	status=$?
	case $(tail -n 1 "$T/out-$i") in
	end*) [ $status = 0 ] ;;
	*) false ;;
	esac
	ok $? "run $i: recorded to its end" || diag "exit status $status: $(tail -n 3 "$T/err-$i")"
	timeout 120 lizard verify "$rec" >"$T/verify-$i" 2>&1
	ok $? "run $i: verify is clean" || {
		diag "$(tail -n 5 "$T/verify-$i")"
		diag "replay it with: $LIZARD_BIN/lizard-gdb $rec"
	}
	timeout 120 lizard-gdb --echo -batch "$rec" -ex continue >"$T/replay-$i" 2>&1
	# The debugger prints lines of its own between the program's.
	grep -E '^([0-9]+ [0-9]+ [0-9]+|end [0-9]+)$' "$T/replay-$i" | cmp -s - "$T/out-$i"
	ok $? "run $i: replay prints the recording's output" ||
		diag "$(diff "$T/replay-$i" "$T/out-$i" | head -n 5)"
done
is "$(cat "$T"/out-* | grep ^end | sort -u | wc -l)" 20 "the 20 runs differ"
done_testing
