#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Back into functions that have been left for the C library's code, after millions of calls: at once, whether that has lines
# (libc6-dbg) or not. `prev` may go to a line of the C library's that made the call, if `next` leads from there, too.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

source=$LIZARD_SRC/tests/progs/gdb/leaving.c
line_of() { grep -n "$1 is left here" "$source" | cut -d: -f1; }
at() { section "$out" "$1" | sed -n 's/^position [0-9]*:\(.*\)/\1/p'; }

there_and_back() { # COMMANDS: go there, leave it by next, and come back
	for command in "$@" "-- last" when "-- left" next when "-- prev" prev when "-- fn" fn when "-- bs" bs when; do
		echo "$command"
	done
}

for build in -O0 "-O0 -DBEFORE"; do
	# shellcheck disable=SC2086
	prog_build leaving $build && record leaving
	is "$? $(cat "$T/leaving.out")" "0 500000" "$build: recorded"
	for name in main behind; do
		out=$(there_and_back "jump_forward end" "jump_backward leaving.c:$(line_of $name)" | GDB_SECONDS=60 gdb_run "$T/leaving")
		like "$(at last)" '@0x' "$build: $name's last line"
		[ "$(at left)" ] && [ "$(at left)" != "$(at last)" ]
		ok $? "$build: $name is left"
		is "$(at fn)" "$(at left)" "$build: ... prev goes to where next leads from" || diag "$out"
		# Before main only a constructor has markers: from there, next leads over main, too.
		[ "$name$build" != main-O0 ] || is "$(at prev)" "$(at last)" "$build: ... which is main's last line" || diag "$out"
		is "$(at bs)" "$(at last)" "$build: ... bs goes to its last line" || diag "$out"
	done
done

# A statement right behind a call, at which only what comes out of that stops: the callee's last line calls twice in turn, and `prev`
# goes into neither, but to where a walk through the callee was.
lizard-c++ -w -O0 -g -o "$T/exceptions" "$LIZARD_SRC/tests/progs/constructs/exceptions.cc" && record exceptions
header=$(echo '#include <vector>' | $PLAIN_CXX -M -x c++ - | tr ' ' '\n' | grep 'bits/stl_iterator.h')
line=$(grep -n 'return __lhs.base() - __rhs.base()' "$header" | sed -n '$s/:.*//p')
out=$(there_and_back "jump_forward stl_iterator.h:$line" | gdb_run "$T/exceptions")
# The library of GCC 14 has the call on a line of its own, from which next leads there as well. That of GCC 16 has no such call.
case $(section "$out" left) in
*_M_realloc_append*) like "$(section "$out" prev)" '__elems = end\(\) - begin\(\)' "prev goes over them to the line before" || diag "$out" ;;
*_M_realloc_insert*) is "$(at prev)" "$(at last)" "prev goes to the line that called them" || diag "$out" ;;
*) skip "behind a call that makes others" "this C++ library has none" ;;
esac
is "$(at fn)" "$(at left)" "... from which next leads back"
done_testing
