#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# debian/ fits the sources. `make check-deb` builds the packages and tests them.
. "$(dirname "$0")/../lib/tap.sh"
cd "$LIZARD_SRC" || exit 1

changelog=$(sed -n '1s/^lizard (\(.*\)-[^-]*).*/\1/p' debian/changelog)
is "$changelog" "$(sed -n 's/^VERSION := //p' Makefile)" "the version of debian/changelog is that of Lizard"

# The GCCs of the committed files are those of one release; others are written by make deb.
listed=$(sed -n 's/^Package: lizard-gcc-//p' debian/control | tr '\n' ' ')
scripts/debian-control --to "$T/again" $listed
for file in control tests/control; do
	cmp "debian/$file" "$T/again/$file" >"$T/log" 2>&1
	ok $? "debian/$file is what scripts/debian-control writes for $listed" || diag "$(cat "$T/log")"
done
supported=" $(sed -n 's/^versions=${\*:-\(.*\)}$/\1/p' scripts/gccs) "
for version in $listed; do
	like "$supported" " $version " "scripts/gccs knows GCC $version"
done
scripts/debian-control --to "$T/here"
is "$(sed -n 's/^Package: lizard-gcc-//p' "$T/here/control" | sort)" "$(scripts/gccs | cut -d: -f1 | sort)" "here it would be the GCCs with plugin headers"
is "$(sed -n 's/^Package: lizard-gcc-//p' "$T/here/control" | head -n 1)" "$(gcc -dumpversion | cut -d. -f1)" "the system's first"

# What scripts/setup installs for a build is what a package build asks for.
words() { # VARIABLE
	sed -n "/^$1=\"/,/\"\$/{s/^$1=//; s/\"//g; p}" scripts/setup | tr ' ' '\n' | grep -- '-dev$' | grep -v '^libc6-dev$' | sort
}
sed -n '/^Build-Depends/,/^[A-Z].*:$/p' debian/control | grep -v nocheck | sed -n 's/^ \(lib[^ ,]*-dev\|zlib[^ ,]*-dev\|nettle-dev\|python3-dev\)[ ,].*/\1/p' | sort >"$T/asked"
is "$(cat "$T/asked")" "$( (words BUILD_NEEDS; words GDB_NEEDS) | sort)" "Build-Depends has the libraries that scripts/setup installs"

# Each installed file is in one package.
make --no-print-directory install BUILD="$LIZARD_BUILD" PREFIX=/usr DESTDIR="$T/dest" >"$T/log" 2>&1
ok $? "make install" || diag "$(tail -n 5 "$T/log")"
mkdir -p "$T/dest/usr/lib/lizard/gdb/bin"
: >"$T/dest/usr/lib/lizard/gdb/bin/gdb"
files_of() { # PACKAGE PATTERNS
	while read -r pattern _; do
		found=$(cd "$T/dest" && find $pattern ! -type d 2>/dev/null)
		if [ -n "$found" ]; then
			printf '%s\n' "$found" | sed "s/^/$1 /"
		else
			echo "$1: $pattern" >>"$T/in-vain"
		fi
	done
}
: >"$T/in-vain"
{
	for package in lizard lizard-gdb; do
		files_of $package <debian/$package.install
	done
	for gcc in "$LIZARD_BUILD"/lib/lizard/gcc-*/lizard_plugin.so; do
		gcc=$(basename "$(dirname "$gcc")")
		sed "s/@N@/${gcc#gcc-}/g" debian/plugin.install.in | files_of "lizard-$gcc"
	done
} >"$T/owned"
is "$(cut -d' ' -f2 "$T/owned" | sort)" "$(cd "$T/dest" && find usr ! -type d | sort)" "each file that make install installs is in one package"
is "$(cat "$T/in-vain")" "" "no package asks for what is not installed"
like "$(cat "$T/owned")" '^lizard-gcc-[0-9]* usr/bin/lizard-g\+\+-' "drivers are beside their plugin"

# dpkg-parsechangelog and dpkg-source have the last word on the rest.
dpkg-parsechangelog >"$T/log" 2>&1
ok $? "debian/changelog can be read" || diag "$(cat "$T/log")"
is "$(find debian/rules debian/tests/record-and-walk debian/tests/patched-gdb ! -perm -u+x)" "" "scripts are executable"
for script in debian/tests/record-and-walk debian/tests/patched-gdb; do
	sh -n "$script"
	ok $? "$script is a shell script"
done
done_testing
