#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The two walls around a replayed process, each by itself, against a recording whose events write machine code over the replay
# stub: the gate refuses the write; the filter of system calls kills the process when that code makes a call. Without
# both the code runs: so the recordings do what they are for. Each wall is switched off in a build of its own.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

progs=$LIZARD_SRC/tests/progs/walls
redirect=$(tool redirect-write)
ok $? "the tool builds" || { diag "$(cat "$T/redirect-write.log")"; done_testing; }

# build NAME FLAGS: $T/NAME/bin/lizard, with those flags for the two files that have a wall each
build() {
	name=$1 obj=$LIZARD_BUILD/obj flags=-O1
	[ "${LIZARD_SANITIZE:-}" != 1 ] || flags="-fsanitize=address,undefined"
	shift
	mkdir -p "$T/$name/bin"
	ln -s "$LIZARD_BIN/../lib" "$T/$name/lib"
	gcc -g $flags "$@" -D_GNU_SOURCE -I"$LIZARD_SRC/include" -I"$LIZARD_SRC" -o "$T/$name/bin/lizard" \
		"$LIZARD_SRC/common/process/guard.c" "$LIZARD_SRC/restorer/confine.c" \
		-Wl,--whole-archive "$obj/libcmds.a" -Wl,--no-whole-archive -Wl,--start-group "$obj/libreplayer.a" \
		"$obj/libsysfake.a" "$obj/librestorer.a" "$obj/libtracer.a" "$obj/libcommon.a" -Wl,--end-group \
		-lelf -ldw -lZydis -lz -lzstd -llz4 -ldeflate -lxxhash -lnettle -ljansson -larchive -lm -lpthread 2>"$T/$name.log" &&
		ln -s lizard "$T/$name/bin/lizard-gdb"
}
build gate -DLIZARD_TEST_WITHOUT_FILTER && build filter -DLIZARD_TEST_WITHOUT_GATE &&
	build none -DLIZARD_TEST_WITHOUT_GATE -DLIZARD_TEST_WITHOUT_FILTER && build both
ok $? "Lizard builds with either wall, without both and with both" || { diag "$(cat "$T"/*.log)"; done_testing; }

lizard-cc -g -O0 -no-pie -Wl,--section-start=.low=0x10000000 -o "$T/read" "$progs/read.c" &&
	lizard-trace -q -o "$T/probe.rec" "$T/read" /dev/null
stub=$(printf '0x%x' "$(sed -n 's/^stub-addr //p' "$T/probe.rec/meta")")
[ "$stub" != 0x0 ]
ok $? "the program builds, and its recording tells where the stub is" || done_testing

# The bytes run where the stub's instruction is, which the next injected call begins at.
forge() { # PAYLOAD: $T/PAYLOAD.rec
	gcc -c -o "$T/$1.o" "$progs/$1.S" && ld -Ttext=$stub -e $stub -o "$T/$1.elf" "$T/$1.o" 2>/dev/null &&
		objcopy -O binary -j .text "$T/$1.elf" "$T/$1.bin" &&
		lizard-trace -q -o "$T/$1.rec" "$T/read" "$T/$1.bin" &&
		"$redirect" "$T/$1.rec" $stub "$T/$1.bin" && lizard info --check "$T/$1.rec" >/dev/null
}

# attempt COMMAND...: is there a file afterwards? Waits for what a child may do.
attempt() {
	rm -rf "$T/here" && mkdir "$T/here"
	(cd "$T/here" && timeout 20 "$@" </dev/null >"$T/out" 2>&1)
	[ $payload != vfork ] || sleep 0.3
	[ -e "$T/here/owned" ] && echo owned || echo nothing
}

for payload in creat vfork int80; do
	forge $payload
	ok $? "$payload: a well-formed recording writes over the stub"
	rec=$T/$payload.rec
	name=none
	made=$(attempt "$T/none/bin/lizard" verify "$rec")
	if [ $payload = vfork ]; then
		like "$made $(cat "$T/out")" 'nothing .*started another one in a system call' \
			"$payload: without both walls its child is traced, and does not run"
	else
		is "$made" owned "$payload: without both walls it makes a file"
	fi
	for name in gate filter both; do
		is "$(attempt "$T/$name/bin/lizard" verify "$rec")" nothing "$payload, $name: verify makes none"
		case $name in
		filter) want='system call filter: the recording is damaged or forged' ;;
		*) want="touches the replay stub at $stub: the recording is damaged or forged" ;;
		esac
		like "$(cat "$T/out")" "$want" "$payload, $name: and says why"
		is "$(attempt "$T/$name/bin/lizard-gdb" --stock --kept "$rec" -nx -batch -ex continue -ex reverse-continue)" nothing \
			"$payload, $name: GDB makes none"
		like "$(cat "$T/out")" "$want" "$payload, $name: and says why, too" || diag "$(cat "$T/out")"
	done
	if [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ]; then
		is "$(attempt lizard-gdb --patched --kept "$rec" -nx -batch -ex continue -ex reverse-continue)" nothing "$payload: nor does the patched GDB"
		like "$(cat "$T/out")" 'touches the replay stub' "$payload: and it says why" || diag "$(cat "$T/out")"
	fi
done
done_testing
