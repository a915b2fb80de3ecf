#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# C++: a build tool that reads a file of targets and runs commands. At -O2 only, if not LIZARD_LONG.
. "$(dirname "$0")/../lib/tap.sh"
[ -n "$LIZARD_LONG" ] || { levels=-O2 native_flags=-O0; }
walked=always two_ways=-O2
WALK_PLACES="Edge::EvaluateCommand StatusPrinter::PrintStatus State::GetNode lexer.cc:121"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test ninja
