#!/bin/sh
# Walks against the truth (tests/lib/walk.py) on small programs.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

prog_build tour || skip_all "no program"
record tour
WALK_MODES="step next jump watch" WALK_WATCH="total; box.depth[0] + box.depth[1]; left" walk tour "$T/tour"
done_testing
