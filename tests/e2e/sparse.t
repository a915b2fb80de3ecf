#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A recording whose copy of the program has a hole of 15 TiB behind it: no command reads that, nobody unpacks it unasked.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

truncate -s 15T "$T/room" 2>/dev/null || skip_all "no file can be so large here"
rm "$T/room"

damage=$(tool replay-damage)
ok $? "the tool builds" || { diag "$(cat "$T/replay-damage.log")"; done_testing; }
echo 'int main(void) { return 7; }' >"$T/prog.c"
lizard-cc -g -O0 "$T/prog.c" -o "$T/prog" && lizard-trace -q -o "$T/rec" "$T/prog"
is $? 7 "recorded"
(cd "$T" && timeout 20 "$damage" rec big sparse 15359) >"$T/log" 2>&1
ok $? "a copy of it is written" || diag "$(cat "$T/log")"
is "$(($(stat -c %s "$T/big/files/0-prog") >> 30))" 15359 "so large"
[ "$(du -sk "$T/big" | cut -f 1)" -lt 100000 ]
ok $? "and hardly anything on disk"

in_time() { # STATUS NAME COMMAND...: it ends within 20 s, its output is in $T/out
	wanted=$1 name=$2
	shift 2
	timeout 20 "$@" </dev/null >"$T/out" 2>&1
	is $? "$wanted" "$name" || diag "$(tail -5 "$T/out")"
}
in_time 0 "info" lizard info "$T/big"
is "$(grep -c '^damage' "$T/out")" 0 "nothing is wrong with it"
is "$(grep -c 'TiB' "$T/out")" 0 "its size is what it takes on disk"
in_time 0 "info --check" lizard info --check "$T/big"
in_time 0 "verify" lizard verify "$T/big"
like "$(cat "$T/out")" ": clean:" "which compares the very program"
in_time 0 "dump" lizard dump "$T/big"
for front in stock patched; do
	[ $front = stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || continue
	in_time 0 "$front: GDB reads the program that is here" lizard-gdb --$front "$T/big" -nx -batch -ex 'info lizard'
	in_time 1 "$front: but not the copy" lizard-gdb --$front --kept "$T/big" -nx -batch
	like "$(cat "$T/out")" "copy of $T/prog is not read as a program: nearly all of its [0-9]* bytes are holes" "$front: it says why"
done
# Where the program is not here, the copy's symbols are not read by replay either.
mv "$T/prog" "$T/prog-gone"
in_time 0 "verify without the program" lizard verify "$T/big"
in_time 0 "dump --markers without it" lizard dump --markers "$T/big"
mv "$T/prog-gone" "$T/prog"

# Packed: holes stay holes.
in_time 0 "pack" lizard pack -o "$T/big.lizard" "$T/big"
like "$(cat "$T/out")" "larger than 16 GiB: it must be unpacked with .lizard unpack --max-size SIZE" "it says that unpacking needs a word"
[ "$(stat -c %s "$T/big.lizard")" -lt 10000000 ]
ok $? "into a small file"
for command in info "info --check" verify dump ps gdb serve; do
	in_time 1 "$command of the packed one" lizard $command "$T/big.lizard"
	like "$(cat "$T/out")" "big.lizard: unpacked, it is larger than 16 GiB; .*lizard unpack --max-size SIZE" "is refused"
done
in_time 1 "unpack" lizard unpack "$T/big.lizard"
in_time 1 "unpack --max-size, too small" lizard unpack --max-size 14.9T "$T/big.lizard" "$T/out.d"
like "$(cat "$T/out")" "larger than 15 TiB" "it says how large it may be"
is "$(ls "$LIZARD_TRACE_DIR") $(ls -d "$T/out.d" 2>/dev/null)" " " "nothing is left of it"
in_time 0 "unpack --max-size" lizard unpack --max-size 16T "$T/big.lizard" "$T/back"
[ "$(du -sk "$T/back" | cut -f 1)" -lt 100000 ]
ok $? "unpacked with its holes"
is "$(cat "$T/out") $(tail -c 1 "$T/back/files/0-prog")" "$T/back x" "whole"
in_time 0 "verify" lizard verify "$T/back"
in_time 2 "a size that is none" lizard unpack --max-size big "$T/big.lizard"

# Archives that become much: by names, by contents that are passed over, by nothing at all.
cat >"$T/make.py" <<'EOF2'
import sys, tarfile, io
with tarfile.open(sys.argv[2], "w") as t:
    t.add(sys.argv[3], "meta")
    if sys.argv[1] == "names":
        for i in range(300):
            t.addfile(tarfile.TarInfo("sources/" + "d/" * 20 + str(i)))
    else:
        t.addfile(tarfile.TarInfo("files/a"))
        link = tarfile.TarInfo("files/b")
        link.type, link.linkname, link.size = tarfile.LNKTYPE, "files/a", 50 << 20
        t.addfile(link, io.BytesIO(bytes(50 << 20)))
EOF2
for kind in names link; do
	python3 "$T/make.py" $kind "$T/$kind.tar" "$T/rec/meta" && zstd -qf "$T/$kind.tar" -o "$T/$kind.lizard"
	in_time 1 "$kind: more than is wanted" lizard unpack --max-size 10M "$T/$kind.lizard" "$T/out.d"
	like "$(cat "$T/out")" "larger than 10 MiB" "$kind: is refused"
	[ ! -e "$T/out.d" ]
	ok $? "$kind: nothing is left"
done
in_time 0 "as much as is wanted" lizard unpack --max-size 40M "$T/names.lizard" "$T/out.d"
printf '\050\265\057\375' >"$T/hollow.lizard" && truncate -s 15T "$T/hollow.lizard"
in_time 1 "a file of nothing" lizard info "$T/hollow.lizard"
mkfifo "$T/fifo.lizard"
in_time 1 "a FIFO" lizard info "$T/fifo.lizard"
done_testing
