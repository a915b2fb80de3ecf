#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Editors' debug adapters use lizard-gdb in GDB's place.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

NODE_PATH=$("$LIZARD_SRC/tests/lib/npm-packages" 2>"$T/npm.err") || skip_all "$(cat "$T/npm.err")"
export NODE_PATH
prog_build tour || skip_all "no program"
record tour

# Eclipse's adapter, which VS Code and Theia use, too.
source=$LIZARD_SRC/tests/progs/gdb/tour.c
line=$(grep -n 'total += r' "$source" | cut -d: -f1)
out=$(timeout 120 node "$LIZARD_SRC/tests/clients/cdt.js" "$LIZARD_BIN/lizard-gdb" "$T/tour" "$source" "$line" 2>&1)
is "$(echo "$out" | grep '^stopped:\|^total:' | tr '\n' ' ')" \
	"stopped: breakpoint add:$line total: 0 stopped: step add:$((line + 1)) stopped: breakpoint add:$line " \
	"cdt-gdb-adapter: to a breakpoint, a step, and back" || diag "$out"
done_testing
