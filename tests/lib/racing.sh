# SPDX-License-Identifier: GPL-3.0-or-later
# For the programs of tests/progs/chaos. Sourced after tap.sh.
#
#   chaos_build NAME             builds tests/progs/chaos/NAME.c into $T/NAME
#   chaos_record SEED REC NAME   its status is the program's; the recording is kept if the program fails
#   races NAME REC               whether lizard-gdb, going back from the end of REC, names the accesses that NAME.c's
#                                comments say race

chaos_build() {
	lizard-cc -g -O0 -pthread -D_GNU_SOURCE -DHANGS_AFTER=20 "$LIZARD_SRC/tests/progs/chaos/$1.c" -o "$T/$1"
}

chaos_record() {
	timeout -k 5 60 lizard-trace -q --chaos="$1" --keep=failure -o "$2" "$T/$3" >"$T/out" 2>"$T/err"
}

races() {
	racing=$(RACING=$LIZARD_SRC/tests/progs/chaos/$1.c timeout 500 lizard-gdb -nx -batch -ex 'set pagination off' \
		-x "$LIZARD_SRC/tests/lib/racing.py" -e "$2" 2>&1)
	like "$racing" '^races: ' "$1: the accesses that race are named" || replay_hint "-e $2"
	diag "$1: $(echo "$racing" | grep '^races: ')"
}
