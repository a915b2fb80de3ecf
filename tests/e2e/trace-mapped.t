#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Shared mappings: written by the program, by its system calls, by other processes.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

replay_echo
lizard-cc -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/outside.c" -o "$T/outside" -lrt &&
	gcc -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/outside.c" -o "$T/other" -lrt
ok $? "builds" || done_testing

# replayed NAME: verifies it and compares what it prints with $T/out.
replayed() {
	timeout 120 "$echo" "$T/recordings/$1" >"$T/replayed" 2>"$T/verify"
	ok $? "$1: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	is "$(cat "$T/replayed")" "$(cat "$T/out")" "$1: replay prints the same"
}

# ---- by the program itself and by its system calls, while files grow and shrink ----

for how in gcc lizard-cc; do
	$how -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/mapped.c" -o "$T/mapped-$how" -lrt
	ok $? "builds with $how" || done_testing
	native=$("$T/mapped-$how" "$T/native-$how")
	like "$native" "^all is well" "$how: natively"
	for run in scan:0 scan:3 compare:0 auto:-; do
		dirty=${run%:*} interval=${run#*:}
		name=$how-$dirty-$interval
		[ "$interval" = - ] && interval= || interval="--checkpoint-interval $interval"
		rm -rf "$T/work"
		LIZARD_TRACE_CHECK=1 timeout -k 5 120 lizard-trace -q --dirty=$dirty $interval -o "$T/recordings/$name" "$T/mapped-$how" "$T/work" \
			>"$T/out" 2>"$T/err"
		status=$?
		if [ $dirty = scan ] && grep -q 'cannot scan for dirty pages' "$T/err"; then
			skip "$name" "not on this kernel"
			continue
		fi
		is "$status $(cat "$T/out")" "0 $native" "$name: recorded" || diag "$(cat "$T/err")"
		is "$(cat "$T/err")" "" "$name: nobody is warned of"
		replayed "$name"
	done
done

# ---- of /dev/zero: much that is never used is never read ----

lizard-cc -g -O1 "$LIZARD_SRC/tests/progs/trace/zeroes.c" -o "$T/zeroes"
ok $? "builds" || done_testing
for calls in buffer stop; do
	LIZARD_TRACE_CHECK=1 timeout -k 5 30 lizard-trace -q --calls=$calls -o "$T/recordings/zeroes-$calls" "$T/zeroes" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $("$T/zeroes")" "zeroes, $calls: recorded" || diag "$(cat "$T/err")"
	replayed zeroes-$calls
done

# ---- what children have inherited ----

lizard-cc -D_GNU_SOURCE -g -O1 "$LIZARD_SRC/tests/progs/trace/lent.c" -o "$T/lent"
ok $? "builds" || done_testing
for way in read-only made-writable then-read-only mapped-later by-descriptor unlinked sent sent-several; do
	for follow in "" "--follow all"; do
		rec=$T/recordings/lent-$way
		rm -rf "$rec"
		head -c 8M /dev/urandom >"$T/lent.bin"
		timeout -k 5 60 lizard-trace -q $follow -o "$rec" "$T/lent" $way "$T/lent.bin" 8388608 >"$T/out" 2>"$T/err"
		like "$? $(cat "$T/out")" "^0 $way: all is well" "$way${follow:+, $follow}: recorded" || diag "$(cat "$T/err")"
		replayed lent-$way
		[ $way = read-only ] || continue
		[ "$(stat -c %s "$rec/events")" -lt 100000 ]
		ok $? "$way${follow:+, $follow}: nothing is logged of what nobody can change" || diag "$(ls -l "$rec")"
	done
done

# ---- by others ----

# with NAME WHAT FILE OTHER: records `outside WHAT FILE` while `other OTHER FILE` runs outside.
with() {
	rm -f "$3.ready" "$3.pipe"
	timeout -k 5 60 lizard-trace -q -o "$T/recordings/$1" "$T/outside" "$2" "$3" >"$T/out" 2>"$T/err" &
	recorded=$!
	if [ -n "$4" ]; then
		wait_until test -e "$3.ready"
		"$T/other" "$4" "$3"
		is $? 0 "$1: the other one"
	fi
	wait $recorded
	is "$? $(cat "$T/out")" "0 x after some rounds: right" "$1: recorded" || diag "$(cat "$T/err")"
	replayed "$1"
}

# warned NAME TEXT: said once on stderr, and kept in the recording.
warned() {
	is "$(grep -c "$2.*shows after one of the next system calls" "$T/err") $(wc -l <"$T/err")" "1 1" "$1: warned of once" || diag "$(cat "$T/err")"
	like "$(lizard info "$T/recordings/$1" | grep '^outside')" "$2" "$1: lizard info tells"
	like "$(lizard info --json "$T/recordings/$1" | tr -d '\n' | sed 's/.*"outside": *\[//; s/\].*//')" "$2" "$1: so it does as JSON"
}

quiet() {
	is "$(cat "$T/err")$(lizard info "$T/recordings/$1" | grep '^outside')" "" "$1: nobody is warned of"
}

for where in "$T/file" "/dev/shm/lizard-test-$$"; do
	kind=$(basename "$where" "-$$")
	fresh() {
		rm -f "$where" && head -c 8192 /dev/zero >"$where"
	}
	fresh && with "$kind-write" wait "$where" write
	warned "$kind-write" "$where: written by another process"
	fresh && with "$kind-store" wait "$where" store
	warned "$kind-store" "$where: shared with process [0-9]* .other."
	fresh && with "$kind-brief" wait "$where" brief
	warned "$kind-brief" "$where: opened for writing by another process"
	fresh && with "$kind-renamed" wait-renamed "$where" stay
	warned "$kind-renamed" "$where: shared with process [0-9]* .other."
	fresh && with "$kind-unlinked-write" wait-unlinked "$where" write
	warned "$kind-unlinked-write" "$where .deleted.: written by another process"
	fresh && with "$kind-unlinked-stay" wait-unlinked "$where" stay
	warned "$kind-unlinked-stay" "$where .deleted.: shared with process [0-9]* .other."
	fresh && with "$kind-unlinked-private" wait-unlinked-private "$where" write
	warned "$kind-unlinked-private" "$where .deleted.: written by another process"
	fresh && with "$kind-private" wait-private "$where" write
	warned "$kind-private" "$where: written by another process"
	fresh && with "$kind-private-alone" alone-private "$where" open
	quiet "$kind-private-alone"
	fresh && with "$kind-alone" alone "$where" ""
	quiet "$kind-alone"
	fresh && with "$kind-look" alone "$where" look
	quiet "$kind-look"
	rm -f "$where" "$where.ready" "$where.pipe"
done

cd "$T" || exit 1

# ---- by one who has mapped it before, and has closed it ----

before() { # NAME FILE
	head -c 8192 /dev/zero >"$2"
	rm -f "$2.ready" "$2.mapped"
	timeout 60 "$T/other" before "$2" &
	other=$!
	wait_until test -e "$2.mapped"
	with "$1" wait-reading "$2" ""
	wait $other
	is $? 0 "$1: the other one"
	warned "$1" "$2: shared with process [0-9]* .other."
}
before file-before "$T/before"
# an overlay does not know of such a mapping
unmount_at_end "$PWD/overlay/all" "$PWD/overlay"
if mkdir overlay && mount -t tmpfs overlay overlay 2>/dev/null; then
	mkdir overlay/low overlay/up overlay/work overlay/all
	if mount -t overlay -o lowerdir=overlay/low,upperdir=overlay/up,workdir=overlay/work overlay overlay/all 2>/dev/null; then
		before overlay-before overlay/all/file
		umount overlay/all
	else
		skip "overlay-before" "no permission to mount one"
	fi
	umount overlay
else
	skip "overlay-before" "no permission to mount one"
fi

# ---- memory that another process has made and sent: the kernel does not count that one among those who have it open ----

gcc -g -O1 -w "$LIZARD_SRC/tests/progs/trace/sent_memfd.c" -o "$T/sent_memfd"
ok $? "memfd: builds"
for how in read write; do
	rm -f sent.socket
	timeout 60 "$T/sent_memfd" sent.socket own &
	other=$!
	wait_until test -e sent.socket
	timeout -k 5 60 lizard-trace -q -o "$T/recordings/memfd-$how" "$T/sent_memfd" sent.socket $how >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 0 x" "memfd-$how: recorded" || diag "$(cat "$T/err")"
	wait $other
	is $? 0 "memfd-$how: the other one"
	replayed memfd-$how
	warned memfd-$how "/memfd:sent .deleted.: shared with process [0-9]* .sent_memfd."
done

id=$(ipcmk -M 8192 2>/dev/null | sed 's/.*: //')
if [ -n "$id" ]; then
	with segment-store wait "$id" store
	warned segment-store "System V shared memory $id: shared with process [0-9]* .other."
	ipcrm -m "$id"
	id=$(ipcmk -M 8192 | sed 's/.*: //')
	with segment-alone alone "$id" ""
	quiet segment-alone
	ipcrm -m "$id"
else
	skip "System V segments" "none can be made"
fi

timeout -k 5 60 lizard-trace -q -o "$T/recordings/child" "$T/outside" child >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "0 x after some rounds: right" "child: recorded" || diag "$(cat "$T/err")"
replayed child
warned child "shared memory without a name: shared with process [0-9]* .outside.*, which is not recorded"

# ---- a child that is not recorded stores, and the program makes no system call: what follows is not faithful, and it is said ----
for how in 0 20 200; do
	timeout -k 5 60 lizard-trace -q -o "$T/recordings/polled-$how" "$T/outside" polled "$how" >"$T/out" 2>"$T/err"
	is $? 0 "polled-$how: recorded"
	warned "polled-$how" "shared memory without a name: shared with process [0-9]* .outside.*, which is not recorded"
	like "$(cat "$T/err")" "--follow all records both" "polled-$how: and what helps"
	timeout 60 lizard verify "$T/recordings/polled-$how" >"$T/verify" 2>&1
	status=$?
	[ $status = 0 ] || grep -q "The probable reason: .*shared with them" "$T/verify"
	ok $? "polled-$how: where replay diverges that is named as the reason" || diag "$status $(cat "$T/verify")"
done
timeout -k 5 60 lizard-trace -q --follow all -o "$T/recordings/polled-all" "$T/outside" polled 20 >"$T/out" 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "polled: not with --follow all"
timeout 60 lizard verify -a "$T/recordings/polled-all" >"$T/verify" 2>&1
ok $? "polled: which is faithful" || diag "$(cat "$T/verify")"
for how in exec spawn; do
	timeout -k 5 60 lizard-trace -q -o "$T/recordings/polled-$how" "$T/outside" polled $how >"$T/out" 2>"$T/err"
	is $? 0 "polled-$how: recorded"
	quiet "polled-$how"
done
# ---- large ones, of which little is there ----
lizard-cc -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/holes.c" -o "$T/holes"
ok $? "holes: builds" || done_testing
for kind in memfd file memory segment; do
	case $kind in
	memory | segment)
		# without a name, only who may follow these links can tell
		sh -c 'head -c 1 "/proc/$$/map_files/$(sed -n "1s/ .*//p" /proc/$$/maps)"' >"$T/log" 2>&1 || {
			skip "holes, $kind" "not by this user"
			continue
		}
		;;
	esac
	native=$(timeout 5 "$T/holes" $kind "$T/holes.bin")
	for follow in "" "--follow all"; do
		rec=holes-$kind${follow:+-all}
		LIZARD_TRACE_CHECK=1 timeout -k 5 20 lizard-trace -q $follow --checkpoint-interval 0 -o "$T/recordings/$rec" "$T/holes" $kind "$T/holes.bin" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 $native" "$rec: recorded, and the holes stay" || diag "$(cat "$T/err")"
		replayed $rec
		[ "$(du -sk "$T/recordings/$rec" | cut -f 1)" -lt 20000 ]
		ok $? "$rec: it takes no room"
	done
done

# ---- parts of a large file ----
lizard-cc -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/windows.c" -o "$T/windows"
ok $? "parts: builds" || done_testing
head -c 24M /dev/urandom >"$T/random.bin"
for parts in "1 1 p look" "4 1 s look" "20 1 p" "20 1 s" "8 512 s"; do
	rec=parts-$(echo $parts | tr ' ' -)
	cp "$T/random.bin" "$T/parts.bin"
	native=$("$T/windows" "$T/parts.bin" $parts)
	cp "$T/random.bin" "$T/parts.bin"
	LIZARD_TRACE_CHECK=1 timeout -k 5 60 lizard-trace --checkpoint-interval 0 -o "$T/recordings/$rec" "$T/windows" "$T/parts.bin" $parts >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $native" "$rec: recorded" || diag "$(cat "$T/err")"
	replayed $rec
	kb=$(du -sk "$T/recordings/$rec" | cut -f 1)
	case $parts in
	*look) [ "$kb" -lt 9000 ] ;;
	*) [ "$kb" -lt 110000 ] ;;
	esac
	ok $? "$rec: what can be seen is copied" || diag "$kb KB"
	said=$(sed -n 's/.* after .* s, \([0-9]*\)[.0-9]* MiB on disk.*/\1/p' "$T/err")
	# of a copy that others share, its share; one of the links is the store's
	kb=$(find "$T/recordings/$rec" -printf '%y %k %n\n' | awk '{ n += $1 == "f" && $3 > 1 ? $2 / ($3 - 1) : $2 } END { printf "%d", n }')
	[ "${said:-0}" -ge $((kb / 1024 - 1)) ] && [ "$said" -le $((kb / 1024 + 1)) ]
	ok $? "$rec: the last line counts it" || diag "$kb KB, $(cat "$T/err")"
	lizard info --check "$T/recordings/$rec" >"$T/log" 2>&1
	ok $? "$rec: the copies are as they were written" || diag "$(cat "$T/log")"
done

# ---- mapped privately: neither what is added to a mapping nor what others change is read whole ----
lizard-cc -D_GNU_SOURCE -w -g -O1 "$LIZARD_SRC/tests/progs/trace/private_holes.c" -o "$T/private_holes"
ok $? "private holes: builds" || done_testing
for kind in memfd file both; do
	native=$(timeout 5 "$T/private_holes" $kind "$T/holes.bin") || {
		skip "private holes, $kind" "no file can be so large here"
		continue
	}
	for run in scan:0 compare:0 auto:-; do
		interval=${run#*:} rec=private-holes-$kind-${run%:*}
		[ "$interval" = - ] && interval= || interval="--checkpoint-interval $interval"
		LIZARD_TRACE_CHECK=1 timeout -k 5 20 lizard-trace -q --dirty=${run%:*} $interval -o "$T/recordings/$rec" "$T/private_holes" $kind "$T/holes.bin" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 $native" "$rec: recorded" || diag "$(cat "$T/err")"
		replayed $rec
		[ "$(du -sk "$T/recordings/$rec" | cut -f 1)" -lt 20000 ]
		ok $? "$rec: it takes no room"
	done
done

# ---- somebody opens a file: that is no reason to compare other memory ----
timeout -k 5 30 lizard-trace -q --follow all -o "$T/recordings/compared" "$T/holes" compared "$T/compared.bin" >"$T/out" 2>"$T/err" &
recorded=$!
wait_until test -e "$T/compared.bin.ready"
cat "$T/compared.bin" >"$T/log"
touch "$T/compared.bin.opened"
wait $recorded
is $? 0 "compared: calls stay fast" || diag "$(cat "$T/err")"

# ---- code with markers ----
for cc in lizard-cc gcc; do
	$cc -g -O1 -w "$LIZARD_SRC/tests/progs/trace/shared_code.c" -o "$T/code-$cc"
	native=$("$T/code-$cc" 2>&1)
	like "$native" "200000 200000" "code, $cc: natively"
	LIZARD_TRACE_CHECK=1 timeout -k 5 60 lizard-trace -q -o "$T/recordings/code-$cc" "$T/code-$cc" >"$T/out" 2>&1
	is "$? $(cat "$T/out")" "0 $native" "code, $cc: recorded"
	timeout 60 lizard verify "$T/recordings/code-$cc" >"$T/verify" 2>&1
	like "$? $(cat "$T/verify")" "^0 .*: clean: [^;]*$" "code, $cc: verify is clean, to the end"
done

# ---- a file that nobody has open for writing: other processes are not looked through at each mapping ----
if ! command -v strace >/dev/null || ! strace -o "$T/strace" true 2>"$T/err"; then
	skip "mapped often" "no strace, or it may not trace"
else
	gcc -O1 -w -o "$T/mapped_often" "$LIZARD_SRC/tests/progs/trace/mapped_often.c"
	ok $? "mapped often: builds"
	head -c 8192 /dev/zero | tr '\0' a >"$T/often"
	strace -qq -e trace=open,openat -o "$T/strace" lizard-trace -q -o "$T/recordings/often" "$T/mapped_often" "$T/often" 300 >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out" "$T/err")" "0 $("$T/mapped_often" "$T/often" 300)" "mapped often: recorded"
	looks=$(grep -c "/proc/$$/maps" "$T/strace")
	ok $((looks > 30)) "mapped often: the maps of another process are not read each time" || diag "$looks times"
	timeout 60 lizard verify "$T/recordings/often" >"$T/verify" 2>&1
	ok $? "mapped often: verify is clean" || diag "$(tail -n 5 "$T/verify")"
fi

# ---- the recorder's own memory in the program ----
lizard-cc -g -O1 -w "$LIZARD_SRC/tests/progs/trace/own_pages.c" -o "$T/own_pages"
ok $? "own pages: builds"
own() { # LABEL ARGUMENTS...
	label=$1
	shift
	LIZARD_TRACE_CHECK=1 timeout -k 5 60 lizard-trace -q -o "$T/recordings/own-$label" "$T/own_pages" "$@" >"$T/out" 2>"$T/err"
	recorded=$?
	timeout 60 lizard verify "$T/recordings/own-$label" >"$T/verify" 2>&1
	ok $? "own pages, $label: verify is clean" || diag "$(tail -n 5 "$T/verify")"
}
# as if nothing were there, but that nothing can be put there
for where in "" stub; do
	own "${where:-ring}" $where
	is "$recorded $(tr '\n' ' ' <"$T/out")" "0 munmap: done mprotect: ENOMEM madvise: ENOMEM mremap: EFAULT mremap to it: ENOMEM mmap: ENOMEM mmap if free: EEXIST shmat: ENOMEM munmap: done below: ENOMEM above: ENOMEM 144 " \
		"own pages, ${where:-ring}: they stay, and the program gets errors" || diag "$(cat "$T/err")"
	is "$(sed 's/ over memory of the recorder is not supported: the program gets//' "$T/err" | tr '\n' ' ')" \
		"lizard: mremap ENOMEM lizard: mmap ENOMEM lizard: mmap with MAP_FIXED_NOREPLACE EEXIST lizard: shmat ENOMEM " "own pages, ${where:-ring}: what is refused is named"
done
# where programs have fixed addresses the recorder has nothing
for at in 0x10000000 0x68000000 0x68800000 0x70000000 0x100000000 0x200000000000; do
	own $at $at
	is "$recorded $(cat "$T/out" "$T/err")" "0 $("$T/own_pages" $at)" "own pages: none at $at"
done
done_testing
