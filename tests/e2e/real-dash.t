#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A shell that runs a script with pipes, subshells and background jobs: each of its processes is recorded.
. "$(dirname "$0")/../lib/tap.sh"
trace_options="--follow all" verify_options=-a walked=long two_ways=-O2 # a tail call made in inlined calls: docs/design/exceptions.md
WALK_PLACES="evaltree stalloc readtoken1 lookupvar" WALK_WATCH="stacknleft; exitstatus; evalskip"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test dash
