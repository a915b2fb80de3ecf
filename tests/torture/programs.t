#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A fixed 300 of GCC's torture programs, recorded and verified: one line for each. make check-release runs it.
exec "$(dirname "$0")/run" -t -r -c ${TORTURE_COUNT:-300} -l -O2
