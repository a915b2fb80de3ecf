#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
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

# The instant of a crash in a loop without markers: which of its rounds it was.
cat >"$T/off.c" <<'C'
#include <sys/mman.h>
int main(void)
{
	int *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + 1024, 4096);
	while (*p++ != 77)
		;
	return 0;
}
C
gcc -g -O1 "$T/off.c" -o "$T/off"
record off
out=$(gdb_run -e "$T/off" <<END
-- crash
when
reverse-stepi
when
-- forward
jump_forward start
continue
when
END
)
like "$(section "$out" crash | sed -n 2p)" '^position .*#1025$' "a crash in the loop's 1025th round"
like "$(section "$out" crash | grep '^position' | tail -n 1)" '#102[45]$' "a step back"
is "$(section "$out" forward | grep '^position')" "$(section "$out" crash | sed -n 2p)" "running there leads to the same position"
done_testing
