#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Recordings from a stranger: well-formed ones by fixed seeds, with values that could do harm. Every command ends in time,
# by itself; the replayed process makes no system call but those that Lizard makes for it, and no file appears.
# 60 of them, with GDB for each seventh, of each kind; with LIZARD_LONG=1 2,000, all with GDB. LIZARD_SEEDS=N tries N of them, from
# LIZARD_FUZZ_FROM on.
. "$(dirname "$0")/../lib/tap.sh"

forge=$LIZARD_BUILD/tests/forge/forge
watch=$LIZARD_BUILD/tests/forge/watch-calls
"$watch" -r . true 2>"$T/err" || skip_all "$(cat "$T/err")"
progs=$LIZARD_SRC/tests/progs
seeds=${LIZARD_SEEDS:-60}
gdb_each=7
[ -z "$LIZARD_LONG" ] || { seeds=${LIZARD_SEEDS:-2000} gdb_each=1; }
from=${LIZARD_FUZZ_FROM:-0}
fronts=--stock
[ ! -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || fronts="--stock --patched"
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1

# record NAME PROGRAM ARGS -- OPTIONS
record() {
	local name=$1 prog=$2 args=()
	shift 2
	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	shift
	timeout -k 5 60 lizard-trace -q --checkpoint-interval 2 --full-every 4 "$@" -o "$T/whole/$name" "$T/$prog" "${args[@]}" >"$T/out" 2>"$T/err"
	ok $? "$name: records" || diag "$(tail -n 3 "$T/err")"
	timeout 60 lizard verify -a "$T/whole/$name" >"$T/out" 2>"$T/err"
	ok $? "$name: is whole" || diag "$(cat "$T/out" "$T/err")"
}

mkdir -p "$T/whole"
for prog in fuzz/small fuzz/threads trace/lastpart trace/leased_reads forge/shared forge/signals forge/processes; do
	lizard-cc -D_GNU_SOURCE -g -O1 -pthread -o "$T/${prog#*/}" "$progs/$prog.c" 2>"$T/cc.log" ||
		diag "$(cat "$T/cc.log")"
done
record plain small --
record threads threads --
record shared shared --
record signals signals --
record hashed threads -- --flow=hash
record last lastpart 60 500 1 -- --max-size 400K --keep-part last
record processes processes -- --follow all
head -c 400000 "$LIZARD_BIN/lizard" >"$T/content"
record kept leased_reads "$T/content" 60 -- --calls=buffer
bases=($(ls "$T/whole"))

bad() { # COMMAND: what it has done wrong is on stdin
	{
		echo "seed $seed, $base: $what"
		echo "  cd $PWD/here; $1"
		sed 's/^/    /'
	} >>"$T/bad-$seed"
}

# try COMMAND: as it would be typed next to the recording, in an empty directory.
try() {
	rm -rf here said && mkdir here && : >said
	# each of several commands may wait twice for a program that computes, for 5 s of CPU time
	(cd here && exec "$watch" -t 40 -o ../said -r "../$rec" "$@") >out 2>&1 </dev/null
	local status=$?
	[ $status -le 2 ] && [ ! -s said ] && [ -z "$(ls here)" ] && ! grep -q 'Sanitizer\|runtime error' out && return
	(
		cat said
		[ $status -le 2 ] || [ -s said ] || echo "status $status"
		ls here | sed 's/^/made the file /'
		grep -A 12 'Sanitizer\|runtime error' out
		tail -n 2 out
	) | bad "$*"
}

one() { # SEED
	seed=$1 base=${bases[$1 % ${#bases[@]}]} rec=rec
	mkdir "$T/$seed" && cd "$T/$seed" || return
	what=$("$forge" "$T/whole/$base" rec "$seed" 2>&1) || { echo "$what" | bad forge; return; }
	case $what in
	processes/*) rec=rec/${what%%:*} ;;
	esac
	try lizard verify "../$rec"
	try lizard dump --limit 3000 "../$rec"
	try lizard info --check "../$rec"
	try lizard pack -o ../rec.lizard ../rec
	if [ $((seed % gdb_each)) = 0 ]; then
		for front in $fronts; do
			try lizard-gdb "$front" "../$rec" -nx -batch -ex continue -ex reverse-continue \
				-ex "info calls main" -ex "jump_forward output ."
		done
		try lizard calls --args --limit 2 "../$rec" main
	fi
	if [ $((seed % 4)) = 0 ]; then
		try lizard coverage "../$rec"
		try lizard hits --limit 100 "../$rec" main
		try lizard hits --count "../$rec" main
	fi
	[ -e "$T/bad-$seed" ] || rm -rf "${T:?}/$seed"
}
export -f bad try one
export forge watch gdb_each fronts T
# an array is not exported
bases_as_text=${bases[*]}
export bases_as_text
began=$SECONDS
seq $((from + 1)) $((from + seeds)) | xargs -P 2 -n 1 bash -c 'bases=($bases_as_text); one "$0"'
is "$(find "$T" -maxdepth 1 -name 'bad-*' | wc -l)" 0 "forged recordings $((from + 1)) to $((from + seeds)): none does harm" ||
	diag "$(cat "$T"/bad-*)"
diag "took $((SECONDS - began)) s"
done_testing
