#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `make install` with PREFIX and DESTDIR: everything arrives, nothing points back into the build.
. "$(dirname "$0")/../lib/tap.sh"

make -C "$LIZARD_SRC" --no-print-directory BUILD="$LIZARD_BUILD" DESTDIR="$T/dest" PREFIX=/opt/lz install >"$T/log" 2>&1
ok $? "make install succeeds" || diag "$(tail -5 "$T/log")"
prefix=$T/dest/opt/lz

for tool in lizard lizard-trace lizard-gdb lizard-cc lizard-c++; do
	[ -x "$prefix/bin/$tool" ]
	ok $? "bin/$tool is there and executable"
done
[ -e "$prefix/lib/lizard/lizard_plugin.so" ]
ok $? "the plugin is there"
is "$(find "$prefix" -xtype l)" "" "no link leads nowhere"
is "$(find "$prefix" -lname '/*')" "" "no link is absolute"
for page in "$LIZARD_SRC"/docs/man/*.1; do
	[ -e "$prefix/share/man/man1/$(basename "$page")" ]
	ok $? "man page $(basename "$page")"
done

cat >"$T/hello.c" <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		puts("hello");
	return 3;
}
END
(
	PATH=$prefix/bin:/usr/bin:/bin
	cd "$T" && lizard-cc -g hello.c -o hello
) >"$T/log" 2>&1
ok $? "the installed compiler works" || diag "$(tail -5 "$T/log")"
is "$("$T/hello" one; echo $?)" "$(printf 'hello\nhello\n3')" "and its program"
is "$("$prefix/bin/lizard-trace" -q -o "$T/recordings/hello" "$T/hello" one 2>&1; echo $?)" \
	"$(printf 'hello\nhello\n3')" "the installed tracer records it"
"$prefix/bin/lizard" verify "$T/recordings/hello" >"$T/log" 2>&1
ok $? "and the installed lizard verifies it" || diag "$(tail -5 "$T/log")"
env -u PYTHONDONTWRITEBYTECODE "$prefix/bin/lizard-gdb" -nx -batch -ex fn -ex prev -ex when "$T/recordings/hello" >"$T/log" 2>&1
like "$(cat "$T/log")" '^position ' "and the installed lizard-gdb opens it" || diag "$(tail -5 "$T/log")"
find "$T/dest" -name '*.py[co]' -o -name __pycache__ >"$T/log"
[ ! -s "$T/log" ]
ok $? "and leaves nothing in the installation" || diag "$(cat "$T/log")"
done_testing
