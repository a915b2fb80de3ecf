#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Filters of system calls that the program installs: they do what they do without a recorder, which is not subject to them.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
export LIZARD_TRACE_CHECK=1

replay_echo
gcc -O1 -w -pthread -o "$T/plain" "$LIZARD_SRC/tests/progs/trace/seccomp.c" &&
	lizard-cc -O1 -w -pthread -o "$T/markers" "$LIZARD_SRC/tests/progs/trace/seccomp.c"
ok $? "the program builds" || done_testing

same() { # PROGRAM OPTION WHAT
	local rec=$T/recordings/$1$2-$3
	local native=0
	# the shell would tell of the signal
	{ (ulimit -c 0; "$T/plain" "$3") >"$T/native" 2>/dev/null || native=$?; } 2>/dev/null
	timeout -k 5 100 lizard-trace -q "$2" -o "$rec" "$T/$1" "$3" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "$native $(cat "$T/native")" "$3, $1, $2: as without a recorder" || diag "$(cat "$T/err")"
	[ "$3" != late ] || like "$(cat "$T/err")" "goes on unrecorded" "... it was let go"
	timeout -k 5 100 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$3, $1, $2: verify is clean" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$rec"; }
}

for what in calls errors trap ignored blocked default kill kill-thread unknown thread tsync tsync-fails child strict; do
	same plain --calls=buffer $what
done
for what in errors trap kill thread child; do
	same markers --calls=stop $what
done
same plain --chaos=5 thread
same plain --follow=all child
same plain --follow=nobody child
same markers --max-size=1K late

# ---- programs of others ----
others() { # LABEL COMMAND...
	local label=$1 recs rec bad=
	shift
	"$@" >"$T/native" 2>/dev/null || { skip "$label" "it does not work here"; return; }
	for follow in "" --follow=all; do
		rec=$T/recordings/$label$follow
		timeout -k 5 100 lizard-trace -q --calls=buffer $follow -o "$rec" "$@" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "$label $follow: as without a recorder" || diag "$(cat "$T/err")"
	done
	is "$(grep seccomp "$T/err")" "" "$label: nothing is said of filters"
	recs=("$rec" "$rec"/processes/*)
	for one in "${recs[@]}"; do
		timeout -k 5 100 lizard verify "$one" >"$T/verify" 2>&1 || bad="$bad $one: $(tail -n 1 "$T/verify")"
	done
	is "$bad" "" "$label: ${#recs[@]} recordings replay"
}
has() { command -v "$1" >/dev/null && ldd "$(command -v "$1")" | grep -q libseccomp; }

printf '%s\n' '.TH X 1 2026-01-01' .SH NAME 'x \- a page' .SH DESCRIPTION 'It says' '.B something.' >"$T/x.1"
if has man; then
	others man man -P cat -l "$T/x.1"
else
	skip man "there is no man with filters"
fi
"$T/plain" write >"$T/filter"
if command -v bwrap >/dev/null; then
	others bwrap sh -c "exec bwrap --bind / / --dev-bind /dev /dev --proc /proc --seccomp 9 '$T/plain' inherited 9<'$T/filter'"
else
	skip bwrap "there is no bubblewrap"
fi

# What a debugger is told of it.
like "$(lizard dump --events "$T/recordings/plain--calls=buffer-kill")" "signal 31|SIGSYS" "the killing signal is an event"
timeout -k 5 100 "$echo" "$T/recordings/plain--calls=buffer-errors" >"$T/replayed" 2>&1
"$T/plain" errors >"$T/native"
is "$(cat "$T/replayed")" "$(cat "$T/native")" "errors: replay prints the same"
done_testing
