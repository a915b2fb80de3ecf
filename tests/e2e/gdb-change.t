#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# reverse_watchpoint on a variable in registers goes to the last change, not to another one of the same line.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

# LINE: where to start; WANT: the old and the new value.
last_change() {
	out=$(gdb_run "$1" "$T/$2" <<-END
		jump_forward twice.c:$3
		-- last
		reverse_watchpoint v
		-- then
		nexti
		nexti
		print v
	END
	)
	is "$(section "$out" last | sed -n 's/^\(Old\|New\) value = //p' | tr '\n' ' ')" "$4" "line $3 of $2 $1: the last change"
	like "$(section "$out" then)" "= ${4#* }*\$" "... stands there"
}

prog_build twice -O1 && mv "$T/twice" "$T/twice-O1" && record twice-O1 || skip_all "no program"
prog_build twice -O2 && mv "$T/twice" "$T/twice-O2" && record twice-O2
for of in twice-O1 twice-O2; do
	for front_end in --stock --patched; do
		if [ $front_end = --patched ] && ! patched_gdb; then
			skip "the patched GDB" "not built, or older than the library: make gdb"
			continue
		fi
		last_change $front_end $of 16 "148 296 "
		last_change $front_end $of 26 "1336 4009 "
	done
done
done_testing
