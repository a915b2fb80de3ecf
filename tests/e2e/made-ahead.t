#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Recordings of followed processes are made before the processes are there: they are used, and nothing stays behind;
# what a killed recorder leaves is no recording.
. "$(dirname "$0")/../lib/tap.sh"

# It starts so many processes that recordings are made ahead, and waits for the next one with the shell's own commands.
cat >"$T/script" <<'END'
next=$1/processes/.next
for i in 1 2 3 4 5 6 7 8; do
	/bin/true
done
tries=0
while [ ! -e "$next"/*/meta.tmp ] && [ $tries -lt 2000000 ]; do
	tries=$((tries + 1))
done
cd "$next"
set -- *
echo $1
eval "$DO"
/bin/true
/bin/true
END
record() { # NAME WHAT
	DO=$2 timeout -k 5 120 lizard-trace -q --follow all -o "$T/recordings/$1" sh "$T/script" "$T/recordings/$1" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/err")" "0 " "$1: recorded, nothing on stderr"
	like "$(cat "$T/out")" '^[0-9]+$' "$1: there is one that waits"
}
content() { # NAME
	timeout -k 5 120 lizard verify -a "$T/recordings/$1" >"$T/verify" 2>&1
	is "$? $(grep -c ': clean: ' "$T/verify")" "0 11" "$1: all processes verify" || diag "$(cat "$T/verify")"
	is "$(grep -c 'not complete' "$T/verify")" 0 "$1: all are complete"
	is "$(lizard ps --json "$T/recordings/$1" | grep -o '"pid":' | wc -l)" 11 "$1: ps lists them and nothing else"
}

# ---- it is used ----
record used ': >$1/mark'
content used
processes=$T/recordings/used/processes
is "$(ls "$processes"/*/mark | wc -l)" 1 "used: a process has the folder that was there before it"
is "$(ls -A "$processes" | grep -vc '^[0-9]*$')" 0 "used: nothing stays behind" || diag "$(ls -A "$processes")"
is "$(ls -A "$processes"/* | grep -E -c 'meta.tmp|markers-next')" 0 "used: nor in a recording" || diag "$(ls -A "$processes"/*)"
is "$(stat -c %a "$processes"/* | sort -u)" 700 "used: nobody else may look there"

# ---- ext4 is told that recordings are not related ----
spread() { # DIR
	case $(stat -f -c %T "$T"):$(command -v lsattr) in
	ext*:/*) like "$(lsattr -d "$1" | cut -d' ' -f1)" T "spread: $(basename "$1")" ;;
	*) skip "spread: $(basename "$1")" "not on ext4, or no lsattr" ;;
	esac
}
new=$T/new/recordings
LIZARD_TRACE_DIR=$new lizard-trace -q --follow all sh -c \
	'for i in 1 2 3 4 5 6 7 8; do /bin/true; done; lsattr -d "$1"/sh-1/processes/.next >"$2"' sh "$new" "$T/next" >"$T/out" 2>&1
is "$?" 0 "spread: recorded" || diag "$(cat "$T/out")"
spread "$new"
spread "$new/sh-1/processes"
[ ! -s "$T/next" ] || like "$(cut -d' ' -f1 "$T/next")" T "spread: .next"

# ---- whoever waits with it is killed ----
record killed 'kill -9 $1'
content killed
is "$(ls -A "$T/recordings/killed/processes/.next" | wc -l)" 1 "killed: what it has made stays"
lizard pack -o "$T/pack" "$T/recordings/killed" >"$T/out" 2>&1
is "$?" 0 "killed: is packed" || diag "$(cat "$T/out")"
lizard unpack "$T/pack" "$T/recordings/unpacked" >"$T/out" 2>&1
is "$? $(ls -A "$T/recordings/unpacked/processes" | grep -c next)" "0 0" "killed: the pack is without it" || diag "$(cat "$T/out")"
content unpacked
lizard rm "$T/recordings/killed" >"$T/out" 2>&1
is "$? $(ls -d "$T/recordings/killed" 2>/dev/null)" "0 " "killed: goes as a whole" || diag "$(cat "$T/out")"

# ---- there cannot be one ----
DO= timeout -k 5 120 lizard-trace -q --follow all -o "$T/recordings/none" \
	sh -c '/bin/true; : >"$1/processes/.next"; for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done' sh "$T/recordings/none" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "none: recorded, nothing on stderr"
rm -f "$T/recordings/none/processes/.next"
content none

done_testing
