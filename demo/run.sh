#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A real bug in a real program: bc 1.07.1 from Debian, with the line put back that crashed bc 1.06
# ("more_arrays" in bc/storage.c). Builds it with lizard-cc, records the crash, and walks back to its cause.
# Usage: make demo (or demo/run.sh DIR with LIZARD_BIN and LIZARD_SRC set)
set -eu
dir=${1:?usage: demo/run.sh DIR}
PATH=$LIZARD_BIN:$PATH
LIZARD_TRACE_DIR=$dir/recordings
export PATH LIZARD_TRACE_DIR
. "$LIZARD_SRC/tests/lib/real.sh"

show() {
	printf '\n$ %s\n' "$*"
}

echo "Fetching and building bc with lizard-cc -g -O0, with demo/bc-more-arrays.patch applied ..."
program=$(real_build bc lizard-cc "-g -O0" "$dir/bc" "$LIZARD_SRC/demo/bc-more-arrays.patch")
cp "$LIZARD_SRC/demo/prices.bc" "$dir"
mkdir -p "$LIZARD_TRACE_DIR"
rm -rf "$dir/crash"
cd "$dir"
ln -sf "$program" ./bc-demo

show bc-demo prices.bc
status=0
./bc-demo prices.bc </dev/null || status=$?
echo "(exit status $status)"

show lizard-trace -o crash ./bc-demo prices.bc
status=0
lizard-trace -o crash ./bc-demo prices.bc </dev/null || status=$?
echo "(exit status $status)"

show lizard verify crash
lizard verify crash

show "lizard-gdb -e crash"
lizard-gdb -e -batch crash -ex "source $LIZARD_SRC/demo/demo.gdb.py" </dev/null
