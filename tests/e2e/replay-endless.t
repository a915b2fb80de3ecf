#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A replay that computes without end where the recorded program went on is given up, also by a question that shows how far it is.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

damage=$(tool replay-damage) && gcc -O1 -w -o "$T/until_same" "$LIZARD_SRC/tests/progs/replay/until_same.c"
ok $? "the tool and the program build" || { diag "$(cat "$T"/replay-*.log)"; done_testing; }
is "$(lizard-trace -q -o "$T/rec" "$T/until_same")" "the end" "recorded"
like "$(lizard output "$T/rec")" "the end" "its output is found"
last=$(lizard dump --events "$T/rec" | sed -n 's/^event \([0-9]*\) .* getppid(.*/\1/p' | tail -n 1)
"$damage" "$T/rec" "$T/lie" result "$last" >"$T/log"
ok $? "the last call gives something else" || diag "$(cat "$T/log")"
for question in verify output; do
	timeout 60 lizard $question "$T/lie" >"$T/out" 2>&1
	is $? 1 "$question gives up" || diag "$(tail -n 3 "$T/out")"
done
done_testing
