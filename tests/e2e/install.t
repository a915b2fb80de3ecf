#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `make install` with PREFIX and DESTDIR: everything arrives, nothing points back into the build.
. "$(dirname "$0")/../lib/tap.sh"

dest="$T/the dest's"
make_in() { # TARGET [VARIABLE=VALUE...]
	make -C "$LIZARD_SRC" --no-print-directory BUILD="$LIZARD_BUILD" PREFIX=/opt/lz "$@" >"$T/log" 2>&1
}
make_in install DESTDIR="$dest"
ok $? "make install succeeds, with blanks in DESTDIR" || diag "$(tail -5 "$T/log")"
make_in all --question
ok $? "... and make has nothing left to do" || { make_in all --dry-run; diag "$(cat "$T/log")"; }
prefix=$T/dest
mv "$dest/opt/lz" "$prefix"
is "$(find "$dest" ! -type d)" "" "it installs nothing elsewhere"

for tool in lizard lizard-trace lizard-gdb lizard-cc lizard-c++; do
	[ -x "$prefix/bin/$tool" ]
	ok $? "bin/$tool is there and executable"
done
gcc=gcc-$(gcc -dumpversion | cut -d. -f1)
[ -e "$prefix/lib/lizard/$gcc/lizard_plugin.so" ] && [ -x "$prefix/bin/lizard-$gcc" ]
ok $? "the plugin for the system's GCC is there, and a driver of its name"
is "$(find "$prefix" -xtype l)" "" "no link leads nowhere"
is "$(find "$prefix" -lname '/*')" "" "no link is absolute"
is "$(find "$prefix" ! -type l ! -perm -o+r; find "$prefix" -type d ! -perm -o+x)" "" "all may read all"
for page in "$LIZARD_SRC"/docs/man/*.1; do
	[ -e "$prefix/share/man/man1/$(basename "$page")" ]
	ok $? "man page $(basename "$page")"
done
for file in bash-completion/completions/lizard bash-completion/completions/lizard-trace zsh/site-functions/_lizard \
	fish/vendor_completions.d/lizard.fish fish/vendor_completions.d/lizard-gdb.fish; do
	grep -q 'scripts/make-completion' "$prefix/share/$file"
	ok $? "completion: $file"
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

# Built with umask 077.
cp -a "$LIZARD_BUILD/bin" "$T/built"
cp -a "$LIZARD_BUILD/lib/lizard/lizard_gdb" "$T/built"
rm -rf "$T/built/lizard_gdb/__pycache__"
chmod -R go-rwx "$T/built"
(umask 077; "$LIZARD_SRC/scripts/install-tree" "$T/built" "$T/there")
is "$? $(find "$T/there" -type f -printf '%m ' -o -type d -printf '%m ' | tr ' ' '\n' | sort -u | tr '\n' ' ')" "0 644 755 " "what only its owner may read is installed for all"
is "$(cd "$T/built" && find . | sort)" "$(cd "$T/there" && find . | sort)" "all of it"

# Gone again, but for what others have there.
mv "$prefix" "$dest/opt/lz"
echo mine >"$dest/opt/lz/bin/mine"
make_in uninstall DESTDIR="$dest"
is "$? $(cd "$dest" && find . ! -type d)" "0 ./opt/lz/bin/mine" "make uninstall removes what was installed"
make_in help
like "$? $(cat "$T/log")" "make uninstall " "make help names the targets"

# The same bytes, wherever it is built.
for folder in one another; do
	mkdir "$T/$folder"
	(cd "$LIZARD_SRC" && cp -r --parents Makefile */build.mk common/base/error.c common/base/*.h scripts/gccs cmds/base/options.[ch] include gcc-plugin/lizard-cc.c gcc-plugin/cmdline.[ch] gcc-plugin/compiler.[ch] gcc-plugin/runtime.[ch] "$T/$folder")
done
for folder in one another; do
	make -C "$T/$folder" build/obj/common/base/error.o build/obj/cmds/base/options.o build/bin/lizard-cc build/lib/lizard/lizard-rt.o \
		build/lib/lizard/liblizard-rt.so >"$T/log" 2>&1 || diag "$(tail -n 5 "$T/log")"
done
is "$(cd "$T/one/build" && find . -name '*.d' -prune -o -type f -exec cmp {} "$T/another/build/{}" \; 2>&1; cd "$T/one/build" && find . -name '*.o' | wc -l)" 6 "builds in two folders are the same"

if [ -d "$LIZARD_SRC/.git" ] && command -v git >/dev/null; then
	make_in dist BUILD="$T/dist"
	tar -xzf "$T/dist/"lizard-*.tar.gz -C "$T/dist" 2>"$T/log"
	is "$? $(cd "$T"/dist/lizard-*/ && find . -type f | wc -l)" "0 $(git -C "$LIZARD_SRC" ls-tree -r HEAD | wc -l)" "make dist: a file of all sources"
fi
done_testing
