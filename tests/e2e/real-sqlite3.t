#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A database: 200,000 inserts and an index. It takes a minute to build at -O2: a tenth of the work and -O0 only, unless
# with LIZARD_LONG.
. "$(dirname "$0")/../lib/tap.sh"
[ -n "$LIZARD_LONG" ] || { levels=-O0 native_flags=-O0 REAL_PART=10; }
walked=long two_ways=-O2 # as bzip2: docs/design/exceptions.md
# Places and values that are met all the time: one that is not costs a run to the end, a minute, from each position.
WALK_PLACES="sqlite3BtreeInsert sqlite3BtreeNext sqlite3VdbeRecordCompareWithSkip sqlite3VdbeMemGrow"
WALK_WATCH="sqlite3Stat.nowValue[0]; sqlite3Stat.nowValue[9]"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test sqlite3
