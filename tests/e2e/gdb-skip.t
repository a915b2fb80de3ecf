#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What GDB's `skip` names is gone over by bs as by step. The truth is a walk forwards with the same list.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

# So that the file is called skips.cc in the debug information, as after its line marker.
cp "$LIZARD_SRC/tests/progs/gdb/skips.cc" "$T/"
for level in -O0 -O2; do
	(cd "$T" && lizard-c++ $level -g -o "skips$level" skips.cc) && lizard-trace -q -o "$T/recordings/skips$level" "$T/skips$level" >/dev/null
	ok $? "skips$level is recorded"
done

# A walk that begins in what is skipped comes out of it to where one from outside comes as well.
number=0
while IFS='|' read -r from skips; do
	number=$((number + 1))
	for level in -O0 -O2; do
		WALK_SKIPS=$skips WALK_FROM=$from WALK_N=60 WALK_MODES="step next" walk "$level-$number" "$T/recordings/skips$level"
	done
done <<'END'
round_of apply main|function twice
round_of twice|-fu apply
round_of twice|-rfu ^box::Box<.*>::operator.]
round_of apply|-fu outer
round_of apply|-rfu ^(inner|twice)
round_of apply|-gfi *.h
round_of|-fi other.h; -fu box::Box<int>::sum(int)
END

# The list is minded as it is now, and forgotten with its entries.
out=$(gdb_run "$T/recordings/skips-O0" <<'END'
break apply
continue
delete
-- skipped
skip function box::Box<int>::sum(int)
bs
-- off
skip disable
jump_forward start
break apply
continue
delete
bs
-- on
skip enable
jump_forward start
break apply
continue
delete
bs
-- gone
skip delete
jump_forward start
break apply
continue
delete
bs
END
)
for part in skipped on; do
	like "$(section "$out" $part)" 'int m = apply' "$part: bs goes to the line of the call" || diag "$out"
done
for part in off gone; do
	like "$(section "$out" $part)" '^24	' "$part: bs goes into the function" || diag "$out"
done
done_testing
