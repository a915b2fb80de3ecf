#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# One test for each entry of the table of system calls (include/lizard/syscalls.tbl), by the recipes of tests/calls: the
# program makes the call with real effects and checks them, natively and recorded; the recording is verified with a
# checkpoint after every event, and what the program prints in replay (how many bytes the kernel wrote, and a checksum)
# must be what it printed when it ran.
#
# Then the tests themselves: recorded with a table that lacks one output, a call must fail its test. Here one output of
# each kind is left out; LIZARD_LONG=1 leaves out each one of the table.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

calls=$T/calls
lizard-cc -D_GNU_SOURCE -w -Wno-int-conversion -Wno-incompatible-pointer-types -g -O1 -static -I"$LIZARD_SRC/include" -I"$LIZARD_SRC" -o "$calls" \
	"$LIZARD_SRC"/tests/calls/*.c "$LIZARD_SRC/common/process/syscalls.c" 2>"$T/cc.log"
ok $? "each entry has a recipe" || { diag "$(grep -E 'error|undefined' "$T/cc.log")"; done_testing; }
replay_echo
"$calls" --list >"$T/list"
# The kernel's own list, as the compiler's headers have it.
echo '#include <asm/unistd_64.h>' | gcc -E -dM - | sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/\1 \2/p' | sort >"$T/kernel"
cut -d' ' -f1,2 "$T/list" | sort >"$T/ours"
is "$(wc -l <"$T/kernel" | grep -c '[1-9][0-9][0-9]') $(comm -23 "$T/kernel" "$T/ours")" "1 " "the table has all numbers of the kernel's headers"
mkdir "$T/work"

# record NAME TRACER: TRACER is a command. Status of the recorded program in $status, why it failed in $why.
record() {
	rm -rf "$T/work/$1" "$T/recordings/$1"
	LIZARD_TRACE_CHECK=1 timeout 60 $2 -q --checkpoint-interval 0 -o "$T/recordings/$1" "$calls" "$1" "$T/work/$1" \
		>"$T/out" 2>"$T/err" </dev/null
	status=$? why=
	if [ $status != 0 ] && [ $status != 77 ]; then
		why="recorded: status $status: $(cat "$T/out" "$T/err")"
	elif ! timeout 60 "$echo" "$T/recordings/$1" >"$T/replayed" 2>"$T/verify"; then
		why="replay: $(tail -n 3 "$T/verify")"
	elif ! cmp -s "$T/out" "$T/replayed"; then
		why="it printed $(cat "$T/out"), in replay $(cat "$T/replayed")"
	fi
	[ -n "$why" ] || rm -rf "$T/recordings/$1"
}

while read -r name nr class outs; do
	# In a session of its own: some calls are about those.
	setsid -w timeout 60 "$calls" "$name" "$T/work/$name" native >"$T/native" 2>&1 </dev/null
	native=$?
	record "$name" lizard-trace
	if [ -z "$why" ] && [ $native != $status ]; then
		why="natively: status $native, recorded: $status: $(cat "$T/native" "$T/out")"
	fi
	if [ -z "$why" ] && [ $status = 77 ]; then
		skip "$name" "$(sed 's/^skipped: //' "$T/out")"
	else
		[ -z "$why" ]
		ok $? "$name" || diag "$why"
	fi
done <"$T/list"

obj=$LIZARD_BUILD/obj
flags=-O1
[ "${LIZARD_SANITIZE:-}" != 1 ] || flags="-O1 -fsanitize=address,undefined"
mkdir "$T/bin"
gcc -g $flags -D_GNU_SOURCE -I"$LIZARD_SRC/include" -I"$LIZARD_SRC" -o "$T/bin/lizard" "$LIZARD_SRC/tests/tools/wrong-table.c" \
	-Wl,--whole-archive "$obj/libcmds.a" -Wl,--no-whole-archive -Wl,--start-group "$obj/libreplayer.a" "$obj/libsysfake.a" "$obj/librestorer.a" "$obj/libtracer.a" \
	"$obj/libcommon.a" -Wl,--end-group -lelf -ldw -lZydis -lz -lzstd -llz4 -ldeflate -lxxhash -lnettle -ljansson -larchive -lm -lpthread 2>"$T/cc.log"
ok $? "a recorder with a wrong table" || { diag "$(cat "$T/cc.log")"; done_testing; }
record getrandom "$T/bin/lizard trace"
is "$why" "" "with the table as it is it records well"

# wrong NAME OUTPUT: without that output, the test of NAME must fail.
wrong() {
	LIZARD_WRONG_TABLE=$(awk -v n="$1" '$1 == n { print $2 }' "$T/list"):$2
	export LIZARD_WRONG_TABLE
	record "$1" "$T/bin/lizard trace"
	unset LIZARD_WRONG_TABLE
	rm -rf "$T/recordings/$1"
	if [ -z "$why" ] && { [ $status = 77 ] || grep -q "^output $2 is not seen" "$T/out"; }; then
		skip "$1 without output $2" "not seen on this machine"
		return
	fi
	[ -n "$why" ]
	ok $? "$1 without output $2 fails" || diag "$(cat "$T/out")"
}

if [ -n "$LIZARD_LONG" ]; then
	while read -r name nr class outs; do
		i=0
		while [ $i -lt "$outs" ]; do
			wrong "$name" $i
			i=$((i + 1))
		done
	done <"$T/list"
else
	for what in pipe.0 getrandom.0 listmount.0 rt_sigpending.0 poll.0 get_mempolicy.1 select.0 recvfrom.1 readv.0 recvmsg.0 recvmmsg.0 ioctl.0; do
		wrong "${what%.*}" "${what#*.}"
	done
fi
done_testing
