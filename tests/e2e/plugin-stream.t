#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Whole marker streams of the construct programs against their control-flow graphs: a checker linked
# into each takes the markers as a tracer would and decodes every one (tests/lib/streamcheck.c).
. "$(dirname "$0")/../lib/tap.sh"

dir=$LIZARD_SRC/tests/progs/constructs
libs="$LIZARD_BUILD/obj/libcommon.a -lelf -lz -lzstd -llz4 -ldeflate -lxxhash"
if [ "$LIZARD_SANITIZE" = 1 ]; then
	skip_all "the sanitizers' own SIGSEGV handling is in the way"
fi
$PLAIN_CC -g -O1 -D_GNU_SOURCE -I"$LIZARD_SRC/include" -c "$LIZARD_SRC/tests/lib/streamcheck.c" -o "$T/check.o" || exit 1

for file in "$dir"/*.c "$dir"/*.cc; do
	name=$(basename "$file")
	ours=lizard-cc
	case $name in
	*.cc) ours=lizard-c++ ;;
	noreturn.c | cancel.c | threads.cc) continue ;; # ends in _exit(); threads
	esac
	build=$(sed -n "s/^[/ ]*[*/] build: //p" "$file")
	levels=$(sed -n "s/^[/ ]*[*/] levels: //p" "$file")
	for level in ${levels:--O0 -O2 -O3}; do
		(cd "$dir" && $ours -w $level -g "$name" $build "$T/check.o" $libs -o "$T/program") 2>&1 |
			grep -v -i -e 'GNU-stack' -e executable
		timeout 100 "$T/program" >"$T/out" 2>"$T/err"
		like "status $? $(tail -n 1 "$T/err")" '^status 0 stream: [0-9]+ markers' "$name $level"
	done
done
done_testing
