#!/bin/sh
# Walks against the truth (tests/lib/walk.py) on small programs.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

prog_build tour || skip_all "no program"
record tour
WALK_POSITIONS=25 WALK_MODES="step next jump watch" WALK_WATCH="total; 'tour.c'::box.depth[0] + 'tour.c'::box.depth[1]; 'tour.c'::left" walk tour "$T/tour"
done_testing
