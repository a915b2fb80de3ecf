#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A child of vfork() has its parent's code, in which instructions are changed: those that it comes to do what they do natively.
. "$(dirname "$0")/../lib/tap.sh"

ulimit -c 0
for cc in gcc lizard-cc; do
	$cc -g -O1 "$LIZARD_SRC/tests/progs/trace/vforks.c" -o "$T/$cc" || skip_all "no program"
	native=$("$T/$cc")
	is "$? $(echo "$native" | sort -u | wc -l)" "0 14" "$cc: natively" || diag "$native"
	for how in "--calls=buffer" "--calls=stop" "--dirty=compare" "--follow=all"; do
		rec=$T/recordings/$cc$how
		lizard-trace -q $how -o "$rec" "$T/$cc" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out" "$T/err")" "0 $native" "$cc $how: recorded"
		timeout 100 lizard verify -a "$rec" >"$T/out" 2>&1
		ok $? "$cc $how: verify is clean" || { diag "$(tail -n 3 "$T/out")"; replay_hint "$rec"; }
	done
done

# ---- what it stores in memory that processes share ----
gcc -g -O1 -w "$LIZARD_SRC/tests/progs/trace/dropped.c" -o "$T/dropped"
for follow in none all; do
	rec=$T/recordings/shared-$follow
	lizard-trace -q --follow "$follow" -o "$rec" "$T/dropped" vfork >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out" "$T/err")" "0 $("$T/dropped" vfork)" "shared memory, --follow $follow: as natively"
	timeout 100 lizard verify -a "$rec" >"$T/out" 2>&1
	ok $? "shared memory, --follow $follow: verify is clean" || { diag "$(tail -n 3 "$T/out")"; replay_hint "$rec"; }
done

done_testing
