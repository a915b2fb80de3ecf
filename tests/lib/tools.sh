# Test tools: C programs of tests/tools, linked with Lizard's archives. Sourced after tap.sh.
#
#   tool NAME   builds tests/tools/NAME.c, prints the program's path

tool() {
	flags=-O1
	[ "${LIZARD_SANITIZE:-}" != 1 ] || flags="-fsanitize=address,undefined"
	obj=$LIZARD_BUILD/obj
	gcc -g $flags -D_GNU_SOURCE -I"$LIZARD_SRC/include" -I"$LIZARD_SRC" -o "$T/$1" \
		"$LIZARD_SRC/tests/tools/$1.c" -Wl,--start-group "$obj/libreplayer.a" "$obj/libsysfake.a" \
		"$obj/librestorer.a" "$obj/libtracer.a" "$obj/libcommon.a" -Wl,--end-group \
		-lelf -ldw -lZydis -lz -lzstd -llz4 -lpthread 2>"$T/$1.log" && echo "$T/$1"
}
