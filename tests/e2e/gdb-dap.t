#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The patched GDB has GDB's Debug Adapter, and opens recordings in it.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

patched_gdb || skip_all "the patched GDB is not built, or older than the library: make gdb"
prog_build tour || skip_all "no program"
record tour

out=$(timeout 100 "$LIZARD_SRC/tests/clients/dap.py" "$LIZARD_BIN/lizard-gdb" --patched -nx -i=dap -- \
	"target lizard $T/tour" "info lizard" "jump_forward factorial" "print n" "prev" 2>&1)
like "$out" '^capability supportsSteppingGranularity' "lizard-gdb -i=dap is an adapter"
like "$(section "$out" "info lizard")" '^front end .*target lizard$' "that replays itself" || diag "$out"
like "$(section "$out" "jump_forward factorial")" '^factorial \(n=5\)' "and has Lizard's commands"
is "$(section "$out" "print n")" '$1 = 5' "at an instant"
like "$(section "$out" prev)" '= factorial\(5\)' "and before"
like "$out" '^ended with 0$' "and ends"
done_testing
