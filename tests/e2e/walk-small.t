#!/bin/sh
# Walks against the truth (tests/lib/walk.py) on small programs.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

prog_build tour || skip_all "no program"
record tour
WALK_POSITIONS=25 WALK_MODES="step next jump watch" WALK_WATCH="total; 'tour.c'::box.depth[0] + 'tour.c'::box.depth[1]; 'tour.c'::left" walk tour "$T/tour"

# Calls through .plt.got, in whose stubs GDB does not step but looks where they lead.
stubs=$LIZARD_SRC/tests/progs/gdb/stubs.c
(cd "$T" && lizard-cc -g -fPIC -shared -DLIBRARY -o libstubs.so "$stubs" &&
	lizard-cc -g -fPIE -pie -o stubs "$stubs" ./libstubs.so) &&
	objdump -d -j .plt.got "$T/stubs" | grep -q 'twice@plt'
ok $? "a program calls a library through .plt.got" || diag "$(objdump -d -j .plt.got "$T/stubs" 2>&1)"
(cd "$T" && lizard-trace -q -o "$T/recordings/stubs" ./stubs >/dev/null)
ok $? "it is recorded"
WALK_POSITIONS=10 WALK_MODES="step next" walk stubs "$T/recordings/stubs"
done_testing
