#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where there is one CPU, what is recorded of a program is packed by LZ4: packing takes the program's own time.
. "$(dirname "$0")/../lib/tap.sh"
export LIZARD_TRACE_CALLS=buffer

gcc -O1 -w -pthread -o "$T/plain" "$LIZARD_SRC/tests/progs/trace/full.c" &&
	lizard-cc -O1 -w -pthread -o "$T/marked" "$LIZARD_SRC/tests/progs/trace/full.c"
ok $? "the program builds" || done_testing

# How many frames of events zstd has packed, by the headers (lizard/format.h).
by_zstd() {
	python3 - "$1/events" <<'PY'
import struct
import sys
data = open(sys.argv[1], "rb").read()
at = n = 0
while at + 44 <= len(data):
    magic, kind, codec, flags, raw, stored = struct.unpack_from("<IBBHII", data, at)
    n += kind == 1 and codec == 2
    at += 44 + stored
print(n)
PY
}

for how in plain marked; do
	rec=$T/recordings/$how
	taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" timeout -k 5 200 lizard-trace -q -o "$rec" "$T/$how" plain >"$T/out" 2>"$T/err"
	is "$?" 0 "$how: recorded" || diag "$(tail -n 5 "$T/err")"
	is "$(by_zstd "$rec")" 0 "$how: zstd has packed nothing"
	timeout -k 5 200 lizard verify "$rec" >"$T/verify"
	ok $? "$how: it replays" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$rec"; }
done
done_testing
