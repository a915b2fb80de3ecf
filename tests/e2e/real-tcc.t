#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A compiler that compiles itself: to a file, and into memory, where what it made compiles it to a file.
. "$(dirname "$0")/../lib/tap.sh"
walked=always
# An inlined function's piece that begins in its own loop: docs/design/exceptions.md.
two_ways=-O2
WALK_PLACES="gen_op decl_initializer put_elf_sym tccpp.c:2700" WALK_WATCH="ind; anon_sym; nocode_wanted"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_levels tcc

cp "$T/input/tcc2" "$T/tcc2"
for level in -O0 -O2; do
	# Code that was made in memory has no markers.
	(cd "$T" && eval "timeout -k 5 300 lizard-trace -q -o '$T/recordings/memory$level' -- $(real_tcc "$T/build$level/tcc" "$T/input") \
		-run '$T/input/tcc/tcc.c' $(real_tcc "" "$T/input") '$T/input/tcc/tcc.c' -o '$T/input/tcc2'") >"$T/out" 2>&1
	is "$? $(cat "$T/out")" "0 " "$level: made in memory and run"
	cmp -s "$T/tcc2" "$T/input/tcc2"
	ok $? "$level: what it makes is what native made"
	real_verify "$level, in memory" "$T/recordings/memory$level"
done
done_testing
