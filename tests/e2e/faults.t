#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Hostile conditions, for one thread, several, and several processes: the program is killed, a disk, a file or memory is full.
# It is said, the program does what it does without Lizard, and what was recorded replays.
. "$(dirname "$0")/../lib/tap.sh"

lizard-cc -g -O1 -pthread "$LIZARD_SRC/tests/progs/trace/rounds.c" -o "$T/rounds"
ok $? "builds" || done_testing

opens() { # LABEL DIR
	timeout -k 5 200 lizard verify -a "$2" >"$T/verify" 2>&1
	# processes of which nothing was written yet have nothing to verify
	is "$(grep -vc ': clean:\|not complete\|has no checkpoint\|no recording' "$T/verify") $(grep -c ': clean:' "$T/verify" | sed 's/^[1-9].*/some/')" \
		"0 some" "$1: it replays" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$2"; }
}

# limited LABEL MODE WANTED COMMAND...: the output and the status are as natively, and WANTED is said.
limited() {
	local label=$1 mode=$2 wanted=$3
	shift 3
	timeout -k 5 100 "$@" "$T/rounds" "$mode" 200 >"$T/out" 2>"$T/err"
	is "$? $(sort "$T/out" | md5sum)" "4 $(sort "$T/native-$mode" | md5sum)" "$label: the program is as without Lizard" || diag "$(tail -n 5 "$T/err")"
	like "$(cat "$T/err")" "$wanted" "$label: it is said"
}
has_worked() { [ "$(wc -l <"$T/out")" -ge 20 ]; }
nobody_left() { ! pgrep -f "^$T/rounds" >/dev/null; }

# as much memory as lets the tool itself start; the program lifts the limit for itself
least=5000
[ "$LIZARD_SANITIZE" = 1 ] ||
	until [ $least -gt 1000000 ] || (ulimit -v $least; lizard-trace --version) >/dev/null 2>&1; do least=$((least + 500)); done

for mode in single threads tree; do
	follow=
	[ $mode != tree ] || follow="--follow all"
	"$T/rounds" $mode 200 >"$T/native-$mode"
	is "$? $(wc -l <"$T/native-$mode")" "4 200" "$mode: natively"

	: >"$T/out"
	lizard-trace -q $follow -o "$T/recordings/killed-$mode" "$T/rounds" $mode 100000 >"$T/out" 2>"$T/err" &
	tracer=$!
	wait_until has_worked
	kill -9 "$(pgrep -P $tracer -f "^$T/rounds" | head -n 1)"
	wait $tracer
	is $? 137 "$mode killed: the status"
	wait_until nobody_left
	ok $? "$mode killed: nobody is left"
	opens "$mode killed" "$T/recordings/killed-$mode"

	limited "$mode, file size" $mode "recording ends here: .*File too large|unrecorded: .*File too large" \
		bash -c 'ulimit -f 2300; exec "$@"' - lizard-trace -q $follow --checkpoint-interval 0 --full-every 1 -o "$T/recordings/fsize-$mode"
	opens "$mode, file size" "$T/recordings/fsize-$mode"

	if [ "$LIZARD_SANITIZE" != 1 ]; then
		limited "$mode, memory" $mode "recording ends here|goes on unrecorded|end of the recording is missing" \
			bash -c "ulimit -S -v $((least + 7000)); exec \"\$@\"" - lizard-trace -q $follow -o "$T/recordings/memory-$mode"
	else
		skip "$mode, memory" "the sanitizer reserves more"
	fi

	if small_disk 5m; then
		limited "$mode, full disk" $mode "recording ends here: .*No space left|unrecorded: .*No space left" \
			lizard-trace -q $follow --checkpoint-interval 0 --full-every 1 -o "$T/small/full"
		opens "$mode, full disk" "$T/small/full"
		umount "$T/small"
	else
		skip "$mode, full disk" "no permission to mount a small one"
	fi
done

# ---- as little memory as lets the tool itself start ----
if [ "$LIZARD_SANITIZE" != 1 ]; then
	(ulimit -v $((least + 500)); lizard-trace -q -o "$T/recordings/none" "$T/rounds" single 20) >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "125 " "next to no memory: the program is not run"
	like "$(cat "$T/err")" "^lizard-trace: .*(memory|unavailable)" "it is said"
	[ ! -e "$T/recordings/none" ]
	ok $? "and nothing is left that cannot be replayed" || diag "$(ls -lR "$T/recordings/none")"
	lizard-trace -q "$T/rounds" single 20 >"$T/out"
	(ulimit -v $((least + 10500)); lizard-trace -q "$T/rounds" single 20) >"$T/out" 2>"$T/err"
	lizard info rounds >"$T/out" 2>&1
	ok $? "nor does the link to the latest lead to it" || diag "$(cat "$T/out" "$T/err")"
else
	skip "next to no memory" "the sanitizer reserves more"
fi

# ---- libarchive ends its process where memory is short ----
cat >"$T/gives-up.c" <<'END'
#include <stdlib.h>
int archive_write_header(void *archive, void *entry)
{
	if (getenv("CRASHES"))
		*(volatile int *)8 = 1;
	exit(1);
}
END
cp "$LIZARD_SRC/tests/progs/trace/rounds.c" "$T/rounds.c"
(cd "$T" && gcc -shared -fPIC -o gives-up.so gives-up.c && lizard-cc -g -O1 -pthread rounds.c -o with-sources)
"$T/with-sources" single 20 >"$T/native"
gives_up() { # HOW ENVIRONMENT WHAT FILE OPTION...
	local how=$1 env=$2 what=$3 file=$4 rec=$T/recordings/gives-up-$1-$3
	shift 4
	(
		ulimit -c 0
		exec env LD_PRELOAD="$T/gives-up.so" ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 $env \
			lizard-trace -q -o "$rec" "$@" "$T/with-sources" single 20 >"$T/out" 2>"$T/err"
	)
	is "$? $(cat "$T/out")" "4 $(cat "$T/native")" "libarchive $how, $what: the status is the program's"
	is "$(grep -c "^lizard: the $what.* not .*: memory may be short" "$T/err")" 1 "... it is said" || diag "$(cat "$T/err")"
	is "$(ls "$T"/$file 2>/dev/null)" "" "... and nothing half is left"
	opens "libarchive $how, $what" "$rec"
}
for mode in exits: crashes:CRASHES=1; do
	gives_up ${mode%:*} "${mode#*:}" sources "recordings/gives-up*/sources*"
	gives_up ${mode%:*} "${mode#*:}" recording "packs/*" --sources=no --pack "$T/packs"
done

# ---- killed while the recorder does something with the first of several threads ----
lizard-cc -g -O0 -pthread "$LIZARD_SRC/tests/progs/trace/shotdown.c" -o "$T/shotdown" || diag "shotdown does not build"
shoot() { # TIMES MICROSECONDS STEP MEGABYTES WHAT
	for i in $(seq "$1"); do
		rec=$T/recordings/shot
		rm -rf "$rec" "$T/status"
		# a recorder that has to be killed must not look like the program that was
		timeout -k 5 60 sh -c 'lizard-trace -q -o "$@"; echo $? >"$0"' "$T/status" "$rec" "$T/shotdown" $(($2 + i * $3)) "$4" >"$T/out" 2>"$T/err"
		got="$(cat "$T/status") $(cat "$T/err")"
		timeout -k 5 60 lizard verify "$rec" >"$T/verify" 2>&1
		got="$got $?"
		[ "$got" = "137  0" ] || break
	done
	is "$got" "137  0" "$5 killed at $1 instants: it ends, says nothing, and replays" ||
		{ diag "instant $i: $(cat "$T/verify")"; replay_hint "$rec"; }
}
shoot 40 20000 1531 0 "several threads"
shoot 24 290000 1777 2000 "several threads that take long to go"
done_testing
