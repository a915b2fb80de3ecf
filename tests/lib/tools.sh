# SPDX-License-Identifier: GPL-3.0-or-later
# Test tools: C programs of tests/tools, linked with Lizard's archives. Sourced after tap.sh.
#
#   tool NAME [FLAGS]   builds tests/tools/NAME.c, prints the program's path

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
