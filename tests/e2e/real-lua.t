#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test lua
