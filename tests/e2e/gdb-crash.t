#!/bin/sh
# From a crash back to its cause.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build crash || skip_all "no program"
record crash
is $? 139 "the program crashes under the tracer as without it"

out=$(gdb_run -e "$T/crash" <<END
-- crash
bt
info registers rip
-- cause
reverse_watchpoint items[2].data
bt
END
)
like "$out" 'SIGSEGV' "opening at the end shows the signal"
like "$(section "$out" crash)" '^#0 .*sum \(it=0x[0-9a-f]+ <items\+32>\)' "the backtrace at the crash"
like "$(section "$out" cause)" '^Old value = \(int \*\) 0x[0-9a-f]+ <numbers>' "the value before"
like "$(section "$out" cause)" '^New value = \(int \*\) 0x8' "the value after"
like "$(section "$out" cause)" '^#0 .*spoil \(which=2\)' "the cause"

out=$(gdb_run "$T/crash" <<END
continue
-- end
continue
END
)
like "$out" 'Program received signal SIGSEGV' "running forward meets the signal"
like "$(section "$out" end)" 'The recording ends here: signal 11' "and then the end"
done_testing
