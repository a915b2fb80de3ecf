#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a stranger's recording holds beside plain files, and what its `meta` says of itself: nothing outside it is read,
# packed, opened or removed for that.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

damage=$(tool replay-damage)
ok $? "the tool builds" || { diag "$(cat "$T/replay-damage.log")"; done_testing; }

printf '#include <unistd.h>\nint main(void) { return write(1, "hello\\n", 6) != 6; }\n' >"$T/prog.c"
lizard-cc -g -o "$T/prog" "$T/prog.c" && lizard-trace -q -o "$T/rec" "$T/prog" >/dev/null
ok $? "a program is recorded" || done_testing
mkdir "$T/mine" && echo secret >"$T/mine/key" && cp -r "$T/rec" "$T/mine/other"
sed -i 's|^arg .*|arg not-for-strangers|' "$T/mine/other/meta"

# ---- numbers ----

for tid in 2147483648 4294967295 -1; do
	rm -rf "$T/lie" && cp -r "$T/rec" "$T/lie" && sed -i "s|^tid .*|tid $tid|" "$T/lie/meta"
	lizard info "$T/lie" >"$T/out" 2>&1
	is "$? $(grep -c 'value of .tid. makes no sense' "$T/out")" "1 1" "$tid is no number of a process" || diag "$(cat "$T/out")"
done

# GDB itself aborts at a process 0, and leaves a core file.
rm -rf "$T/lie" && cp -r "$T/rec" "$T/lie" && sed -i "s|^tid .*|tid 0|" "$T/lie/meta"
for front_end in --stock --patched; do
	[ $front_end = --stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || continue
	(cd "$T" && timeout 20 lizard-gdb $front_end -nx -batch -ex continue lie) >"$T/out" 2>&1 </dev/null
	is "$? $(grep -c 'does not tell its process' "$T/out")" "1 1" "0 is none for GDB ($front_end)" || diag "$(cat "$T/out")"
done

# ---- links ----

lie() { # a copy of the recording, to be changed
	rm -rf "$T/lie" && cp -r "$T/rec" "$T/lie"
}
for file in meta events checkpoints; do
	lie && mv "$T/lie/$file" "$T/mine/$file" && ln -s "../mine/$file" "$T/lie/$file"
	timeout 20 lizard verify "$T/lie" >"$T/out" 2>&1
	is $? 1 "a link in place of $file is not opened"
done
lie && ln -s "$T/mine" "$T/lie/processes"
lizard ps "$T/lie" >"$T/out" 2>&1
is "$? $(grep -c not-for-strangers "$T/out")" "1 0" "processes: a link leads to no other recordings" || diag "$(cat "$T/out")"
lizard pack --no-sources -o "$T/packed.lizard" "$T/lie" >"$T/out" 2>&1
[ $? = 1 ] && [ ! -e "$T/packed.lizard" ]
ok $? "nor are those packed" || diag "$(cat "$T/out")"
lie && mv "$T/lie/files" "$T/mine/files" && ln -s "$T/mine/files" "$T/lie/files" && echo secret >"$T/mine/files/key"
lizard pack --no-sources -o "$T/packed.lizard" "$T/lie" >"$T/out" 2>&1
[ $? = 1 ] && [ ! -e "$T/packed.lizard" ]
ok $? "files: nor what a link leads to" || diag "$(cat "$T/out")"
timeout 20 lizard verify "$T/lie" >"$T/out" 2>&1
is "$? $(grep -c 'files. is not a directory' "$T/out")" "1 1" "nor is that mapped" || diag "$(cat "$T/out")"
lizard rm "$T/lie/" >"$T/out" 2>&1
[ -e "$T/mine/files/key" ] && [ ! -e "$T/lie" ]
ok $? "rm removes the link, not what it leads to" || diag "$(cat "$T/out")"

# ---- files of this machine that it names ----

watched() { # NAME COMMAND...: which neither hangs nor opens the FIFO that the recording names
	rm -f "$T/fifo" "$T/opened"
	mkfifo "$T/fifo"
	(: >"$T/fifo"; : >"$T/opened") &
	waiting=$!
	called=$1
	shift
	(cd "$T" && timeout 60 "$@") </dev/null >"$T/out" 2>&1
	status=$?
	[ $status != 124 ] && [ ! -e "$T/opened" ]
	ok $? "$called" || diag "status $status: $(cat "$T/out")"
	kill $waiting 2>/dev/null
	wait $waiting 2>/dev/null
}
lie && sed -i "s|^program .*|program $T/fifo|; s|^build-id .*|build-id |" "$T/lie/meta"
for i in 0 1 2 3; do
	rm -rf "$T/named-$i" && (cd "$T" && "$damage" rec "named-$i" path $i "$T/fifo") >"$T/log" 2>&1
done
for front in --stock --patched; do
	[ $front = --stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || { skip "$front" "it is not built"; continue; }
	watched "$front: a program that is a FIFO" lizard-gdb $front lie -nx -batch -ex when
	for i in 0 1 2 3; do
		[ -e "$T/named-$i/meta" ] || continue
		watched "$front: a mapped file that is a FIFO" lizard-gdb $front "named-$i" -nx -batch -ex 'info sharedlibrary' -ex next
	done
done

# ---- what `prune` believes ----

for n in 1 2 3; do
	cp -r "$T/rec" "$LIZARD_TRACE_DIR/mine-$n"
	cp -r "$T/rec" "$LIZARD_TRACE_DIR/odd-$n"
	sed -i 's|^start-time .*|start-time 9999999999|' "$LIZARD_TRACE_DIR/odd-$n/meta"
	touch -d '2 days ago' "$LIZARD_TRACE_DIR/odd-$n/meta"
done
lizard prune --keep 3 >"$T/out"
is "$(grep -c odd- "$T/out") $(grep -c mine- "$T/out")" "3 0" "a recording does not stay newest by saying so" || diag "$(cat "$T/out")"
cp -r "$T/rec" "$LIZARD_TRACE_DIR/odd-1" && truncate -s 100T "$LIZARD_TRACE_DIR/odd-1/files/hole" 2>/dev/null ||
	truncate -s 8T "$LIZARD_TRACE_DIR/odd-1/files/hole"
touch "$LIZARD_TRACE_DIR/odd-1/meta" && sed -i 's|^start-time .*|start-time 9999999999|' "$LIZARD_TRACE_DIR/odd-1/meta"
lizard prune --max-size 1G >"$T/out"
is "$(grep -c mine- "$T/out")" 0 "a hole makes no room for itself" || diag "$(cat "$T/out")"
done_testing
