#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Counts by several threads at once, with the call stacks that are kept in the recording: they are those of one walk from the
# beginning to the end, whatever is kept there. What that walk counts is compared with gcov and others elsewhere.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

hash=$(tool flow-hash)
ok $? "the tools build" || { diag "$(cat "$T"/*.log)"; done_testing; }
prog=$T/mixed src=$LIZARD_SRC/tests/progs/answers/mixed.c
# Functions that never run, one of which has another's name.
cat >"$T/more.c" <<'END'
static int classify(int n) { return n; }
int never(int n) { return classify(n) + 1; }
int nor_this(int n) { return never(n); }
END
lizard-cc -g -O0 -o "$prog" "$T/more.c" "$src" -lpthread
ok $? "a program builds" || done_testing
timeout -k 5 60 lizard-trace -q --flow=full --checkpoint-interval 2 -o "$T/rec" "$prog" 27 >"$T/out"
is $? 0 "and is recorded" || done_testing

answers() { # REC
	for f in fibonacci compare thrower coroutine finish main; do
		echo "$f $(lizard calls --count "$1" $f)"
	done
	for line in 22 28 43 50 62 72 78 91 101; do
		echo "line $line $(lizard hits --count "$1" mixed.c:$line)"
	done
	lizard calls -c -t "$(lizard calls --by thread "$1" classify | awk 'NR == 1 { print $3 }')" "$1" classify
	lizard coverage --lcov - "$1"
	# lists leave out blocks
	lizard calls "$1" thrower coroutine finish
	lizard hits "$1" mixed.c:78
	lizard calls --from 40% --to 70% "$1" classify coroutine
	# by blocks, and told in order
	lizard profile --folded - "$1"
	lizard profile --from 33% --to 66% --folded - "$1"
	lizard tree --limit 3000 "$1"
	lizard tree --from 44% --to 88% --depth 5 "$1"
	lizard grep --limit 1000 "$1" 'main > compare'
	lizard grep --limit 1000 "$1" 'classify then fibonacci > fibonacci'
	lizard coverage --from 20% --to 55% --lcov - "$1"
	lizard calls --count --from 20% --to 55% "$1" fibonacci
}
plainly() { # REC
	LIZARD_READERS=0 answers "$1" 2>"$T/err.plainly"
}
agree() { # REC WHAT
	answers "$1" >"$T/got" 2>"$T/err"
	[ "$(wc -l <"$T/truth")" -gt 16 ] && cmp -s "$T/got" "$T/truth" && cmp -s "$T/err" "$T/err.plainly"
	ok $? "$2" || diag "$(diff "$T/truth" "$T/got" | head -n 5) $(head -n 3 "$T/err")"
}
kept() { # REC
	ls "$1"/index/stacks-* 2>/dev/null
}
looks() { # REC [FUNCTION]: whether call stacks are found anew
	LIZARD_DEBUG=1 lizard calls -c "$1" "${2:-main}" 2>&1 >/dev/null | grep -q "stacks are found anew"
}

plainly "$T/rec" >"$T/truth"
like "$(head -n 1 "$T/truth")" '^fibonacci [0-9]{6}$' "the truth is a walk by one thread"
[ -z "$(kept "$T/rec")" ]
ok $? "which keeps nothing"
agree "$T/rec" "several threads count the same"
[ -n "$(kept "$T/rec")" ]
ok $? "and keep the call stacks" || done_testing
cp -r "$T/rec" "$T/first"
agree "$T/rec" "so do those that find them there"
cmp -s "$(kept "$T/rec")" "$(kept "$T/first")"
ok $? "they are written once"
looks "$T/rec"
is $? 1 "they are used"
(export LIZARD_READERS=1; answers "$T/rec" 2>"$T/err") | cmp -s - "$T/truth"
ok $? "one thread counts the same"

# ---- what is kept is wrong ----

file=$(kept "$T/rec")
size=$(stat -c %s "$file")
wrong() { # WHAT
	looks "$T/rec"
	ok $? "$1: it is not used"
	agree "$T/rec" "$1: the answers are the same"
	cmp -s "$file" "$(kept "$T/first")"
	ok $? "$1: it is made anew"
}
restore() {
	rm -rf "$file"
	cp "$(kept "$T/first")" "$file"
}
printf 'x' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
wrong "a byte is another one"
truncate -s $((size / 2)) "$file"
wrong "it is cut"
: >"$file"
wrong "it is empty"
timeout -k 5 60 lizard-trace -q --flow=full --checkpoint-interval 2 -o "$T/other" "$prog" 28 >"$T/out"
lizard calls -c "$T/other" main >"$T/out"
cp "$(kept "$T/other")" "$file"
wrong "it is another recording's"
rm "$file"
mkfifo "$file"
timeout 20 lizard calls -c "$T/rec" main >"$T/out"
is "$? $(cat "$T/out")" "0 1" "a FIFO is not waited for"
restore
ln -sf "$T/secret" "$T/link"
echo secret >"$T/secret"
rm "$file"
cp -P "$T/link" "$file"
agree "$T/rec" "a link is not followed"
is "$(cat "$T/secret")" secret "nor written to"
is "$(ls "$T/rec/index" | sed 's/-.*//' | tr '\n' ' ')" "stacks unused " "nothing else is left there"

# ---- functions that never ran ----

restore
counts() { # REC
	for f in $(lizard calls --names "$1"); do
		echo "$f $(lizard calls -c "$1" "$f") $(lizard hits -c "$1" "$f") $(lizard calls -c --json "$1" "$f" main)"
	done
	for f in "never classify" "never nor_this" "never none" "never -t 1" "never --from 40%" mixed.c:999; do
		lizard calls -c "$1" $f
		lizard hits -c --json "$1" $f
	done
}
opened() { # REC WORDS: whether more of the recording is read than what is kept
	strace -f -e trace=openat -o "$T/strace" lizard "$@" >"$T/out" 2>"$T/err"
	grep -q '"events' "$T/strace"
}
LIZARD_READERS=0 counts "$T/rec" >"$T/never.truth" 2>"$T/never.err"
is "$(grep -c '^never 0 0\|^nor_this 0 0\|^classify [1-9]' "$T/never.truth")" 3 "some functions never ran"
counts "$T/rec" >"$T/got" 2>"$T/err"
cmp -s "$T/got" "$T/never.truth" && cmp -s "$T/err" "$T/never.err"
ok $? "the counts of all functions are the same" || diag "$(diff "$T/never.truth" "$T/got") $(diff "$T/never.err" "$T/err")"
unopened() { # WHAT
	opened calls -c "$T/rec" never
	is "$? $(cat "$T/out")" "1 0" "$1: calls are counted without opening the recording"
	opened hits -c "$T/rec" nor_this
	is "$? $(cat "$T/out")" "1 0" "$1: so are hits"
}
reopened() { # REC WHAT
	opened calls -c "$1" never
	is "$? $(cat "$T/out")" "0 0" "$2: the recording is read"
}
unopened "of functions that never ran"
opened calls -c "$T/rec" classify
is "$? $(cat "$T/out")" "0 $(awk '$1 == "classify" { print $2 }' "$T/never.truth")" "a function of that name did run"
opened calls -c "$T/rec" never none
is "$? $(cat "$T/out")" "0 " "a function that does not exist is said to be none"
opened calls -c -t 1 "$T/rec" never
is "$? $(cat "$T/out")" "0 " "so is a thread"
cp -r "$T/rec" "$T/copied"
reopened "$T/copied" "of a copy"
opened calls -c "$T/copied" never
is "$? $(cat "$T/out")" "1 0" "once"
cp "$T/copied/index/unused" "$T/rec/index/unused"
reopened "$T/rec" "with another recording's file"
unopened "which is made anew"
printf x | dd of="$T/rec/index/unused" bs=1 seek=30 conv=notrunc status=none
reopened "$T/rec" "with a damaged file"
XDG_STATE_HOME=$T/stranger lizard calls -c "$T/rec" never >"$T/out"
reopened "$T/rec" "with somebody else's file"
touch "$T/rec/events"
reopened "$T/rec" "when the recording has been touched"
truncate -s -1 "$T/copied/events"
opened calls -c "$T/copied" never
is "$? $(cat "$T/out")" "0 0" "when it has been cut"
like "$(cat "$T/err")" "this is about a part of the run" "which is said"
opened calls -c "$T/copied" never
is $? 0 "of a recording that is cut nothing is kept"

# ---- who forges it ----

# A file that says that no function runs in any block, and is right otherwise.
cat >"$T/forge.py" <<'END'
import hashlib, hmac, os, struct, sys
file, key = sys.argv[1], open(sys.argv[2], "rb").read()
body = bytearray(open(file, "rb").read()[:-32])
n_blocks, ran_bits = struct.unpack_from("<Q", body, 32)[0], struct.unpack_from("<Q", body, 64)[0]
tail = 2 * n_blocks * (ran_bits // 8)
body[-tail:] = bytes(tail)
seal = hmac.new(key, os.path.basename(file).encode() + b"\0" + body, hashlib.sha256).digest()
open(file, "wb").write(body + seal)
END
restore
key=$XDG_STATE_HOME/lizard/index-key
is "$(stat -c '%s %a' "$key")" "32 600" "there is a key, for the user alone"
python3 "$T/forge.py" "$file" "$key"
is "$(lizard calls -c "$T/rec" classify)" 0 "whoever has the key can make an answer wrong"
restore
XDG_STATE_HOME=$T/stranger lizard calls -c "$T/rec" main >"$T/out"
python3 "$T/forge.py" "$file" "$T/stranger/lizard/index-key"
is "$(XDG_STATE_HOME=$T/stranger lizard calls -c "$T/rec" classify)" 0 "so can a stranger, for himself"
looks "$T/rec"
ok $? "his file is not used"
agree "$T/rec" "it changes no answer of the user's"
cmp -s "$file" "$(kept "$T/first")"
ok $? "it is made anew"
chmod 640 "$key"
looks "$T/rec"
ok $? "a key that others can read is not used"
agree "$T/rec" "the answers are the same without"
chmod 600 "$key"
cp "$key" "$T/key"
: >"$key"
agree "$T/rec" "or with a key that is cut"
rm "$key"
ln -s "$T/key" "$key"
agree "$T/rec" "or with one that is a link"
rm "$key"
mkfifo "$key"
timeout 20 lizard calls -c "$T/rec" main >"$T/out"
is "$? $(cat "$T/out")" "0 1" "a FIFO is not waited for as a key"
rm "$key"
XDG_STATE_HOME=/proc/none agree "$T/rec" "or where no key can be made"
agree "$T/rec" "a new key is made"
[ "$(stat -c '%s %a' "$key")" = "32 600" ] && ! cmp -s "$key" "$T/key" && ! cmp -s "$file" "$(kept "$T/first")"
ok $? "with which the file is made anew"
rm -r "$T/first"
cp -r "$T/rec" "$T/first"

# ---- recordings of all kinds ----

cp -r "$T/first" "$T/closed"
rm -r "$T/closed/index"
chmod a-w "$T/closed"
agree "$T/closed" "a recording that cannot be written"
chmod u+w "$T/closed"

cp -r "$T/first" "$T/cut"
markers=$(ls "$T"/cut/markers-*)
truncate -s $(($(stat -c %s "$markers") * 2 / 3)) "$markers"
plainly "$T/cut" >"$T/truth.cut"
cp "$T/truth" "$T/truth.all"
cp "$T/truth.cut" "$T/truth"
agree "$T/cut" "a recording that was cut, with what was kept before"
agree "$T/cut" "and after"

timeout -k 5 60 lizard-trace -q --flow=full --max-size 1M --keep-part last --checkpoint-interval 2 -o "$T/last" "$prog" 30 >"$T/out"
lizard info "$T/last" | grep -q "^kept\|last part" || [ -e "$(ls "$T"/last/markers-*.[1-9]* | head -n 1)" ]
ok $? "a recording of the last part"
plainly "$T/last" >"$T/truth"
agree "$T/last" "begins inside of calls"
agree "$T/last" "and again"

# ---- what has only checksums ----

cp "$T/truth.all" "$T/truth"
plainly "$T/rec" >/dev/null
cp -r "$T/first" "$T/hashed"
rm -r "$T/hashed/index"
"$hash" "$T/hashed" 0
agree "$T/hashed" "a recording of checksums"
agree "$T/hashed" "and again"
rm "$T"/hashed/index/markers-*
is "$(lizard hits -c "$T/hashed" finish)" 1 "a place in the last block"
[ "$(lizard info --json "$T/hashed" | grep -o '"marker_bytes_computed": [0-9]*' | sed 's/.*: //')" -lt \
	"$(lizard info --json "$T/hashed" | grep -o '"marker_bytes_hashed": [0-9]*' | sed 's/.*: //')" ]
ok $? "is found without computing all" || diag "$(lizard info "$T/hashed" | grep ^index)"
done_testing
