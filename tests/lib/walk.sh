# SPDX-License-Identifier: GPL-3.0-or-later
# Walks against the truth. Sourced after tap.sh; parameters: see walk.py.
#
#   walk NAME PROGRAM|RECORDING [LIZARD-GDB OPTIONS]     passes one test per mode

# How much is walked with LIZARD_LONG: 50 positions. What finds the answers is the same for both front ends, so on the patched
# GDB fewer moves are made from each.
walk_long() { # [patched|stock]
	WALK_POSITIONS=50 WALK_N=20
	case ${1:-${LIZARD_FRONT_END:-}} in
	stock) ;;
	*) [ ! -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || WALK_N=8 ;;
	esac
}

walk() {
	walk_name=$1 walk_seconds=1200 walk_failed=$tap_failed
	shift
	[ -z "$LIZARD_LONG" ] || walk_seconds=7200
	WALK_OUT=$T/$walk_name.walk timeout $walk_seconds "$LIZARD_BIN/lizard-gdb" -nx -batch \
		-x "$LIZARD_SRC/tests/lib/walk.py" "$@" >"$T/$walk_name.log" 2>&1
	grep -q '^done$' "$T/$walk_name.walk"
	ok $? "$walk_name: the walk came to its end" || diag "$(tail -n 5 "$T/$walk_name.log")"
	while read -r verdict text; do
		case $verdict in
		ok) ok 0 "$walk_name: $text" ;;
		not) ok 1 "$walk_name: ${text#ok }" ;;
		done) ;;
		*) printf '%s %s\n' "$verdict" "$text" >&2 ;;
		esac
	done <"$T/$walk_name.walk"
	[ "$tap_failed" = "$walk_failed" ] || replay_hint "$*"
}
