#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# No folder or room includes, or calls, what lies above it.
. "$(dirname "$0")/../lib/tap.sh"
cd "$LIZARD_SRC" || exit 1
out=$(scripts/check-layers "$LIZARD_BUILD/obj")
ok $? "no folder or room includes or calls what lies above it" || diag "$out"
# The check itself must be able to fail.
mkdir -p "$T/common/base" "$T/tracer"
echo '#include "tracer/run/x.h"' >"$T/common/base/bad.c"
: >"$T/tracer/stray.c"
out=$(cd "$T" && "$LIZARD_SRC/scripts/check-layers")
like "$out" 'common/base/bad.c:1: common/base/ is below tracer/run/' "a violation is found"
like "$out" 'tracer/stray.c: it lies in no room' "so is a file without a room"
mkdir -p "$T/tracer/log" "$T/tracer/run" "$T/obj/tracer/log" "$T/obj/tracer/run"
echo 'int lz_above(void); int lz_below(void) { return lz_above(); }' >"$T/tracer/log/down.c"
echo 'int lz_above(void) { return 1; }' >"$T/tracer/run/up.c"
for name in log/down run/up; do
	gcc -c "$T/tracer/$name.c" -o "$T/obj/tracer/$name.o"
done
like "$(cd "$T" && "$LIZARD_SRC/scripts/check-layers" obj)" \
	'tracer/log/down.c: tracer/log/ is below tracer/run/ and must not call lz_above\(\)' "so is a call that goes up"
done_testing
