#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# C++ as it was written before its standard library was everywhere: a generator of hash functions, with lists and search
# loops of its own. At -O2 only, if not LIZARD_LONG.
. "$(dirname "$0")/../lib/tap.sh"
[ -n "$LIZARD_LONG" ] || { levels=-O2 native_flags=-O0; }
walked=always two_ways=-O2
WALK_PLACES="Search::count_possible_collisions Search::compute_partition KeywordExt::init_selchars_multiset Hash_Table::insert"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test gperf
