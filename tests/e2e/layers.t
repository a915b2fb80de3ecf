#!/bin/sh
# No folder includes from a folder above it.
. "$(dirname "$0")/../lib/tap.sh"
cd "$LIZARD_SRC" || exit 1
out=$(scripts/check-layers)
ok $? "the include layering holds" || diag "$out"
# The check itself must be able to fail.
mkdir -p "$T/common" "$T/tracer"
echo '#include "tracer/x.h"' >"$T/common/bad.c"
like "$(cd "$T" && "$LIZARD_SRC/scripts/check-layers")" 'common/bad.c:1: common/ is below tracer/' "a violation is found"
done_testing
