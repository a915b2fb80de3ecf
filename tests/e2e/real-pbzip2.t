#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Four threads that compress, one that reads, one that writes.
. "$(dirname "$0")/../lib/tap.sh"
walked=long two_ways=-O2 # as bzip2: docs/design/exceptions.md
WALK_PLACES="BZ2_bzCompress generateMTFValues consumer BZ2_hbMakeCodeLengths" WALK_WATCH="NumBlocks; NumBufferedBlocks; OutBufferPosToWrite"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test pbzip2
