#!/bin/sh
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test lua
