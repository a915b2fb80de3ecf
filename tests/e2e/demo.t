#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `make demo`: from the crash of bc to the wrong line, every step of the way. Then README's questions and its picture, of the
# recording that it leaves.
. "$(dirname "$0")/../lib/tap.sh"

timeout 600 "$LIZARD_SRC/demo/run.sh" "$T/demo" >"$T/log" 2>&1
ok $? "the demo runs to its end" || diag "$(tail -n 20 "$T/log")"
log=$(cat "$T/log")
like "$log" 'received signal SIGSEGV|SIGSEGV' "the recorded run crashes"
like "$log" 'n_value = 0x0' "the symptom: a number without digits"
like "$log" '1  more_arrays, storage\.c:[0-9]+: the constant 0 in ' "flowback finds who put the zero there"
like "$log" 'decided by `cmp .* of .*v_count = 96' "flowback -why names the wrong variable"
like "$log" 'arrays\[indx\] = NULL' "reverse_watchpoint finds who put the zero there"
like "$log" '#0 .*more_arrays' "in more_arrays"
like "$log" 'for \(; indx < v_count; indx\+\+\)' "prev shows the wrong loop condition"

out=$(python3 "$LIZARD_SRC/tests/lib/readme.py" "$LIZARD_SRC/README.md" "Answers without running" "$T/demo" 2>&1)
is "$out" "5 of 5 answers are right" "README's questions have the answers that it gives"

bars() {
	sed -n 's/^<title>\([^ ]*\) .*/\1/p' "$1"
}
if [ -e /usr/share/perl5/Devel/NYTProf/flamegraph.pl ]; then
	(cd "$T/demo" && "$LIZARD_SRC/demo/flames.sh" crash) >"$T/flames.svg" 2>"$T/err"
	ok $? "flamegraph.pl draws a profile" || diag "$(cat "$T/err")"
	python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$T/flames.svg" 2>"$T/err"
	ok $? "... as well-formed XML" || diag "$(cat "$T/err")"
	is "$(bars "$T/flames.svg")" "$(bars "$LIZARD_SRC/docs/flames.svg")" "... with the bars of README's picture"
else
	skip 3 "no flamegraph.pl"
fi
done_testing
