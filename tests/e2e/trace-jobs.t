#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Ctrl-Z, and programs that stop, in an interactive shell: as without the recorder.
. "$(dirname "$0")/../lib/tap.sh"
cd "$T" || exit 1
lizard-cc -O1 -g "$LIZARD_SRC/tests/progs/trace/jobs.c" -o jobs || exit 1

JOBS=jobs timeout -k 5 600 python3 "$LIZARD_SRC/tests/lib/jobs.py" "$T/jobs" lizard-trace -q >tap 2>&1
# where recording has ended before
JOBS=ended timeout -k 5 600 python3 "$LIZARD_SRC/tests/lib/jobs.py" "$T/jobs" lizard-trace -q --max-size 1K >>tap 2>&1
grep '^#' tap >&2
while read -r verdict name; do
	case $verdict in
	ok) ok 0 "${name#- }" ;;
	not) ok 1 "${name#ok - }" ;;
	esac
done <tap
is "$(grep -c '^ok\|^not ok' tap)" 10 "all of them" || diag "$(cat tap)"
for rec in jobs-*; do
	lizard verify "$rec" >verify 2>&1
	ok $? "$rec: verify is clean" || diag "$(cat verify)"
done
done_testing
