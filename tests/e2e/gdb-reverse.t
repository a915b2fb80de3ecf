#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# GDB's own reverse commands stop at the same places in the patched GDB, where a step backwards through a line is one
# request, and in one of the same version that asks the server, which steps by instructions.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/real.sh"

patched_gdb || skip_all "the patched GDB is not built, or older than the library: make gdb"
unset LIZARD_FRONT_END
served="--stock --gdb $(same_gdb)"
diag "the server is asked by ${served##* }"
steps=25
[ -z "$LIZARD_LONG" ] || steps=1000

cat >"$T/walk.py" <<END
import os
import sys

import gdb

sys.path.insert(0, os.environ["LIZARD_SRC"] + "/tests/lib")
from stops import walk

for start in ("30%", "60%", "95%"):
    gdb.execute("jump_backward 20%" if start == "30%" else "jump_backward 10%", to_string=True)
    gdb.execute("jump_forward " + start, to_string=True)
    for command in ("reverse-stepi", "reverse-step", "reverse-next", "reverse-finish"):
        walk(command, $steps if command != "reverse-finish" else 3)
gdb.execute("jump_forward end", to_string=True)
gdb.execute("break " + gdb.convenience_variable("often").string())
walk("reverse-continue", 5)
gdb.execute("delete")
gdb.execute("tbreak " + gdb.convenience_variable("once").string())
walk("reverse-continue", 1)
# Not from the end: GDB can step inside the C library only where libc6-dbg is installed.
gdb.execute("jump_forward 95%", to_string=True)
gdb.execute("set exec-direction reverse")
walk("step", 5)
walk("next", 5)
END

compare() { # NAME OFTEN ONCE
	for front_end in stock patched; do
		options=--patched
		[ $front_end = patched ] || options=$served
		# shellcheck disable=SC2086
		timeout 300 "$LIZARD_BIN/lizard-gdb" $options -nx -batch -ex "set \$often = \"$2\"" -ex "set \$once = \"$3\"" \
			-x "$T/walk.py" "$T/recordings/$1" 2>&1 </dev/null | grep '^stop' >"$T/$1.$front_end"
	done
	[ "$(wc -l <"$T/$1.stock")" -gt $((9 * steps)) ] && ! grep -q "$T/$1.stock" -e failed
	ok $? "$1: a walk backwards" || diag "$(tail -n 3 "$T/$1.stock")"
	cmp -s "$T/$1.stock" "$T/$1.patched"
	ok $? "$1: the same in the patched GDB" || diag "$(diff "$T/$1.stock" "$T/$1.patched" | head -n 10)"
	grep -q "^stop reverse-continue $3 " "$T/$1.patched"
	ok $? "$1: back to a function that is called once" || diag "$(grep reverse-continue "$T/$1.patched")"
}

real_text 3000 >"$T/text"
for level in -O0 -O2; do
	program=$(real_build bzip2 lizard-cc "$level -g" "$T/bzip2$level") &&
		timeout -k 5 120 lizard-trace -q -o "$T/recordings/bzip2$level" -- "$program" -9 -c "$T/text" >/dev/null 2>&1
	ok $? "bzip2 $level: recorded"
	compare "bzip2$level" BZ2_hbMakeCodeLengths BZ2_bzWriteOpen
done
done_testing
