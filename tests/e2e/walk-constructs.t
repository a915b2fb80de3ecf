#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Walks against the truth on every construct, at -O0 and -O2 in turn. Few positions; with LIZARD_LONG 50, at both levels.
# CONSTRUCTS names the programs to try, at both levels.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"
. "$LIZARD_SRC/tests/lib/constructs.sh"

# What finds the answers is the same for both front ends: half of the places in every second program, at the level that the first one
# leaves out, do for the second.
WALK_POSITIONS=4 WALK_N=10 every=1 other=0
[ "${LIZARD_FRONT_END:-}" != stock ] || WALK_POSITIONS=2 every=2 other=1
[ -z "$LIZARD_LONG" ] || { walk_long; every=1; }
[ -z "$CONSTRUCTS" ] || every=1
number=0
export WALK_POSITIONS WALK_N

# In these GDB's own stepping leads to one stop from two, as 6.4 says.
TWO_WAYS="nested.c setjmp.c callbacks.c coroutine.c ctor.c alloca_vla.c funcptr.c exceptions.cc unwinding.cc coroutines.cc threads.cc comdat.cc functional.cc async.cc"
# GCC 14 makes vectors of a loop in cancel.c: one step leads out of it, from wherever in it a walk begins. In casts.cc it cuts up
# inlined constructors: a row of the caller's line lies among them, where a walk over them does not stop.
gcc=$(echo "${LIZARD_GCC:-$(gcc -dumpversion)}" | cut -d. -f1)
[ "$gcc" -lt 14 ] || TWO_WAYS="$TWO_WAYS cancel.c casts.cc"
# GCC 16 unrolls a loop of loops.c: in rows that begin no statement a step is still in the line before, and passes that line's row.
[ "$gcc" -lt 16 ] || TWO_WAYS="$TWO_WAYS loops.c"

for file in "$constructs"/*.c "$constructs"/*.cc; do
	number=$((number + 1))
	[ $((number % every)) = 0 ] || continue
	about "$file"
	case " ${CONSTRUCTS:-$name} " in *" $name "*) ;; *) continue ;; esac
	in_turn $((number + other))
	for level in $both; do
		case " ${levels:-$level} " in *" $level "*) ;; *) continue ;; esac
		# shellcheck disable=SC2086
		(cd "$constructs" && $ours -w "$level" -g "$name" $build -o "$T/${name%.*}$level") >"$T/log" 2>&1 ||
			{ ok 1 "$name $level: builds"; continue; }
		rec=$T/recordings/$name$level
		timeout -k 5 120 lizard-trace -q -o "$rec" "$T/${name%.*}$level" >/dev/null 2>"$T/err" </dev/null ||
			{ ok 1 "$name $level: recorded" || diag "$(head -n 3 "$T/err")"; continue; }
		two_ways=
		case " $TWO_WAYS " in *" $name "*) two_ways=1 ;; esac
		WALK_MODES="step next jump${watched:+ watch}" WALK_WATCH=$watched WALK_TWO_WAYS=$two_ways walk "$name$level" "$rec"
	done
done
done_testing
