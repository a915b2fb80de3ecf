#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Copies of mapped files are shared by all recordings, and each recording stays whole by itself.
. "$(dirname "$0")/../lib/tap.sh"

store=$LIZARD_TRACE_DIR/.copies-$(id -u)
copies() { ls "$store" 2>/dev/null | grep -c '^c-'; }
copy_of() { echo "$LIZARD_TRACE_DIR/$1"/files/*-"$2"; } # RECORDING FILE
inode() { stat -c %i "$1"; }
# Bytes that are the recording's own, not shared.
own() { find "$1" -type f -links 1 -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'; }

cp /bin/true "$T/prog"
cp /bin/true "$T/older" && echo more >>"$T/older"
sleep 3
for i in 1 2 3; do
	lizard-trace -q "$T/prog"
done
one=$(copy_of prog-1 prog)
is "$(inode "$one") $(inode "$one")" "$(inode "$(copy_of prog-2 prog)") $(inode "$(copy_of prog-3 prog)")" "three recordings have one copy of the program"
is "$(stat -c '%a %h' "$one")" "400 4" "nobody writes it, and the store has it, too"
cmp -s "$one" "$T/prog" && [ "$(inode "$one")" != "$(inode "$T/prog")" ]
ok $? "it has the program's bytes, and is not its file"
[ "$(own "$LIZARD_TRACE_DIR/prog-3")" -lt 50000 ]
ok $? "a further recording takes less than 50 KB" || diag "$(own "$LIZARD_TRACE_DIR/prog-3")"
lizard verify prog-3 >"$T/out" 2>&1
ok $? "and can be verified" || diag "$(cat "$T/out")"
sum=$(lizard ls --json | perl -MJSON::PP -e 'my $s = 0; $s += $_->{bytes} for @{decode_json(join "", <>)}; print $s')
all=$(du -sb --apparent-size "$LIZARD_TRACE_DIR" | cut -f1)
[ "$sum" -gt $((all * 8 / 10)) ] && [ "$sum" -le "$all" ]
ok $? "the sizes that lizard ls shows are together what there is" || diag "$sum of $all"

# ---- the program changes ----
before=$(cksum <"$one")
printf 'x' | dd of="$T/prog" bs=1 seek=60 conv=notrunc 2>/dev/null # padding of the ELF header
lizard-trace -q "$T/prog" || diag "the changed program fails"
is "$(cksum <"$one")" "$before" "a program that is changed in place leaves the copy alone"
cmp -s "$(copy_of prog-4 prog)" "$T/prog"
ok $? "and the next recording has the new one"

# ---- at once ----
for i in 1 2 3 4 5 6; do
	lizard-trace -q -o "$LIZARD_TRACE_DIR/at-once-$i" "$T/older" &
done
wait
is "$(for i in 1 2 3 4 5 6; do inode "$(copy_of at-once-$i older)"; done | sort -u | wc -l)" 1 "six recorders at once make one copy"
is "$(for i in 1 2 3 4 5 6; do lizard verify at-once-$i >/dev/null 2>&1 && echo fine; done | wc -l)" 6 "and their recordings are whole"
lizard rm 'at-once-*' prog-4

# ---- killed ----
n=0
for ms in 0 2 4 6 8 10 14 20; do
	lizard-trace -q -o "$T/killed-$ms" "$T/older" &
	perl -e 'select undef, undef, undef, $ARGV[0] / 1000' $ms
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
	lizard-trace -q -o "$LIZARD_TRACE_DIR/after-$ms" "$T/older" && lizard verify after-$ms >/dev/null 2>&1 && n=$((n + 1))
done
is $n 8 "a recorder that is killed leaves nothing that spoils the next recording"
lizard rm 'after-*'
rm -rf "$T"/killed-*

# ---- a recording by itself ----
cp -a "$LIZARD_TRACE_DIR/prog-2" "$T/moved"
lizard pack prog-2 >/dev/null 2>&1 && mv prog-2.* "$T/" 2>/dev/null
pack=$(ls "$T"/prog-2.* "$PWD"/prog-2.* 2>/dev/null | head -1)
mv "$store" "$T/away"
lizard verify "$T/moved" >"$T/out" 2>&1
ok $? "a copy of a recording needs no store" || diag "$(cat "$T/out")"
lizard unpack "$pack" "$T/unpacked" >/dev/null 2>&1 && lizard verify "$T/unpacked" >"$T/out" 2>&1
ok $? "nor does a packed one" || diag "$pack" "$(cat "$T/out")"
mv "$T/away" "$store"

# ---- damage ----
chmod 600 "$one"
touch -r "$one" "$T/time"
printf '\377' | dd of="$one" bs=1 seek=9000 conv=notrunc 2>/dev/null
touch -r "$T/time" "$one"
chmod 400 "$one"
cp "$T/prog" "$T/prog.new" && printf '\0' | dd of="$T/prog.new" bs=1 seek=60 conv=notrunc 2>/dev/null
lizard verify prog-1 >"$T/out" 2>&1
is "$? $(grep -c 'damaged' "$T/out")" "1 1" "a damaged copy is noticed when the recording is opened" || diag "$(cat "$T/out")"
is "$(find "$store" -inum "$(inode "$one")" | wc -l)" 0 "and no further recording gets it"

# ---- links are counted ----
lizard rm prog-1 prog-2
is "$(copies)" "$(find "$LIZARD_TRACE_DIR/prog-3/files" -type f -links +1 | wc -l)" "rm: what the last recording has stays"
lizard-trace -q --keep=failure "$T/older"
kept=$(copies)
lizard rm 'prog-*'
is "$([ "$kept" -gt 0 ] && echo some) $(copies)" "some 0" "rm: a copy that nobody links to goes" || diag "$(ls -l "$store")"
lizard-trace -q "$T/older" && rm -r "$LIZARD_TRACE_DIR"/older-* 2>/dev/null </dev/null
lizard prune --keep 5 >/dev/null
is "$(copies)" 0 "prune: one whose recording was removed otherwise goes, too"

# ---- processes of a run ----
lizard-trace -q --follow all -o "$LIZARD_TRACE_DIR/run" /bin/sh -c '/bin/true; /bin/true; exit 0'
is "$(find "$LIZARD_TRACE_DIR/run" -name '*-libc.so.6' -printf '%i\n' | sort -u | wc -l) $(ls -d "$LIZARD_TRACE_DIR/run/processes/.files" 2>/dev/null)" "1 " \
	"all processes of a run share the copies"
lizard verify -a run >"$T/out" 2>&1
ok $? "verify -a" || diag "$(cat "$T/out")"
bytes_of() { # FILTER
	perl -MJSON::PP -e 'my $s = 0; $_->{bytes} and $s += $_->{bytes}, $n++ for grep { '"$1"' } @{decode_json(join "", <STDIN>)}; print "$s $n"'
}
whole=$(lizard ls --json | bytes_of '$_->{path} =~ m{/run$}')
is "$(lizard ps --json run | bytes_of 1)" "${whole% *} 3" "ps: each process has a size, and together they have the recording's"

# ---- no store ----
chmod 777 "$store"
lizard-trace -q -o "$LIZARD_TRACE_DIR/alone" "$T/older"
is "$? $(stat -c %h "$(copy_of alone older)")" "0 1" "a store that others can write to is not used"
chmod 700 "$store"
rm -rf "$store" && ln -s "$T" "$store"
lizard-trace -q -o "$LIZARD_TRACE_DIR/alone-2" "$T/older"
is "$? $(stat -c %h "$(copy_of alone-2 older)") $(ls "$T" | grep -c '^[cf]-')" "0 1 0" "nor is one that a link leads to"
rm "$store"
if [ "$(stat -c %d /dev/shm)" != "$(stat -c %d "$T")" ]; then
	d=$(mktemp -d /dev/shm/lizard-XXXXXX)
	lizard-trace -q -o "$d/rec" --follow all /bin/sh -c '/bin/true; /bin/true; exit 0' && lizard verify -a "$d/rec" >"$T/out" 2>&1
	is "$? $(find "$d/rec" -name '*-libc.so.6' -printf '%i\n' | sort -u | wc -l)" "0 2" "on another file system the processes of a run share theirs"
	rm -rf "$d"
else
	skip "on another file system the processes of a run share theirs" "there is none"
fi
done_testing
