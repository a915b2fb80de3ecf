#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Forwards the patched GDB stops where one of its version does that asks the server, and steps by itself: where calls end in a return, a longjmp or an
# exception, and however often control has been there.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/constructs.sh"

patched_gdb || skip_all "the patched GDB is not built, or older than the library: make gdb"
unset LIZARD_FRONT_END
served="--stock --gdb $(same_gdb)"
diag "the server is asked by ${served##* }"

for file in setjmp.c exceptions.cc callbacks.c switch.c; do
	about "$constructs/$file"
	for level in -O0 -O2; do
		program=${file%.*}$level
		# shellcheck disable=SC2086
		(cd "$constructs" && $ours -w "$level" -g "$file" $build -o "$T/$program") >"$T/log" 2>&1 && record "$program"
		ok $? "$program: recorded" || { diag "$(tail -n 3 "$T/log")"; continue; }
		for front in patched stock; do
			options=--patched
			[ $front = patched ] || options=$served
			# shellcheck disable=SC2086
			timeout 300 "$LIZARD_BIN/lizard-gdb" $options -nx -batch -x "$LIZARD_SRC/tests/lib/forward.py" "$T/$program" >"$T/log" 2>&1
			grep ' position=' "$T/log" >"$T/$front"
		done
		is "$(wc -l <"$T/stock")" 300 "$program: a GDB that asks the server steps" || diag "$(tail -n 5 "$T/log")"
		cmp -s "$T/patched" "$T/stock"
		ok $? "$program: the patched one goes the same way" || diag "$(diff "$T/patched" "$T/stock" | head -n 8)"
	done
done
done_testing
