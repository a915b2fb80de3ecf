#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A recording from a stranger, in which machine code is put where replay's stub is, through which Lizard makes system calls
# in the replayed process. The code makes a file, or starts a shell that does. No command runs it.
. "$(dirname "$0")/../lib/tap.sh"

forge=$LIZARD_BUILD/tests/forge/forge
watch=$LIZARD_BUILD/tests/forge/watch-calls
"$watch" -r . true 2>"$T/err" || skip_all "$(cat "$T/err")"

lizard-cc -g -O0 -o "$T/prog" "$LIZARD_SRC/tests/progs/fuzz/small.c" &&
	lizard-trace -q --checkpoint-interval 2 -o "$T/plain" "$T/prog" >"$T/out" &&
	lizard-trace -q --flow=hash -o "$T/hashed" "$T/prog" >"$T/out"
ok $? "a harmless program is recorded" || done_testing

# alone NAME COMMAND: in an empty directory of its own
alone() {
	mkdir -p "$T/here/$1" && cd "$T/here/$1" || return
	shift
	timeout 60 "$@" >"$T/out" 2>&1 </dev/null
}

ways="write-creat write-vfork ring-creat meta-creat move hashed-creat hashed-vfork"
commands="verify packed dump check stock patched"
run() { # WAY COMMAND
	rec=$T/$1 name=$1-$2
	case $2 in
	verify) alone "$name" lizard verify "$rec" ;;
	packed) alone "$name" lizard verify "$rec.lizard" ;;
	dump) alone "$name" lizard dump "$rec" ;;
	check) alone "$name" lizard info --check "$rec" ;;
	*) alone "$name" lizard-gdb "--$2" "$rec" -nx -batch -ex continue -ex reverse-continue ;;
	esac
}

for way in $ways; do
	base=plain how=$way
	case $way in
	hashed-*) base=hashed how=write-${way#*-} ;;
	esac
	what=$("$forge" "$T/$base" "$T/$way" $(echo "$how" | tr - ' ') 2>&1)
	ok $? "$way: $what" || continue
	lizard pack -o "$T/$way.lizard" "$T/$way" 2>/dev/null
	run $way verify
	is $? 1 "$way: verify refuses it" || diag "$(cat "$T/out")"
	for command in $commands; do
		[ $command != patched ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || continue
		run $way $command
	done
	"$watch" -r "$T/$way" lizard verify "$T/$way" >"$T/out" 2>&1
	is "$(grep '^replayed process' "$T/out")" "" "$way: the stub is left alone" || diag "$(cat "$T/out")"
done
sleep 1 # a shell may have been started
for way in $ways; do
	is "$(cd "$T/here" && find . -path "./$way-*" -type f)" "" "$way: no file was made"
done
done_testing
