# SPDX-License-Identifier: GPL-3.0-or-later
# Driving lizard-gdb in tests. Sourced after tap.sh.
#
#   prog_build NAME [FLAGS]     builds tests/progs/gdb/NAME.c with lizard-cc -g into $T/NAME
#   record NAME [ARGS]          records $T/NAME
#   gdb_run [OPTIONS] <commands prints what lizard-gdb -batch prints for the commands on stdin
#   patched_gdb                 whether there is one to test
#   $patched                    its path
#   same_gdb                    prints the path of a GDB of its version that asks the server: for --gdb
#   section TEXT NAME           the part of the output behind the line `-- NAME`
#   $in_write                   where the C library writes, in GDB's words
#   $no_history                 the pattern of what GDB says at a recording's ends: GDB 13's words and GDB 16's

no_history='No more reverse-execution history|Reached end of recorded history'
# glibc 2.41 makes most calls in a function of which only the debug symbols have the name.
in_write='(write|__internal_syscall_cancel|\?\?)'

prog_build() {
	name=$1
	shift
	"${LIZARD_CC:-$LIZARD_BIN/lizard-cc}" -g "${@:--O0}" "$LIZARD_SRC/tests/progs/gdb/$name.c" -o "$T/$name" ||
		{ diag "$name does not build"; return 1; }
}

record() {
	name=$1
	shift
	timeout 120 "$LIZARD_BIN/lizard-trace" -q "$T/$name" "$@" >"$T/$name.out" 2>"$T/$name.err"
}

# A line `-- NAME` among the commands is printed, so that the test finds its place in the output.
gdb_run() {
	sed 's/^-- \(.*\)$/echo -- \1\\n/' >"$T/commands"
	timeout "${GDB_SECONDS:-120}" "$LIZARD_BIN/lizard-gdb" -nx -batch \
		-ex 'set pagination off' -ex 'set width 0' -x "$T/commands" "$@" 2>&1
}

patched=$LIZARD_BIN/../lib/lizard/gdb/bin/gdb

# Whether the patched GDB is built, and with the present library in it.
patched_gdb() {
	[ -x "$patched" ] && [ ! "$patched" -ot "$LIZARD_BIN/lizard" ]
}

gdb_version() {
	"$1" -nx -batch -ex 'python print(gdb.VERSION)' | grep -o '[0-9][0-9]*\.[0-9]*' | head -n 1
}

# GDBs of two versions differ in their words and in where a step ends. The stock one of the patched one's version is the
# system's, or the patched one itself, with a server and without what its commands have in it.
same_gdb() {
	if [ "$(gdb_version gdb)" = "$(gdb_version "$patched")" ]; then
		echo gdb
		return
	fi
	cat >"$T/same-gdb" <<-END
		#!/bin/sh
		exec "$patched" -eiex "set python dont-write-bytecode on" -iex "python import sys; sys.modules['_lizard'] = None" "\$@"
	END
	chmod +x "$T/same-gdb"
	echo "$T/same-gdb"
}

section() {
	printf '%s\n' "$1" | sed -n "/^-- $2\$/,/^-- /{/^-- /d;p}"
}
