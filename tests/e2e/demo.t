#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `make demo`: from the crash of bc to the wrong line, every step of the way.
. "$(dirname "$0")/../lib/tap.sh"

timeout 600 "$LIZARD_SRC/demo/run.sh" "$T/demo" >"$T/log" 2>&1
ok $? "the demo runs to its end" || diag "$(tail -n 20 "$T/log")"
log=$(cat "$T/log")
like "$log" 'received signal SIGSEGV|SIGSEGV' "the recorded run crashes"
like "$log" 'n_value = 0x0' "the symptom: a number without digits"
like "$log" 'arrays\[indx\] = NULL' "reverse_watchpoint finds who put the zero there"
like "$log" '#0 .*more_arrays' "in more_arrays"
like "$log" 'for \(; indx < v_count; indx\+\+\)' "prev shows the wrong loop condition"
done_testing
