#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A recording of which something is lost, or that ends before the program's own code runs: each tool says what is so.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build events || skip_all "no program"
record events
whole=$T/recordings/events-1
[ -d "$whole" ]
ok $? "it is recorded" || { done_testing; exit; }
timeout 60 lizard verify "$whole" >"$T/verify"
is "$? $(grep -c ': clean: ' "$T/verify")" "0 1" "whole: it verifies" || diag "$(cat "$T/verify")"

lost=$T/recordings/lost
lose() { # NAME FILE BYTES: all behind so many are lost
	rm -rf "$lost" "$T/packed"
	cp -r "$whole" "$lost"
	truncate -s "$3" "$lost/$2"
	timeout 60 lizard verify "$lost" >"$T/verify"
	is "$? $(grep -c clean "$T/verify")" "1 0" "$1: verify does not call it clean" || diag "$(cat "$T/verify")"
	like "$(cat "$T/verify")" "cut: " "$1: but cut"
	timeout 60 lizard verify -q "$lost" >"$T/verify"
	is "$? $(grep -c 'cut: ' "$T/verify")" "1 1" "$1: quietly, too"
	timeout 60 lizard info --check "$lost" >"$T/info" 2>&1
	is "$? $(grep -c '^damage  *cut: ' "$T/info")" "1 1" "$1: info says it" || diag "$(cat "$T/info")"
	like "$(timeout 60 lizard dump "$lost" 2>&1 >"$T/dump")" "cut: " "$1: dump says it"
	like "$(timeout 60 lizard pack --no-sources -o "$T/packed" "$lost" 2>&1)" "packed as it is: cut: " "$1: pack says it"
	like "$(echo 'info lizard' | gdb_run "$lost")" "cut: " "$1: the debugger says it"
}
size=$(stat -c %s "$whole/events")
lose "no event" events 0
lose "few events" events 400
lose "half of the events" events $((size / 2))
lose "the last byte" events $((size - 1))
lose "no marker" "$(basename "$whole"/markers-*)" 0

# ---- no file may become as large as the C library, so it ends before the program's own code ----
cp "$T/events" "$T/early"
bash -c 'ulimit -f 300; exec "$@"' - lizard-trace -q -o "$T/recordings/early" "$T/early" >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" "recording ends here: .*File too large" "before main: recording ends"
out=$(printf 'info lizard\nbs\n' | gdb_run "$T/recordings/early")
is "$(echo "$out" | grep -c 'not built with')" 0 "before main: it is not said to be without markers" || diag "$out"
is "$(echo "$out" | grep -c 'was built with lizard-cc, but none of its code runs')" 3 "but that its code did not run" || diag "$out"
like "$(lizard info "$T/recordings/early")" "^instrumented  *yes, but none of its code runs" "info says so"
gcc -g "$LIZARD_SRC/tests/progs/gdb/long.c" -o "$T/plain"
bash -c 'ulimit -f 300; exec "$@"' - lizard-trace -q -o "$T/recordings/plain" "$T/plain" 10 >"$T/out" 2>"$T/err"
out=$(echo 'info lizard' | gdb_run "$T/recordings/plain")
like "$out" "^The program was not built with lizard-cc[.]" "one that has none is still said to be without"
done_testing
