#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A recording in one file: packed here, opened where neither program nor sources exist; files that others made.
. "$(dirname "$0")/../lib/tap.sh"
umask 022 # others may read the sources

mkdir -p "$T/here/src"
cat >"$T/here/src/crash.c" <<'EOF'
#include <stdio.h>
static int *target;
static void fall(int n)
{
	puts("about to fall");
	*target = n; /* here it falls */
}
int main(void)
{
	fall(7);
	return 0;
}
EOF
touch -d '2001-02-03 04:05:06' "$T/here/src/crash.c"
(cd "$T/here" && lizard-cc -g -O0 src/crash.c -o crash)
touch -d '2001-02-03 05:00:00' "$T/here/crash"
lizard-trace -q --sources=no -o "$T/here/rec" "$T/here/crash" >/dev/null
is $? 139 "recorded"
touch "$T/here/rec/meta.tmp" "$T/here/rec/notes" # what a killed tracer leaves, and the user
(cd "$T" && lizard pack "$T/here/rec") 2>"$T/err"
is "$? $(ls "$T"/*.lizard)" "0 $T/rec.lizard" "packed, named after the recording"
like "$(cat "$T/err")" "packed rec.lizard: .*, with [0-9]+ source files" "it says what it packed"
lizard pack -o "$T/rec.lizard" "$T/here/rec" 2>"$T/err"
is "$? $(grep -c 'File exists' "$T/err")" "1 1" "an existing file is not written over"
lizard pack --no-sources -o "$T/bare.lizard" "$T/here/rec" 2>/dev/null
is "$? $(tar --zstd -tf "$T/bare.lizard" | grep -c ^sources/)" "0 0" "--no-sources leaves them out"
is "$(tar --zstd -tf "$T/bare.lizard" | grep -c 'meta.tmp\|notes')" 0 "nor is anything in it that is no part of the recording"
like "$(tar --zstd -tf "$T/rec.lizard")" "sources$T/here/src/crash.c" "otherwise they are in it"

# Several processes.
cat >"$T/here/src/family.c" <<'EOF'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int born(int n)
{
	return printf("born %d\n", n); /* the child's line */
}
int main(void)
{
	int status = 0;
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			return born(i) == 0;
	while (wait(&status) > 0)
		;
	return status;
}
EOF
(cd "$T/here" && lizard-cc -g -O0 src/family.c -o family)
lizard-trace -q --follow all -o "$T/here/tree" "$T/here/family" >"$T/out"
is "$? $(sort "$T/out" | tr '\n' ' ')" "0 born 0 born 1 " "three processes recorded"
other=$(ls "$T/here/tree/processes" | grep '^[0-9]' | head -n 1)
flock "$T/here/tree/processes/$other" lizard pack -o "$T/tree.lizard" "$T/here/tree" >"$T/out" 2>&1
is "$? $(grep -c "processes/$other is being written" "$T/out") $(ls "$T/tree.lizard" 2>/dev/null)" "1 1 " \
	"a process that is being written: refused"
lizard pack -o "$T/tree.lizard" "$T/here/tree" 2>"$T/err"
like "$? $(cat "$T/err")" "^0 .*: packed .*, 3 processes, with [1-9][0-9]* source files" "three processes packed"
copies() { find "$1" -path '*/files/*' -printf '%i\n' | sort -u | wc -l; }
before=$(copies "$T/here/tree")

# Debug information that lies apart: by build-id and by name.
mkdir -p "$T/here/.debug"
echo 'int apart; int add(int n) { return apart += n; /* in the library */ }' >"$T/here/src/lib.c"
echo 'int add(int); int main(void) { return add(1) - 1; /* in the program */ }' >"$T/here/src/split.c"
(cd "$T/here" && lizard-cc -g -O0 -fPIC -shared src/lib.c -o libapart.so && lizard-cc -g -O0 src/split.c -o split -L. -lapart -Wl,-rpath,"$T/here")
for f in libapart.so split; do
	(cd "$T/here" && objcopy --only-keep-debug $f .debug/$f.debug && objcopy --strip-debug $f && objcopy --add-gnu-debuglink=.debug/$f.debug $f)
done
lizard-trace -q -o "$T/here/apart" "$T/here/split"
debug_of() { # PACK: which of the two have their debug information in it (the C library may have it, too)
	for f in split libapart.so; do
		id=$(readelf -n "$T/here/$f" | sed -n 's/.*Build ID: //p')
		tar --zstd -tf "$1" | grep -q "^debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-)\.debug$" && printf '%s ' $f
	done
}
lizard pack -o "$T/apart.lizard" "$T/here/apart" 2>"$T/err"
is "$? $(debug_of "$T/apart.lizard")" "0 split libapart.so " "debug information of program and library goes in" || diag "$(cat "$T/err")"
is "$(zstd -dc "$T/here/apart/sources.tar.zst" | tar -tf - | grep -c 'src/lib\.c$\|src/split\.c$')" 2 "the recording keeps the sources that such files name"
like "$(cat "$T/err")" " and [2-9] files with debug information" "it says so"
lizard pack --no-debug-files -o "$T/no-debug.lizard" "$T/here/apart" 2>"$T/err"
is "$? $(tar --zstd -tf "$T/no-debug.lizard" | grep -c '^debug/')" "0 0" "--no-debug-files leaves it out"
chmod 640 "$T/here/.debug/split.debug"
lizard pack -o "$T/private.lizard" "$T/here/apart" 2>"$T/err"
is "$? $(debug_of "$T/private.lizard")" "0 libapart.so " "nor is any that others may not read"
chmod 644 "$T/here/.debug/split.debug"
cp "$T/here/split" "$T/here/split.was" && echo >>"$T/here/split"
lizard pack -o "$T/foreign.lizard" "$T/here/apart" 2>"$T/err"
is "$? $(debug_of "$T/foreign.lizard")" "0 libapart.so " "nor of a program that is not here as it was recorded"
mv "$T/here/split.was" "$T/here/split"
mkdir "$T/here/obj"
printf 'int main(void)\n{\n\tint alpha = 5;\n\treturn alpha - 5;\n}\n' >"$T/here/src/dwo.c"
(cd "$T/here" && lizard-cc -g -O0 -gsplit-dwarf -c src/dwo.c -o obj/dwo.o && lizard-cc -g obj/dwo.o -o dwo)
lizard-trace -q -o "$T/here/split-units" "$T/here/dwo"
lizard pack --no-sources -o "$T/units.lizard" "$T/here/split-units" 2>"$T/err"
is "$? $(tar --zstd -tf "$T/units.lizard" | grep '\.dwo$')" "0 debug/obj/dwo.dwo" "split debug information goes in under its name"
echo text >"$T/here/obj/dwo.dwo"
lizard pack -o "$T/no-units.lizard" "$T/here/split-units" 2>"$T/err"
is "$? $(tar --zstd -tf "$T/no-units.lizard" | grep -c '\.dwo$')" "0 0" "what is none does not"
# A stranger's has scripts in it.
printf '\004evil\nopen("%s", "w")\n\0' "$T/evil" >"$T/scripts"
objcopy --add-section .debug_gdb_scripts="$T/scripts" "$T/here/.debug/split.debug" "$T/here/.debug/evil.debug" 2>/dev/null
cp -p "$T/here/.debug/split.debug" "$T/split.was" && cp "$T/here/.debug/evil.debug" "$T/here/.debug/split.debug"
lizard pack -o "$T/script.lizard" "$T/here/apart" 2>"$T/err"
mv "$T/split.was" "$T/here/.debug/split.debug"

# Another machine: no program, no sources, no recordings.
mv "$T/here" "$T/gone"
LIZARD_TRACE_DIR=$T/there
export LIZARD_TRACE_DIR
timeout 60 lizard-gdb -e "$T/rec.lizard" -nx -batch -ex bt -ex prev -ex prev >"$T/out" 2>&1
like "$(cat "$T/out")" "here it falls" "the crash is shown with its source line"
like "$(cat "$T/out")" "#1 .* main .* at .*crash.c:10" "and with its callers"
like "$(cat "$T/out")" "about to fall" "prev goes back from it"
is "$(grep -c 'more recent than' "$T/out")" 0 "no source is taken for a later one"
is "$(ls "$T/there" | grep -c '^rec\.[0-9a-f]*$')" 1 "it is one of the recordings now"
program=$(lizard info "$T/rec.lizard" | sed -n 's/^program *//p')
mkdir -p "$(dirname "$program")" && echo 'int main(void) { return 0; }' | gcc -x c - -o "$program"
for front in stock patched; do
	[ $front = stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || continue
	timeout 60 lizard-gdb --$front -e "$T/rec.lizard" -nx -batch -ex bt >"$T/out" 2>&1
	like "$(cat "$T/out")" "$program is another build; using the copy" "$front: another build of it is here: said"
	like "$(cat "$T/out")" "#1 .* main .* at .*crash.c:10" "$front: and not used" || diag "$(cat "$T/out")"
done
rm -r "$T/here"
timeout 60 lizard verify "$T/rec.lizard" >"$T/out" 2>&1
is $? 0 "verify takes the file, too" || diag "$(cat "$T/out")"
is "$(ls "$T/there" | wc -l)" 1 "unpacked once"
like "$(lizard info "$T/rec.lizard")" "ended .*signal 11" "info takes it"
is "$(lizard unpack "$T/rec.lizard" "$T/new")" "$T/new" "unpack names the directory"
cmp -s "$T/new/events" "$T/gone/rec/events"
ok $? "what comes out is what went in"
copy_times() { (cd "$1" && find files -type f -printf '%P %T@\n' | sort); }
is "$(copy_times "$T/new")" "$(copy_times "$T/gone/rec" | sed 's/\.[0-9]*$/.0000000000/')" "copies have their times again"
is "$(stat -c %y "$T/new/sources$T/here/src/crash.c" | cut -c 1-19)" "2001-02-03 04:05:06" "so have sources"
touch -d '2038-01-01' "$T/new/meta"
(cd "$T/new" && find . -type f -printf '%P\n' | tar --zstd -cf "$T/late.lizard" -T -)
lizard unpack "$T/late.lizard" "$T/late" >/dev/null
like "$(stat -c %y "$T/late/meta")" "^202" "meta has the time of unpacking, which prune goes by"
lizard rm "$(ls "$T/there")"
is "$? $(ls "$T/there")" "0 " "rm removes it with its sources"

timeout 60 lizard verify -a "$T/tree.lizard" >"$T/out" 2>&1
is "$? $(grep -c ': clean: ' "$T/out")" "0 3" "verify -a takes all processes of a file" || diag "$(cat "$T/out")"
tree=$(lizard unpack "$T/tree.lizard")
is "$(copies "$tree")" "$before" "what processes share is there once"
is "$(lizard ps "$T/tree.lizard" | grep -c 'exit 0 .*family')" 3 "ps takes the file"
timeout 60 lizard-gdb -p "$other" "$T/tree.lizard" -nx -batch -ex 'break born' -ex c -ex 'print n' -ex 'list 6,6' >"$T/out" 2>&1
like "$(cat "$T/out")" "^.1 = [01]" "-p opens one of its processes"
like "$(cat "$T/out")" "the child's line" "with its sources"
timeout 60 lizard-gdb -e "$T/tree.lizard" -nx -batch -ex 'info lizard' >"$T/out" 2>&1
like "$(cat "$T/out")" "^recording +$tree\$" "without -p it is the first one" || diag "$(cat "$T/out")"
lizard rm "$(basename "$tree")"
is "$? $(ls "$T/there")" "0 " "rm removes all of it"

for front in stock patched; do
	[ $front = stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || continue
	timeout 60 lizard-gdb --$front "$T/apart.lizard" -nx -batch -ex 'break add' -ex c -ex 'print n' -ex bt >"$T/out" 2>&1
	like "$(cat "$T/out")" "^.1 = 1" "$front: separate debug information of a library" || diag "$(cat "$T/out")"
	like "$(cat "$T/out")" "^#1 .* main .* at src/split.c:1" "$front: and of the program"
	timeout 60 lizard-gdb --$front "$T/units.lizard" -nx -batch -ex 'next' -ex 'print alpha' >"$T/out" 2>&1
	like "$(cat "$T/out")" "^.1 = 5" "$front: split debug information" || diag "$(cat "$T/out")"
	timeout 60 lizard-gdb --$front "$T/script.lizard" -nx -batch -ex 'add-auto-load-safe-path /nowhere' -ex 'info line main' >"$T/out" 2>&1
	is "$(grep -c '^warning: .*auto-loading has been declined' "$T/out") $(ls "$T/evil" 2>/dev/null)" "1 " "$front: scripts in it are not run" || diag "$(cat "$T/out")"
done
lizard rm 'apart.*' 'script.*' 'units.*'

# Not whole, or not ours.
refused() { # FILE PATTERN NAME
	timeout 20 lizard-gdb "$1" -nx -batch >"$T/out" 2>&1
	is "$? $(grep -cE "$2" "$T/out") $(find "$T/there" -name 'evil*' | wc -l)" "1 1 0" "$3" || diag "$(cat "$T/out")"
}
head -c $(($(stat -c %s "$T/rec.lizard") / 2)) "$T/rec.lizard" >"$T/cut.lizard"
refused "$T/cut.lizard" "cut.lizard: .*damaged" "a cut file is refused"
is "$(ls "$T/there")" "" "and leaves nothing behind"
mkdir "$T/bad" && cp "$T/new/meta" "$T/bad/" && echo x >"$T/bad/evil" && mkdir "$T/bad/sources" && ln -s / "$T/bad/sources/evil"
tar --zstd -C "$T/bad" -cf "$T/a.lizard" meta evil
refused "$T/a.lizard" "holds .evil., which is no part" "a file of another name is refused"
tar --zstd -P -C "$T/bad" --transform 's|evil|sources/../../evil|' -cf "$T/b.lizard" evil
refused "$T/b.lizard" "cannot create its file sources/\.\./\.\./evil" "a name that leads out is refused"
tar --zstd -C "$T/bad" -cf "$T/c.lizard" meta sources/evil
refused "$T/c.lizard" "holds .sources/evil., which is no part" "a link is refused"
tar --zstd -P -C "$T/bad" --transform 's|evil|/tmp/evil|' -cf "$T/d.lizard" evil
refused "$T/d.lizard" "holds ./tmp/evil., which is no part" "an absolute name is refused"
mkdir -p "$T/bad/files" "$T/bad/processes/7/files" && echo x >"$T/bad/files/evil"
refused_link() { # NAME TARGET WHAT: a file with a link NAME to TARGET, both as they stand there
	python3 - "$T/bad/meta" "$T/bad/files/evil" "$1" "$2" "$T/link.tar" <<'EOF'
import sys, tarfile
meta, file, name, target, out = sys.argv[1:]
with tarfile.open(out, "w") as t:
    t.add(meta, "meta")
    t.add(file, "files/evil")
    link = tarfile.TarInfo(name)
    link.type, link.linkname = tarfile.LNKTYPE, target
    t.addfile(link)
EOF
	zstd -qf "$T/link.tar" -o "$T/link.lizard"
	refused "$T/link.lizard" "$3" "a link $1 to $2 is refused"
}
no_part="which is no part"
refused_link processes/7/files/a /etc/passwd "$no_part"
refused_link processes/7/files/a ../../etc/passwd "$no_part"
refused_link processes/7/files/a processes/../files/evil "cannot create its file"
refused_link processes/../../evil files/evil "$no_part"
refused_link processes/../files/a files/evil "cannot create its file"
refused_link processes/7/processes/8/files/a files/evil "$no_part"
refused_link processes//files/a files/evil "cannot create its file"
refused_link meta files/evil "$no_part"
refused_link files/a meta "$no_part"
refused_link files/a files/b "cannot create its file"
refused_link files/evil files/evil "cannot create its file"
head -c 4000 /dev/urandom | zstd -q >"$T/e.lizard"
refused "$T/e.lizard" "e.lizard" "noise is refused"
done_testing
