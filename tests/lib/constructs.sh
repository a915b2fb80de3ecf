# SPDX-License-Identifier: GPL-3.0-or-later
# The construct programs (tests/progs/constructs) and what they say of themselves. Sourced after tap.sh.
#
#   constructs      where they are
#   about FILE      sets name, plain and ours (compilers), build (flags), levels (empty: any) and watched (expressions)
#   in_turn N       sets both to -O0 or -O2, for the N-th program in turn as far as it may be built so; with LIZARD_LONG or CONSTRUCTS
#                   to both

constructs=$LIZARD_SRC/tests/progs/constructs

says() {
	sed -n "s/^[/ ]*[*/] $2: //p" "$1"
}

about() {
	name=$(basename "$1")
	plain=$PLAIN_CC ours=lizard-cc
	case $1 in *.cc) plain=$PLAIN_CXX ours=lizard-c++ ;; esac
	build=$(says "$1" build)
	levels=$(says "$1" levels)
	watched=$(says "$1" watch)
}

in_turn() {
	both=-O$(($1 % 2 * 2))
	case " ${levels:-$both} " in *" $both "*) ;; *) both="-O0 -O2" ;; esac
	[ -z "$LIZARD_LONG$CONSTRUCTS" ] || both="-O0 -O2"
}
