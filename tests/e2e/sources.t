#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The source files that a recording keeps: which, shared with others, and shown when those here have changed.
. "$(dirname "$0")/../lib/tap.sh"
umask 022

mkdir -p "$T/proj/src" "$T/other"
cat >"$T/proj/src/main.c" <<'END'
#include <stdio.h>
#include "twice.h"
#include "../private.h"
#include "../../other/outside.h"
int main(void)
{
	int sum = 1; /* as recorded */
	printf("%d\n", twice(sum) + hidden() + outside());
	return 0;
}
END
echo 'static int twice(int n) { return 2 * n; /* doubled */ }' >"$T/proj/src/twice.h"
echo 'static int hidden(void) { return 1; }' >"$T/proj/private.h" && chmod 640 "$T/proj/private.h"
echo 'static int outside(void) { return 1; /* outside */ }' >"$T/other/outside.h"
build() { (cd "$T/proj" && lizard-cc -g -O0 src/main.c -o main); }
kept() { zstd -dc "$LIZARD_TRACE_DIR/$1/sources.tar.zst" | tar -tf - | sed -n "s|^sources$T/||p" | tr '\n' ' '; }
build
for i in 1 2; do
	lizard-trace -q "$T/proj/main" >"$T/out"
done
is "$(kept main-1)" "proj/src/main.c proj/src/twice.h " "kept: sources below the directory of the compilation that others may read"
is "$(stat -c '%h %a' "$LIZARD_TRACE_DIR/main-2/sources.tar.zst")" "2 600" "two recordings share them"
lizard-trace -q --sources=no "$T/proj/main" >"$T/out"
is "$? $(ls "$LIZARD_TRACE_DIR/main-3" | grep -c sources)" "0 0" "--sources=no keeps none"
is "$(for i in 1 3; do lizard info main-$i | grep -c '^sources .*, packed'; done | tr '\n' ' ')" "1 0 " "info tells"
lizard-trace --sources=some "$T/proj/main" >"$T/out" 2>&1
is "$? $(grep -c 'sources is yes or no' "$T/out")" "125 1" "it is yes or no"

shown() { # [OPTIONS] RECORDING: what GDB shows, in $T/shown
	timeout 60 lizard-gdb -nx -batch -ex 'list 7,7' -ex 'list twice' -ex 'list outside' "$@" >"$T/shown" 2>"$T/err"
}
fronts=--stock
[ ! -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || fronts="--stock --patched"
shown main-1
is "$(grep -c 'as recorded\|doubled' "$T/shown") $(grep -c 'recording keeps' "$T/err") $(ls "$LIZARD_TRACE_DIR/main-1" | grep -c kept)" "3 0 0" \
	"nothing has changed: the files here are shown" || diag "$(cat "$T/shown" "$T/err")"
sed -i '1i /* new */' "$T/proj/src/main.c"
for front in $fronts; do
	shown $front main-1
	is "$(grep -c 'as recorded\|doubled\|outside \*/' "$T/shown") $(grep -c 'showing those that the recording keeps' "$T/err")" "4 1" \
		"one has changed: those that it keeps are shown, of others the ones here ($front)" || diag "$(cat "$T/shown" "$T/err")"
done
shown main-3
is "$(grep -c 'as recorded' "$T/shown")" 0 "without them the changed ones are shown"
build
for front in $fronts; do
	shown $front main-1
	is "$(grep -c 'as recorded\|doubled' "$T/shown") $(grep -c 'main was rebuilt after it was recorded; using the copy' "$T/err")" "3 1" \
		"rebuilt: the copy and its sources, and it says so ($front)" || diag "$(cat "$T/shown" "$T/err")"
done

# In a pack they are those of the recording.
lizard pack --list -o "$T/main.lizard" main-1 >"$T/list" 2>/dev/null
is "$? $(grep -c "^+ $T/proj/src/main.c$" "$T/list")" "0 1" "packed, and listed"
lizard pack --no-sources -o "$T/none.lizard" main-1 2>/dev/null
is "$? $(tar --zstd -tf "$T/none.lizard" | grep -c sources)" "0 0" "--no-sources leaves them out"
mv "$T/proj" "$T/gone"
shown "$T/main.lizard"
is "$(grep -c 'as recorded\|doubled' "$T/shown")" 3 "shown on another machine" || diag "$(cat "$T/shown" "$T/err")"
shown main-2
is "$(grep -c 'as recorded\|doubled' "$T/shown")" 3 "of a recording whose program and sources are gone" || diag "$(cat "$T/shown" "$T/err")"
lizard rm main-2
is "$? $(ls -d "$LIZARD_TRACE_DIR/main-2" 2>/dev/null)" "0 " "rm removes them, unpacked ones too"

# A stranger's recording.
hostile() { # WHAT NAME SIZE: an archive with a file of that name and size
	rm -rf "$LIZARD_TRACE_DIR/main-1/sources"*
	python3 - "$T/evil.tar" "$2" "$3" <<'END'
import io, sys, tarfile
out, name, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
with tarfile.open(out, "w") as t:
    roots = "/\n/etc/..\n/tmp x\n\x1b]0;x\n/tmp:/etc\n$HOME\n".encode()
    entry = tarfile.TarInfo("roots")
    entry.size = len(roots)
    t.addfile(entry, io.BytesIO(roots))
    entry = tarfile.TarInfo(name)
    entry.size = size
    t.addfile(entry, open("/dev/zero", "rb"))
END
	zstd -qf "$T/evil.tar" -o "$LIZARD_TRACE_DIR/main-1/sources.tar.zst" && rm "$T/evil.tar"
	timeout 60 lizard-gdb -nx -batch -ex 'show substitute-path' -ex 'echo opened\n' main-1 >"$T/shown" 2>&1
	is "$? $(grep -c '^opened' "$T/shown") $(grep -cE "$4" "$T/shown") $(find "$T" -name 'evil*' | wc -l)" "0 1 1 0" "$1" || diag "$(cat "$T/shown")"
}
hostile "a name that leads out" sources/../../evil 10 'not shown: .*cannot create its file sources/../../evil'
hostile "a name that is none of a source" files/evil 10 'not shown: .*no source file'
hostile "more than is ever kept" sources/a 300000000 'not shown: .*it is larger than 256 MiB'
hostile "directories that steer GDB" sources/a 10 '^List of all source path substitution rules:$'
is "$(grep -c -e '->' "$T/shown")" 0 "... are not used"
# What is unpacked already may have been put there.
mkdir -p "$T/elsewhere/sources/tmp"
echo /tmp >"$T/elsewhere/roots"
rm -rf "$LIZARD_TRACE_DIR/main-1/sources.kept"* && ln -s "$T/elsewhere" "$LIZARD_TRACE_DIR/main-1/sources.kept"
timeout 60 lizard-gdb -nx -batch -ex 'show substitute-path' -ex 'echo opened\n' main-1 >"$T/shown" 2>&1
is "$? $(grep -c '^opened' "$T/shown") $(grep -c -e '->' "$T/shown") $(find "$T/elsewhere" | wc -l)" "0 1 0 4" "a link in its place" || diag "$(cat "$T/shown")"
rm "$LIZARD_TRACE_DIR/main-1/sources.kept" && mkdir "$LIZARD_TRACE_DIR/main-1/sources.kept" && mkfifo "$LIZARD_TRACE_DIR/main-1/sources.kept/roots"
timeout 60 lizard-gdb -nx -batch -ex 'echo opened\n' main-1 >"$T/shown" 2>&1
is "$? $(grep -c '^opened' "$T/shown")" "0 1" "a FIFO for the list of directories" || diag "$(cat "$T/shown")"
rm -rf "$LIZARD_TRACE_DIR/main-1/sources"* && mkfifo "$LIZARD_TRACE_DIR/main-1/sources.tar.zst"
timeout 60 lizard-gdb -nx -batch -ex 'echo opened\n' main-1 >"$T/shown" 2>&1
is "$? $(grep -c '^opened' "$T/shown")" "0 1" "a FIFO in its place" || diag "$(cat "$T/shown")"
timeout 60 lizard report "$LIZARD_TRACE_DIR/main-1" >"$T/shown" 2>"$T/err"
is $? 0 "a report does not wait for somebody to write there" || diag "$(cat "$T/err")"
done_testing
