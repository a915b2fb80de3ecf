# SPDX-License-Identifier: GPL-3.0-or-later
# Driving lizard-gdb in tests. Sourced after tap.sh.
#
#   prog_build NAME [FLAGS]     builds tests/progs/gdb/NAME.c with lizard-cc -g into $T/NAME
#   record NAME [ARGS]          records $T/NAME
#   gdb_run [OPTIONS] <commands prints what lizard-gdb -batch prints for the commands on stdin
#   patched_gdb                 whether there is one to test
#   section TEXT NAME           the part of the output behind the line `-- NAME`
#   $in_write                   where the C library writes, in GDB's words
#   $no_history                 the pattern of what GDB says at a recording's ends: GDB 13's words and GDB 16's

no_history='No more reverse-execution history|Reached end of recorded history'
# glibc 2.41 makes most calls in a function of which only the debug symbols have the name.
in_write='(write|\?\?)'

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

# Whether the patched GDB is built, and with the present library in it.
patched_gdb() {
	[ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] && [ ! "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" -ot "$LIZARD_BIN/lizard" ]
}

section() {
	printf '%s\n' "$1" | sed -n "/^-- $2\$/,/^-- /{/^-- /d;p}"
}
