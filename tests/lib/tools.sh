# SPDX-License-Identifier: GPL-3.0-or-later
# Test tools: C programs of tests/tools, linked with Lizard's archives. Sourced after tap.sh.
#
#   tool NAME [FLAGS]   builds tests/tools/NAME.c, prints the program's path
#   replay_echo         builds the one that replays a recording and prints what its program prints; its path is $echo
#   replays NAME RECORDING   checks that this prints what is in $T/out

tool() {
	flags=-O1
	[ "${LIZARD_SANITIZE:-}" != 1 ] || flags="-fsanitize=address,undefined"
	obj=$LIZARD_BUILD/obj name=$1
	shift
	gcc -g $flags "$@" -D_GNU_SOURCE -I"$LIZARD_SRC/include" -I"$LIZARD_SRC" -o "$T/$name" \
		"$LIZARD_SRC/tests/tools/$name.c" -Wl,--start-group "$obj/libreplayer.a" "$obj/libsysfake.a" \
		"$obj/librestorer.a" "$obj/libtracer.a" "$obj/libcommon.a" -Wl,--end-group \
		-lelf -ldw -lZydis -lz -lzstd -llz4 -ldeflate -lxxhash -lnettle -lpthread 2>"$T/$name.log" && echo "$T/$name"
}

replay_echo() {
	echo=$(tool replay-echo)
	ok $? "replay-echo builds" || { diag "$(cat "$T/replay-echo.log")"; done_testing; }
}

replays() {
	timeout -k 5 120 "$echo" "$2" >"$T/replayed" 2>"$T/verify"
	is "$? $(sha256sum <"$T/replayed")" "0 $(sha256sum <"$T/out")" "$1: it replays, and prints the same" ||
		{ diag "$(tail -n 3 "$T/verify")"; replay_hint "$2"; }
}
