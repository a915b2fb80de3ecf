#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# C++: a solver of formulas, 80 files of classes and templates.
. "$(dirname "$0")/../lib/tap.sh"
[ -n "$LIZARD_LONG" ] || skip_all "takes minutes to build: with LIZARD_LONG"
walked=long two_ways=-O2
WALK_PLACES="CaDiCaL::Internal::propagate CaDiCaL::Internal::analyze CaDiCaL::Internal::reduce CaDiCaL::Internal::bump_variable"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test cadical
