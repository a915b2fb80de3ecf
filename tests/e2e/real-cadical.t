#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# C++: a SAT solver of 25,000 lines, which writes down all that it learns. At -O1, which compiles sooner; at -O0 and -O2 with LIZARD_LONG.
. "$(dirname "$0")/../lib/tap.sh"
[ -n "$LIZARD_LONG" ] || { levels=-O1 native_flags=-O0; }
walked=always two_ways="-O1 -O2"
WALK_PLACES="CaDiCaL::Internal::decide CaDiCaL::Internal::analyze CaDiCaL::Internal::backtrack"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test cadical
