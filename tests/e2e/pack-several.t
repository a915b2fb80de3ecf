#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lizard pack of several recordings: what they have in common is packed once, and each can be opened.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/json.sh"

mkdir "$T/src" "$T/there" && cp "$LIZARD_SRC/tests/progs/report/fails.c" "$T/src"
cd "$T/src" || exit 1
lizard-cc -g -O0 -pthread -o fails fails.c 2>"$T/err"
ok $? "builds" || { diag "$(cat "$T/err")"; done_testing; }
for status in 1 2; do
	lizard-trace -q ./fails exit $status
done
mkdir "$T/else"
lizard-trace -q --follow all -o "$T/else/fails-1" ./fails child >/dev/null 2>"$T/err"
cd "$T" || exit 1

lizard pack fails-1 -o one.lizard 2>err && lizard pack fails-1 fails-2 "$T/else/fails-1" -o all.lizard 2>err
ok $? "pack" || diag "$(cat err)"
like "$(cat err)" '^lizard: packed all.lizard: .*, 3 recordings, 4 processes, with ' "... which says how many there are"
sizes="$(stat -c %s one.lizard) $(stat -c %s all.lizard)"
[ "${sizes#* }" -lt $((${sizes% *} * 11 / 10)) ]
ok $? "three take hardly more room than one" || diag "$sizes"

# On another machine: no recordings, no sources.
mv src gone
export LIZARD_TRACE_DIR=$T/there
exits() { # RECORDING...: how each ended
	for what; do
		lizard info --json "$what" 2>>err | json '$o->{exit_status} // $o->{signal}'
		echo
	done
}
: >err
is "$(exits all.lizard/fails-1 all.lizard/fails-2 all.lizard/fails-1.2 | tr '\n' ' ')" "1 2 0 " "FILE/NAME names each of them" || diag "$(cat err)"
is "$(ls there | sed 's/\.[0-9a-f]*$//' | sort | tr '\n' ' ')" "all fails-1 fails-1.2 fails-2 " "they are unpacked once"
inodes=$(stat -c %i there/fails-*/files/*libc.so* | sort -u | wc -l)
is "$inodes" 1 "... and share files"
is "$(lizard unpack all.lizard | sed "s|^$T/there/||; s/\.[0-9a-f]*\$//" | sort | tr '\n' ' ')" "fails-1 fails-1.2 fails-2 " "unpack names them all"
is "$(lizard ps --json all.lizard/fails-1.2 | json 'join " ", map { $_->{signal} // "-" } @$o')" "- 11" "a recording with two processes"
for one in there/fails-*; do
	lizard verify -a "$one" >out 2>&1
	ok $? "$(basename "$one" | sed 's/\.[0-9a-f]*$//'): verify is clean" || diag "$(cat out)"
done
lizard-gdb --stock -nx -batch all.lizard/fails-2 -ex 'list 1,1' >out 2>&1
like "$(cat out)" "^1	/. Fails as its argument says" "the debugger finds the sources" || diag "$(cat out)"
for command in info verify report "gdb -nx -batch"; do
	# shellcheck disable=SC2086
	lizard $command all.lizard >out 2>&1
	is "$? $(grep -c 'all.lizard holds several recordings: name one of them as FILE/NAME (fails-1, fails-1.2, fails-2)' out)" "1 1" "$command all.lizard: which of them?"
done
lizard info all.lizard/fails-9 >out 2>&1
is "$? $(grep -c 'holds several recordings' out)" "1 1" "a name that it does not have"
lizard rm "$(basename there/fails-2.*)"
is "$(exits all.lizard/fails-2 one.lizard)" "$(printf '2\n1')" "one that was removed is unpacked again; a file with one recording is opened as before"
is "$(lizard unpack all.lizard new; ls new | tr '\n' ' ')" "$(printf 'new/fails-1\nnew/fails-2\nnew/fails-1.2\nfails-1 fails-1.2 fails-2 ')" "unpack below a directory"

lizard pack new/fails-1 new/fails-2 >out 2>err
is "$? $(wc -c <out) $(grep -c 'that -o names' err)" "2 0 1" "several without -o"
lizard pack new/fails-1 new/none -o none.lizard >out 2>err
is "$? $(ls none.lizard 2>/dev/null)" "1 " "one of them is missing: no file"

# From a stranger.
refused() { # PATTERN NAME ENTRY[=TARGET]...: files with the contents of a `meta`, or links
	pattern=$1 name=$2
	shift 2
	python3 - new/fails-1/meta bad.tar "$@" <<'EOF'
import sys, tarfile
meta, out, *entries = sys.argv[1:]
with tarfile.open(out, "w") as t:
    for entry in entries:
        name, _, target = entry.partition("=")
        if target:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.LNKTYPE, target
            t.addfile(link)
        else:
            t.add(meta, name)
EOF
	zstd -qf bad.tar -o bad.lizard && rm -rf there bad && mkdir there
	timeout 20 lizard unpack bad.lizard >out 2>err
	is "$? $(grep -cE "$pattern" err) $(ls there) $(find "$T" -name 'evil*')" "1 1  " "$name" || diag "$(cat out err)"
}
no_part="no part of a recording"
refused "$no_part" "a recording named .." recordings/../meta
refused "$no_part" "... with a hidden name" recordings/.evil/meta
refused "$no_part" "... with a name like an option" recordings/-evil/meta
refused "$no_part" "... with a line break in its name" "$(printf 'recordings/evil\nx/meta')"
refused "$no_part" "... with none" recordings//meta
refused "$no_part" "a file beside the recordings" recordings/a/meta meta
refused "$no_part" "recordings beside a recording's files" meta recordings/a/meta
refused "$no_part" "a file of another name" recordings/a/meta recordings/a/evil
refused "cannot create its file" "a name that leads out" recordings/a/meta recordings/a/sources/../../../../evil
refused "holds no recording .b." "a recording without meta" recordings/a/meta recordings/b/files/x
refused "$no_part" "a link to a meta" recordings/a/meta recordings/b/meta=recordings/a/meta
refused "$no_part" "a link to a file of this machine" recordings/a/meta recordings/a/files/evil=/etc/passwd
refused "$no_part" "a link that leads out" recordings/a/meta recordings/a/files/b=recordings/a/files/../../../../../../../../etc/passwd
refused "cannot create its file" "... through sources" recordings/a/meta recordings/a/sources/b=recordings/a/sources/../../../evil
# shellcheck disable=SC2046
refused "$no_part" "too many recordings" $(seq -f 'recordings/r%.0f/meta' 101)
cd /
done_testing
