#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Link-time optimization: code that GCC makes while it links has markers, is recorded, verified and walked like other code.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/constructs.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"
cd "$T" || exit 1
cp "$LIZARD_SRC"/tests/progs/lto/*.c .

# build COMPILER PROGRAM FLAGS: compiles the two units, then links.
build() {
	compiler=$1 program=$2
	shift 2
	# shellcheck disable=SC2086
	$compiler -g -flto "$@" -c one.c && $compiler -g -flto "$@" -c two.c && $compiler -g -flto "$@" one.o two.o -o "$program"
}

for flags in "-O0" "-O2" "-O2 -flto-partition=max" "-O2 -ffat-lto-objects" "-O2 -fPIC" \
	"-O2 -fwhole-program" "-O2 -fno-use-linker-plugin"; do
	# shellcheck disable=SC2086
	build "lizard-cc -flizard-check" checked $flags 2>log && is "$(./checked)" "20 1 5050" "$flags: every marker finds r15 right" ||
		diag "$(cat log)"
	# shellcheck disable=SC2086
	build lizard-cc program $flags 2>log
	name=$(echo "$flags" | tr -d ' =')
	lizard-trace -q -o "$T/recordings/$name" ./program >/dev/null
	like "$(lizard verify "$T/recordings/$name" 2>&1)" 'clean: [0-9]{2,} bytes of markers' "$flags: recorded and verified"
done
for level in -O0 -O2; do
	WALK_FROM=main WALK_N=30 WALK_MODES="step next" walk "lto$level" "$T/recordings/$level"
done

# What is not told again when linking.
lizard-cc -O2 -g -flto -c one.c && lizard-cc -O2 -g -flto -c two.c && lizard-cc one.o two.o -o untold && ./untold >out
is "$(cat out) $(readelf -SW untold | grep -o ' \.lizard' | head -n 1)" "20 1 5050  .lizard" "-flto only when compiling"
$PLAIN_CC -O2 -g -flto -c one.c && $PLAIN_CC -O2 -g -flto -c two.c && lizard-cc one.o two.o -o late && ./late >out
is "$(cat out) $(readelf -SW late | grep -o ' \.lizard' | head -n 1)" "20 1 5050  .lizard" "compiled by plain gcc, linked by lizard-cc"
lizard-cc -O2 -flto -fPIC -shared two.c -o libtwo.so && lizard-cc -O2 -flto one.c ./libtwo.so -o with_lib 2>log
is "$(./with_lib)" "20 1 5050" "a shared library" || diag "$(cat log)"
printf 'register long r __asm__("r15");\nlong taken(void)\n{\n\treturn r;\n}\n' >global.c
like "$(lizard-cc -flto -c global.c 2>&1)" "r15 is a global register variable.* without .-flto" "a global register variable r15 is refused"
lizard-cc -flto -c global.c 2>/dev/null; is $? 1 "with status 1"

for file in "$constructs"/*.c "$constructs"/*.cc; do
	about "$file"
	(
		cd "$constructs" || exit 1
		# shellcheck disable=SC2086
		$plain -w -O2 -flto "$name" $build -o "$T/plain" && $ours -flizard-check -w -O2 -flto "$name" $build -o "$T/ours"
	) >log 2>&1
	for program in plain ours; do
		timeout 60 "./$program" >$program.out 2>&1 </dev/null
		echo "status $?" >>$program.out
	done
	cmp -s plain.out ours.out
	ok $? "$name: as with plain gcc -flto" || diag "$(tail -n 3 log; diff plain.out ours.out)"
	rm -f plain ours
done
done_testing
