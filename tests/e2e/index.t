#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What replay computes again of the control flow is kept in the recording: by `lizard index`, and by whoever needs some of
# it. The truth is a recording that has all of it, of which copies have only checksums.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

hash=$(tool flow-hash) && bytes=$(tool flow-bytes)
ok $? "the tools build" || { diag "$(cat "$T"/*.log)"; done_testing; }
prog=$T/collatz
lizard-cc -g -O1 -o "$prog" "$LIZARD_SRC/tests/progs/replay/collatz.c"
ok $? "a program builds" || done_testing
printf 'A' | timeout -k 5 60 lizard-trace -q --flow=full --checkpoint-interval 2 -o "$T/full" "$prog" 50000 >"$T/out"
ok $? "recorded in full" || done_testing
"$bytes" "$T/full" >"$T/truth"
dump=$(lizard dump --markers "$T/full" | md5sum)

fresh() { # NAME [FROM [LIE]]: a copy with checksums only
	rm -rf "${T:?}/$1"
	cp -r "$T/full" "$T/$1"
	"$hash" "$T/$1" "${2:-0}" ${3:+"$3"}
}
same() { # NAME WHAT: all markers are at hand, without replay, and right
	"$bytes" "$T/$1" 2>"$T/err" | cmp -s - "$T/truth"
	ok $? "$2" || diag "$(cat "$T/err"; lizard info "$T/$1" | grep -E '^flow|^index')"
}
field() { # NAME KEY
	lizard info --json "$T/$1" | grep -o "\"$2\": [0-9]*" | sed 's/.*: //'
}

# ---- all of it ----

fresh hash
[ "$("$bytes" "$T/hash" 2>/dev/null | wc -c)" = 0 ]
ok $? "a recording of checksums has no markers"
timeout 100 lizard index "$T/hash" >"$T/out" 2>"$T/err"
is $? 0 "they are computed" || diag "$(cat "$T/err")"
like "$(cat "$T/out")" "$T/hash: (.*) of \1 computed and kept, .* on disk, in .*" "said so"
same hash "they are the recorded ones"
is "$(field hash marker_bytes_computed)" "$(field hash marker_bytes_hashed)" "info says how much is computed"
[ "$(field hash index_stored)" = "$(stat -c %s "$T"/hash/index/* | awk '{ n += $1 } END { print n }')" ]
ok $? "and what it takes"
size=$(stat -c %s "$T"/hash/index/markers-*)
timeout 100 lizard index -q "$T/hash" >"$T/out" 2>&1
is "$? $(cat "$T/out")" "0 " "once more: nothing to do, nothing said"
timeout 100 lizard dump --markers "$T/hash" | md5sum >"$T/sum"
is "$(cat "$T/sum")" "$dump" "dump prints the same"
LIZARD_DEBUG=1 timeout 100 lizard dump --markers --limit 1 "$T/hash" 2>&1 >/dev/null | grep -q resumed
is $? 1 "and replays nothing"
is "$(stat -c %s "$T"/hash/index/markers-*)" "$size" "what is there is not written again"
timeout 100 lizard verify "$T/hash" | grep -q "clean: .* by checksum"
ok $? "verify replays all the same"
lizard index "$T/full" | grep -q "all of its control flow is recorded"
ok $? "a recording that has its control flow needs no more of it"
like "$(ls "$T/full/index")" '^stacks-[0-9]+$' "its call stacks are kept"
calls=$(LIZARD_READERS=0 lizard calls "$T/full" main | md5sum)
is "$(lizard calls "$T/full" main | md5sum)" "$calls" "and tell the same"
lizard index --remove "$T/full"

fresh half 1
timeout 100 lizard index --json "$T/half" >"$T/out"
is $? 0 "a recording of both kinds"
like "$(cat "$T/out")" '.*"complete": true.*"error": null.*' "as JSON"
same half "is computed where it has to be"

fresh one
timeout 100 taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" lizard index -q "$T/one"
same one "on one CPU"
lizard index --remove "$T/one" && [ ! -e "$T/one/index" ]
ok $? "what is kept can be removed"

# ---- by the way ----

fresh moved
timeout 100 lizard-gdb -nx -batch -ex 'jump_forward 50%' -ex 'bs 2' "$T/moved" >"$T/gdb" 2>&1 </dev/null
some=$(field moved marker_bytes_computed)
[ "${some:-0}" -gt 0 ] && [ "$some" -lt "$(field moved marker_bytes_hashed)" ]
ok $? "a move computes its interval, which is kept ($some bytes)" || diag "$(tail -n 3 "$T/gdb")"
timeout 100 lizard dump --markers "$T/moved" | md5sum >"$T/sum"
is "$(cat "$T/sum")" "$dump" "a dump adds the rest"
same moved "all of it is kept"

fresh several
for i in 1 2 3; do timeout 100 lizard index -q "$T/several" & done
timeout 100 lizard dump --markers "$T/several" | md5sum >"$T/sum"
wait
is "$(cat "$T/sum")" "$dump" "several at once do not disturb each other"
same several "what they keep is right"
raw=$(wc -c <"$T/truth")
[ "$(stat -c %s "$T"/several/index/markers-*)" -lt "$raw" ]
ok $? "and each block is there once"

fresh killed
timeout -s KILL 0.4 lizard index -q "$T/killed" 2>/dev/null
timeout 100 lizard index -q "$T/killed"
ok $? "after one was killed another one goes on"
same killed "to the end"

# ---- what is not believed ----

file=$(echo "$T"/killed/index/markers-*)
printf 'x' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") / 2)) conv=notrunc 2>/dev/null
lizard info --check "$T/killed" >"$T/out" 2>"$T/err"
is "$? $(grep -c 'index/markers-.* are not those recorded; lizard index' "$T/err")" "1 1" "info --check notices a damaged block"
timeout 100 lizard dump --markers "$T/killed" | md5sum >"$T/sum"
is "$(cat "$T/sum")" "$dump" "a damaged block is computed again"
same killed "and takes the place of the damaged one"
lizard info --check "$T/killed" >"$T/out" 2>"$T/err"
ok $? "info --check finds nothing then" || diag "$(cat "$T/err")"
truncate -s $((size / 2 + 7)) "$file"
timeout 100 lizard index -q "$T/killed"
same killed "so is what was cut off"
fresh alien 0 1
cp -r "$T/hash/index" "$T/alien/"
timeout 100 lizard index "$T/alien" >"$T/out" 2>"$T/err"
is $? 1 "a block that the recording denies is not taken from a file"
grep -q "are not those recorded" "$T/err"
ok $? "replay says what is wrong" || diag "$(cat "$T/err")"
timeout 100 lizard verify "$T/alien" >"$T/verify"
is $? 1 "so does verify"

fresh lie 0 1
timeout 100 lizard index --json "$T/lie" >"$T/out" 2>"$T/err"
is $? 1 "another checksum: the exit status"
like "$(cat "$T/out")" '.*"complete": false.*"error": ".*are not those recorded.*' "and the reason"

# ---- where nothing can be kept ----

fresh theirs
chown -R 65534 "$T/theirs"
timeout 100 lizard index "$T/theirs" >"$T/out" 2>"$T/err"
is $? 1 "nothing is put into somebody else's recording"
like "$(head -n 1 "$T/err")" ".*theirs/index: the recording belongs to somebody else" "said so"
timeout 100 lizard dump --markers "$T/theirs" | md5sum >"$T/sum"
is "$(cat "$T/sum")" "$dump" "it is computed all the same"
[ ! -e "$T/theirs/index" ]
ok $? "without a trace"
fresh small
timeout 100 lizard index --max-size 1K "$T/small" >"$T/out" 2>"$T/err"
is $? 1 "--max-size: not all of it fits"
like "$(cat "$T/err")" ".*small/index: it has the .* that it may have" "said so"

# ---- packs, processes, words ----

lizard pack -o "$T/without" "$T/hash" 2>"$T/err" && lizard pack --index -o "$T/with" "$T/hash" 2>"$T/err"
ok $? "it is packed" || diag "$(cat "$T/err")"
lizard unpack "$T/without" "$T/u1" >/dev/null && [ ! -e "$T/u1/index" ]
ok $? "a pack has what was computed only if that is asked for"
lizard unpack "$T/with" "$T/u2" >/dev/null
same u2 "with --index, another machine has it"

timeout -k 5 60 lizard-trace -q --flow=hash --follow all -o "$T/tree" sh -c "printf A | '$prog' 300; printf B | '$prog' 400" >"$T/out" 2>"$T/err"
timeout 100 lizard index --all "$T/tree" >"$T/out" 2>"$T/err"
is $? 0 "--all: every process" || diag "$(cat "$T/err")"
is "$(grep -c 'computed and kept' "$T/out")" 2 "two of them have markers"
timeout 100 lizard verify -a "$T/tree" >"$T/verify"
ok $? "all are clean" || diag "$(cat "$T/verify")"
lizard rm "$T/tree" && [ ! -e "$T/tree" ]
ok $? "rm removes what was computed, too"

lizard index "$T/none" >"$T/out" 2>"$T/err"
is $? 1 "no such recording"
for words in "" "--max-size x $T/hash" "--max-size 0 $T/hash" "--remove --json $T/hash" "--nothing $T/hash"; do
	# shellcheck disable=SC2086
	lizard index $words >"$T/out" 2>"$T/err"
	is "$? $(wc -c <"$T/out")" "2 0" "refused: lizard index $words"
done
done_testing
