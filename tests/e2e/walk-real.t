#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Walks against the truth on the real programs, at -O0 and -O2 in turn. Few positions here; with LIZARD_LONG 50, at both levels.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/real.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

# What finds the answers is the same for both front ends: half of the places, at the level that the first one leaves out, do for the second.
WALK_POSITIONS=4 WALK_N=10 walked=-O0 next=-O2
[ "${LIZARD_FRONT_END:-}" != stock ] || WALK_POSITIONS=2 walked=-O2 next=-O0
[ -z "$LIZARD_LONG$WALK_PROGRAMS" ] || walked="-O0 -O2" next="-O0 -O2"
[ -z "$LIZARD_LONG" ] || walk_long
export WALK_POSITIONS WALK_N WALK_MODES WALK_PLACES WALK_WATCH WALK_TWO_WAYS
# Nested inlined loops, cut up and mixed with their callers' code; tail calls: docs/design/exceptions.md.
TWO_WAYS="bzip2-O2 lua-O2 xz-O2"

# Where control comes often and seldom, and what changes often and seldom.
places() {
	case $1 in
	bzip2) echo "BZ2_bzCompress generateMTFValues BZ2_hbMakeCodeLengths compress.c:180" ;;
	gzip) echo "flush_block fill_window send_all_trees longest_match" ;;
	bc) echo "bc_divide execute more_variables _bc_simp_mul" ;;
	xz) echo "lzma_lzma_optimum_normal bt_find_func bt_skip_func length_update_prices" ;;
	lua) echo "auxsort luaH_resize str_format lua_seti" ;;
	esac
}
# Members of the structure of TYPE that POINTER refers to in FUNCTION, by its address: it is the same in the whole run.
members() { # RECORDING FUNCTION POINTER TYPE MEMBERS
	at=$("$LIZARD_BIN/lizard-gdb" -nx -batch "$1" -ex "jump_forward $2" -ex "printf \"at %p\\n\", $3" 2>/dev/null | sed -n 's/^at 0x/0x/p')
	for member in ${at:+$5}; do
		echo "(($4 *) $at)->$member;"
	done
}
watched() { # NAME RECORDING
	case $1 in
	gzip) echo "bytes_in; outcnt; block_start" ;;
	bc) echo "ex_stack; _bc_Free_list" ;;
	bzip2) members "$2" BZ2_compressBlock s EState "nblock combinedCRC" ;;
	xz) members "$2" lzma_lzma_encode coder "struct lzma_lzma1_encoder_s" "opts_end_index match_price_count" ;;
	lua) members "$2" auxsort "L->l_G" global_State "GCdebt gcstate" ;;
	esac
}

for name in ${WALK_PROGRAMS:-$REAL_PROGRAMS ${LIZARD_LONG:+$REAL_LONG}}; do
	real_input "$name" "$T/input-$name"
	for level in $walked; do
		program=$(real_build "$name" lizard-cc "$level -g" "$T/build-$name$level") || { ok 1 "$name $level: builds"; continue; }
		rec=$T/recordings/$name$level
		(cd "$T" && eval "timeout -k 5 300 lizard-trace -q -o '$rec' -- $(real_command "$name" "$program" "$T/input-$name")") >/dev/null 2>"$T/err"
		ok $? "$name $level: recorded" || { diag "$(cat "$T/err")"; continue; }
		WALK_TWO_WAYS=
		case " $TWO_WAYS " in *" $name$level "*) WALK_TWO_WAYS=1 ;; esac
		WALK_PLACES=$(places "$name") WALK_WATCH=$(watched "$name" "$rec" | tr -d '\n')
		WALK_WATCH=${WALK_WATCH%;}
		[ "$WALK_WATCH" ]
		ok $? "$name $level: there is something to watch" || continue
		WALK_MODES="step next jump watch"
		walk "$name$level" "$rec"
	done
	last=$walked walked=$next next=$last
done
done_testing
