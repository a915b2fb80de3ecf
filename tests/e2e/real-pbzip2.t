#!/bin/sh
# Four threads that compress, one that reads, one that writes.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/real-test.sh"
real_test pbzip2
