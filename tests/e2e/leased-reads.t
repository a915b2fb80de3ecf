#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Reads of files that nobody can change meanwhile, as the recorder has a lease: the recording keeps what was read once. The
# program, and others, may want to change the file at any time.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
unset LIZARD_TRACE_CALLS
export LIZARD_TRACE_CHECK=1 LIZARD_DEBUG=1

replay_echo
gcc -O2 -w -o "$T/reads" "$LIZARD_SRC/tests/progs/trace/leased_reads.c"
ok $? "the program builds" || done_testing
cd "$T" || exit 1

# 2 MB that are nowhere alike.
content() {
	python3 -c "
x = 1
out = bytearray()
for i in range(250000):
    x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
    out += x.to_bytes(8, 'little')
open('$1', 'wb').write(out)"
}
content content
python3 - <<'PY'
import os
with open("sparse", "wb") as f:
    f.write(open("content", "rb").read()[:300001])
    f.seek(1500000)
    f.write(b"end" * 3333)
PY

leased() {
	sed -n 's/.* \([0-9]*\) reads were of files with a lease/\1/p' "$T/err" | awk '{n += $1} END {print n + 0}'
}

# record WAY NAME OPTIONS -- COMMAND
record() {
	local way=$1 rec=$T/recordings/$2-$1 options=()
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	timeout -k 5 120 lizard-trace -q --calls="$way" "${options[@]}" -o "$rec" "$@" >"$T/out" 2>"$T/err" <file
	status=$?
}

# What the calls were and gave: without addresses, and the places of stops.
calls_of() {
	lizard strace "$1" | grep -E 'read|open|dup|seek|write|trunc|close' | sed 's/^[^ ]* *//; s/0x[0-9a-f]*/ADDR/g'
}

# both NAME LEAST FILE COMMAND: at least LEAST reads are not copied.
both() {
	local name=$1 least=$2 file=$3
	shift 3
	cp --sparse=always "$file" file
	timeout 60 "$@" >"$T/native" 2>&1 <file
	cp --sparse=always "$file" file
	record stop "$name" -- "$@"
	is "$status $(cat out)" "0 $(cat native)" "$name: with stops it prints what it prints natively"
	cp --sparse=always "$file" file
	record buffer "$name" -- "$@"
	is "$status $(cat out)" "0 $(cat native)" "$name: without stops, too" || diag "$(cat err)"
	[ "$(leased)" -ge "$least" ]
	ok $? "$name: reads are not copied" || diag "$(leased): $(cat err)"
	replays "$name" recordings/"$name"-buffer
	calls_of recordings/"$name"-stop >calls-stop
	calls_of recordings/"$name"-buffer >calls-buffer
	[ -s calls-stop ] && diff calls-stop calls-buffer >diff
	ok $? "$name: lizard strace says the same" || diag "$(head -n 6 diff)"
}

both plain 300 content ./reads file plain
both sparse 200 sparse ./reads file plain
both numbers 500 content ./reads file numbers
both changes 1000 content ./reads file changes
both spawned 300 content ./reads file spawned
both shared 0 content ./reads file shared
both vectors 800 content ./reads file vectors
both at-once 250 content ./reads file at-once
[ "$(sed -n 's/.*the log was full \([0-9]*\) times.*/\1/p' err)" -ge 2 ]
ok $? "at-once: the log does not stand for much at once" || diag "$(cat err)"
both inside 0 content ./reads file inside
both again 5500 content ./reads file again
# Replay copies such a part once, so its log has room for many reads.
LIZARD_REPLAY_CALLS=answer timeout -k 5 120 lizard verify recordings/again-buffer >verify 2>err
is $? 0 "again: what is answered is right" || diag "$(head -n 3 verify)"
resumed=$(sed -n 's/.*were resumed \([0-9]*\) times.*/\1/p' err)
[ "${resumed:-999}" -le 180 ]
ok $? "again: replay has few stops" || diag "$resumed"

# The bytes of each read.
dumped() {
	lizard dump --events --bytes --json "$1" | grep '"nr": *17\b\|"pread64"' | sed 's/.*"writes"/"writes"/; s/0x[0-9a-f]*/ADDR/g' | sha256sum
}
is "$(dumped recordings/plain-buffer)" "$(dumped recordings/plain-stop)" "lizard dump shows the same bytes"
[ "$(du -sk recordings/plain-buffer | cut -f1)" -lt "$(($(du -sk recordings/plain-stop | cut -f1) / 2))" ]
ok $? "what was read again takes no room" || diag "$(du -sk recordings/plain-*)"

# Standard input, whose position others have, too; in the end they move it.
cp content file
record buffer input -- ./reads file input
is $status 0 "input: recorded" || diag "$(cat err)"
[ "$(leased)" -gt 400 ]
ok $? "input: reads are not copied" || diag "$(leased): $(cat err)"
timeout -k 5 120 "$echo" recordings/input-buffer >replayed 2>verify
is "$? $(tail -n 1 replayed)" "0 $(tail -n 1 out)" "input: it replays, and prints the same" || diag "$(tail -n 3 verify)"

# A fault behind the call does not let it be made again.
cat content content | head -c 3000000 >file
record buffer gone -- ./reads file gone
is "$status $(head -n 1 out)" "0 0" "gone: each read is made once" || diag "$(cat err)"
[ "$(leased)" -gt 200 ]
ok $? "gone: reads are compared" || diag "$(leased): $(cat err)"
# What it has put elsewhere is there, also where it has put it over its own vector.
record buffer gone-vector -- ./reads file gone-vector
is "$status $(head -n 1 out)" "0 0" "gone-vector: each read is made once" || diag "$(cat err)"
timeout -k 5 120 "$echo" recordings/gone-vector-buffer >replayed 2>verify
is "$? $(tail -n 1 replayed)" "0 $(tail -n 1 out)" "gone-vector: it replays, and prints the same" || diag "$(tail -n 3 verify)"

# Children, who share the position: another run is another one.
for follow in "" --follow=all; do
	name=children$follow
	cp content file
	record buffer "$name" $follow -- ./reads file children
	is $status 0 "$name: recorded" || diag "$(cat err)"
	[ "$(leased)" -gt 300 ]
	ok $? "$name: reads are not copied" || diag "$(leased): $(cat err)"
	# of the child there is a line, too, if it is not followed
	timeout -k 5 120 "$echo" "recordings/$name-buffer" >replayed 2>verify
	is "$? $(tail -n 1 replayed)" "0 $(tail -n 1 out)" "$name: it replays, and prints the same" || diag "$(tail -n 3 verify)"
done

# Another process writes, cuts, and goes on. It does not wait for long, and the program sees each change at the same instant.
cp content file
(
	trap '' PIPE
	most=0
	for i in {1..10}; do
		sleep 0.1
		begin=$(date +%s%N)
		printf "change %d" "$i" | dd of=file conv=notrunc bs=1 seek=$((i * 1234)) status=none
		[ $((i % 4)) != 0 ] || truncate -s $((1000000 - i)) file
		took=$((($(date +%s%N) - begin) / 1000000))
		[ $took -le $most ] || most=$took
	done
	echo $most >longest
) &
writer=$!
record buffer outside -- ./reads file 60000
wait $writer
is $status 0 "outside: recorded" || diag "$(cat err)"
[ "$(leased)" -gt 10000 ]
ok $? "outside: reads are not copied" || diag "$(leased): $(cat err)"
[ "$(cat longest)" -lt 5000 ]
ok $? "outside: nobody waits for long" || diag "$(cat longest) ms"
replays outside recordings/outside-buffer

# Others own the file, or have it open for writing: all is as before.
cp content file
exec 9<>file
record buffer written -- ./reads file plain
is "$status $(leased)" "0 0" "a file that somebody may write is copied"
exec 9>&-
replays written recordings/written-buffer

# Who does not own it has no lease.
caps=-lease
if setpriv --bounding-set=$caps --inh-caps=$caps true 2>/dev/null; then
	cp content file
	chown 1 file
	timeout 60 ./reads file plain >native 2>&1
	setpriv --bounding-set=$caps --inh-caps=$caps timeout -k 5 120 lizard-trace -q --calls=buffer -o recordings/foreign ./reads file plain >out 2>err
	is "$? $(leased) $(cat out)" "0 0 $(cat native)" "a file of somebody else's is copied" || diag "$(cat err)"
	replays foreign recordings/foreign
else
	skip "a file of somebody else's" "capabilities cannot be dropped"
fi

# A full disk ends the recording, not the program.
if small_disk 8m; then
	python3 -c "
import random
random.seed(1)
open('large', 'wb').write(random.randbytes(20 << 20))"
	timeout 60 ./reads large plain >native 2>&1
	timeout -k 5 120 lizard-trace -q --calls=buffer -o small/rec ./reads large plain >out 2>err
	is "$? $(cat out)" "0 $(cat native)" "full disk: the program goes on"
	like "$(cat err)" "cannot write events: No space left" "full disk: it is said"
	timeout -k 5 120 lizard verify small/rec >verify 2>&1
	like "$(tail -n 1 verify)" "(clean|not verified): .*No space left" "full disk: verify says it, too"
	umount small
else
	skip "full disk" "no permission to mount a small one"
fi

# Parts, of which each has what its events refer to; packing and the other ways to store it.
cp content file
record buffer parts --keep-part=last --max-size=3M --checkpoint-interval=20 -- ./reads file 40000
is $status 0 "parts: recorded" || diag "$(cat err)"
[ ! -e recordings/parts-buffer/events ]
ok $? "parts: the first ones are gone" || diag "$(ls recordings/parts-buffer)"
timeout -k 5 120 lizard verify -a recordings/parts-buffer >verify 2>&1
ok $? "parts: verify is clean" || diag "$(tail -n 3 verify)"
mkdir packed && (cd packed && timeout 60 lizard pack -o packed.tar.zst ../recordings/plain-buffer >../packing 2>&1 && tar xf packed.tar.zst)
ok $? "it is packed" || diag "$(cat packing)"
timeout -k 5 120 lizard verify "$(dirname "$(find packed -name meta | head -n 1)")" >verify 2>&1
ok $? "and verify is clean" || diag "$(tail -n 3 verify)"

# The recorder is killed: what is there can be replayed.
cp content file
lizard-trace -q --calls=buffer -o recordings/killed ./reads file 3000000 >out 2>err &
recorder=$!
sleep 1.5
kill -KILL $recorder
wait $recorder 2>/dev/null
timeout 5 dd if=content of=file bs=1 count=1 conv=notrunc status=none
ok $? "killed: nobody waits for it"
timeout -k 5 120 lizard verify recordings/killed >verify 2>&1
is "$? $(grep -c 'was killed' verify)" "0 1" "killed: it replays" || diag "$(tail -n 3 verify)"
[ "$(lizard dump --events recordings/killed | grep -c pread64)" -gt 1000 ]
ok $? "killed: with what was read"

# The recorder is stopped for so long that the kernel takes the lease away. What the program has read before, and the recorder has
# not, is not known then: the recording ends in front of it.
if [ -n "$LIZARD_LONG" ]; then
	rm -f file && truncate -s 800M file
	timeout -k 5 300 lizard-trace -q --calls=buffer -o recordings/lost ./reads file ahead >out 2>err &
	wait_until test -e ready
	recorder=$(pgrep -P $! | head -n 1)
	kill -STOP "$recorder"
	touch go
	timeout 200 python3 -c "
import os
f = os.open('file', os.O_WRONLY)
for at in range(0, 800 << 20, 65536):
    os.pwrite(f, b'x', at)"
	is $? 0 "lost: somebody writes to the file"
	kill -CONT "$recorder"
	wait
	like "$(cat err)" "recording ends here: .*lease-break-time" "lost: it is said" || diag "$(cat out err)"
	timeout -k 5 120 lizard verify recordings/lost >verify 2>&1
	like "$? $(tail -n 1 verify)" "^0 .*: clean: .*lease-break-time" "lost: what is there is right" || diag "$(tail -n 3 verify)"
fi

done_testing
