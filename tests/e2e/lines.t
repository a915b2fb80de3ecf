#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Line tables and inlined calls are what GDB takes them for, at every address of programs and of the C library.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/tools.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/constructs.sh"

lines=$(tool lines)
ok $? "the tool builds" || { diag "$(cat "$T/lines.log")"; done_testing; exit; }

gdb_major=$(gdb -nx -batch -ex 'python print(gdb.VERSION.split(".")[0])')

# compare LABEL FILE LOW HIGH
compare() {
	LINES_LOW=$3 LINES_HIGH=$4 LINES_OUT=$T/gdb.lines gdb -nx -batch -x "$LIZARD_SRC/tests/lib/lines.py" "$2" >"$T/gdb.log" 2>&1
	"$lines" "$2" "$3" "$4" "$gdb_major" >"$T/our.lines"
	grep -q ' [1-9][0-9]* [0-9a-f]* [0-9a-f]* ' "$T/gdb.lines" && cmp -s "$T/gdb.lines" "$T/our.lines"
	ok $? "$1: $(wc -l <"$T/gdb.lines") addresses" || diag "$(tail -n 3 "$T/gdb.log"; diff "$T/gdb.lines" "$T/our.lines" | head -n 10)"
}

# compare_text LABEL FILE: all of its code
compare_text() {
	# shellcheck disable=SC2046
	compare "$1" "$2" $(readelf -SW "$2" | sed 's/^ *\[[ 0-9]*\] *//' | perl -ne '
		printf "%s %x", $1, hex($1) + hex($2) if /^\.text +PROGBITS +(\S+) +\S+ +(\S+)/')
}

# Several files at one address; pieces of an inlined call that touch.
for source in gdb/vectors gdb/pieces replay/watched threads/queue constructs/tailcall; do
	for options in "-O0 -g" "-O2 -g" "-O2 -gdwarf-4" "-O2 -gsplit-dwarf" "-O2 -gdwarf-4 -gsplit-dwarf"; do
		program=$T/$(basename $source)
		# shellcheck disable=SC2086
		lizard-cc -w $options -mssse3 -pthread -o "$program" "$LIZARD_SRC/tests/progs/$source.c" 2>"$T/log" ||
			{ ok 1 "$source $options: builds" || diag "$(cat "$T/log")"; continue; }
		compare_text "$source $options" "$program"
	done
done

# An inlined coroutine has a scope whose origin is one of the coroutine that is not inlined; a lambda of an inlined function is a
# member function of a local type.
for name in coroutines objects async functional; do
	lizard-c++ -w -std=c++20 -O2 -g -pthread -o "$T/$name" "$constructs/$name.cc" 2>"$T/log" ||
		{ ok 1 "$name: builds" || diag "$(cat "$T/log")"; continue; }
	compare_text "$name -O2 -g" "$T/$name"
done

id=$(ldd /bin/sh | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p' | xargs readelf -n | sed -n 's/ *Build ID: //p')
libc=/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
at=$(nm "$libc" 2>/dev/null | sed -n 's/^\([0-9a-f]*\) . __strpbrk_sse42$/\1/p')
if [ -n "$at" ]; then
	compare "the C library" "$libc" "$(printf %x $((0x$at - 8192)))" "$(printf %x $((0x$at + 8192)))"
else
	skip "the C library" "its debug information is not installed"
fi

# Debug information in a file of its own is found beside the program, where GDB finds it.
to_the_call() {
	printf 'break fill\ncontinue\nbs\nbs\n' | gdb_run "$T/tour" | grep -v '^\[Inferior\|^tour-[0-9]*: '
}
prog_build tour && record tour
want=$(to_the_call)
like "$want" '^81[[:space:]]+fill' "bs goes to the call"
objcopy --only-keep-debug "$T/tour" "$T/tour.debug" && strip -g "$T/tour" && objcopy --add-gnu-debuglink="$T/tour.debug" "$T/tour" && record tour
is "$(to_the_call)" "$want" "with its debug information beside it, too"
mkdir "$T/.debug" && mv "$T/tour.debug" "$T/.debug"
is "$(to_the_call)" "$want" "and in .debug"
done_testing
