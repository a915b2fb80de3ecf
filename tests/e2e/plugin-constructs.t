#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every construct at -O0, -O2, -O3 and one more level in turn, at each with LIZARD_LONG, in checking mode: the same output and exit
# status as with plain gcc.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/constructs.sh"

# $1: compiler, $2: program, rest: flags. Prints output and exit status.
build_and_run() {
	compiler=$1 program=$2
	shift 2
	# shellcheck disable=SC2068
	(cd "$constructs" && $compiler -w $@ -o "$program") 2>&1 | grep -v -i -e 'GNU-stack' -e executable
	timeout 60 "$program" 2>&1
	echo "status $?"
}

number=0
for file in "$constructs"/*.c "$constructs"/*.cc; do
	number=$((number + 1))
	about "$file"
	case $((number % 3)) in 0) one_more=-Og ;; 1) one_more=-O1 ;; 2) one_more=-Os ;; esac
	for level in ${levels:--O0 -Og -O1 -O2 -O3 -Os}; do
		case $level in -Og | -O1 | -Os) [ -n "$LIZARD_LONG$levels" ] || [ $level = $one_more ] || continue ;; esac
		wanted=$(build_and_run $plain "$T/plain" "$level" "$name" $build)
		got=$(build_and_run "$ours -flizard-check" "$T/checked" "$level" -g "$name" $build)
		is "$got" "$wanted" "$name $level"
		# What the check adds matters to few passes: two levels do without it.
		case $level in -O0 | -O2) ;; *) [ "$LIZARD_LONG" ] || continue ;; esac
		got=$(build_and_run "$ours" "$T/ours" "$level" "$name" $build)
		is "$got" "$wanted" "$name $level unchecked"
	done
done

for flags in "-static" "-static-pie" "-no-pie" "-fPIC" "-ffunction-sections -Wl,--gc-sections" \
	"-mcmodel=large -fno-pie -no-pie" "-mcmodel=large" "-masm=intel" "-fomit-frame-pointer -fno-asynchronous-unwind-tables"; do
	for name in switch.c setjmp.c callbacks.c ifunc.c coroutine.c ctor.c icf.c; do
		case "$flags/$name" in
		*masm*/coroutine.c | *large*/ifunc.c) continue ;;
		esac
		wanted=$(build_and_run $PLAIN_CC "$T/plain" -O2 $flags $name)
		got=$(build_and_run "lizard-cc -flizard-check" "$T/checked" -O2 $flags $name)
		is "$got" "$wanted" "$name -O2 $flags"
	done
done
done_testing
