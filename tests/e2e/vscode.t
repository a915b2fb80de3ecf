#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The VS Code extension: what it asks of VS Code and of a session, and that it records.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

command -v node >/dev/null || skip_all "node is not installed"
prog_build told
timeout 120 node "$LIZARD_SRC/tests/clients/vscode.js" "$LIZARD_SRC/editors/vscode" "$LIZARD_BIN/lizard" "$T/told" >"$T/out" 2>"$T/err"
said() {
	sed -n "s/^$1: //p" "$T/out"
}
check() {
	is "$(said "$1")" "$2" "$3" || diag "$(cat "$T/out" "$T/err")"
}
check commands "the same" "the commands are those of package.json"
check menus known "and those in menus are among them"
check adapter "true dap --gdb /a/gdb" "the adapter is lizard dap"
check "no session" "error Lizard: no recording is being debugged." "a command without a session says so"
check member '["reverse_watchpoint",{"variablesReference":7,"name":"value"}]' "a variable of the Variables view"
check watched '["reverse_watchpoint",{"expression":"a + b"}]' "an expression of the Watch view"
check typed '["reverse_watchpoint",{"expression":"x"}] info x did not change' "one that is typed, and no change"
check jump '["jump",{"location":"x","direction":"backward"}]' "a jump"
check when "info Event 3 of 9, 50% of the run, position 1:2.3@4#1, clipboard 1:2.3@4#1" "when"
check refused "error Lizard: refused" "an error response is shown"
check recorded told-1 "record: the program is recorded, and that recording is opened"
like "$("$LIZARD_BIN/lizard" info told-1)" 'crash' "with its arguments"
check "not recorded" "error Lizard: PROGRAM-not was not recorded; the terminal says why." "a program that is not there"
check "as it is" undefined "without record the program's newest is opened"
check opened "true true" "a recording is chosen and opened at its end"
done_testing
