#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU make that builds a small project with lizard-cc: a make in a subdirectory, a jobserver, the compiler's processes.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
trace_options="--follow all" verify_options=-a walked=long two_ways=-O2 # a loop on one line, entered in its midst: docs/design/exceptions.md
WALK_PLACES="update_file reap_children lookup_variable_in_set hash_find_slot" WALK_WATCH="job_slots_used; commands_started; variable_buffer_length"
. "$LIZARD_SRC/tests/lib/real-test.sh"

native=$(real_build make gcc "-O2 -g" "$T/native-build")
ok $? "native build" || done_testing
real_input make "$T/input"

# What make says, in no order since jobs run beside each other, and what it makes.
outcome() { # OUTPUT
	sed 's/^make\(\[[0-9]*\]\): /make\1: /' "$1" | LC_ALL=C sort
	"$T/input/prog"
	for f in $(cd "$T/input" && find . -name '*.[oa]' | LC_ALL=C sort); do
		echo "$f $(objdump -d "$T/input/$f" | tail -n +4 | cksum)"
	done
}
build() { # RUN... MAKE: builds the project from nothing
	"$native" -s -C "$T/input" clean
	(cd "$T" && "$@" -j2 -C input CC=lizard-cc) >"$T/made" 2>"$T/err"
}

build "$native"
is "$? $("$T/input/prog")" "0 42 words" "native: it builds what works"
sed "s,$native,MAKE,g" "$T/made" >"$T/said"
outcome "$T/said" >"$T/native"
for level in -O0 -O2; do
	program=$(real_build make lizard-cc "$level -g" "$T/build$level")
	ok $? "$level: builds with lizard-cc" || continue
	for i in $(seq $repeats); do
		rec=$T/recordings/make$level-$i
		build timeout -k 5 300 lizard-trace -q --follow all -o "$rec" -- "$program"
		is "$? $(cat "$T/err")" "0 " "$level, run $i: recorded"
		sed "s,$program,MAKE,g" "$T/made" >"$T/said"
		outcome "$T/said" >"$T/got"
		cmp -s "$T/native" "$T/got"
		ok $? "$level, run $i: what it says and makes is as natively" || diag "$(diff "$T/native" "$T/got")"
		real_verify "$level, run $i" "$rec"
		is "$(grep -c 'not complete' "$T/verify.log")" 0 "$level, run $i: every recording is complete"
	done
done

# Who there was: twice make, five times the compiler with its parts, the archiver.
lizard ps --json "$rec" | python3 -c '
import collections, json, os, sys
count = collections.Counter(os.path.basename(p["arguments"][0]) for p in json.load(sys.stdin) if p["status"] == "exit 0")
print(*("%s:%d" % (name, count[name]) for name in ("make", "cc1", "ld", "ar")))' >"$T/who"
is "$(cat "$T/who")" "make:2 cc1:5 ld:1 ar:1" "ps: who there was"
pid_of() { # PROGRAM: the one that is not the first process
	lizard ps --json "$rec" | python3 -c '
import json, os, sys
for p in json.load(sys.stdin)[1:]:
    if os.path.basename(p["program"]) == sys.argv[1] and p["status"] == "exit 0":
        print(os.path.basename(p["path"])); break' "$1"
}
child=$(pid_of make)
for front in stock patched; do
	[ $front = stock ] || patched_gdb || { skip "$front: the child" "no patched GDB is built"; continue; }
	out=$(gdb_run --$front -p "$child" "$rec" <<'END'
break start_waiting_job
continue
print c->file->name
-- here
when
fs
bs
-- again
when
-- end
jump_forward die
print status
print commands_started
reverse_watchpoint commands_started
END
)
	like "$out" '^\$1 = 0x[0-9a-f]* "(words|hash).o"' "$front: the make in the subdirectory starts its first job"
	is "$(section "$out" here | grep ^position)" "$(section "$out" again | grep ^position)" "$front: a step there and back"
	is "$(section "$out" end | sed -n 's/^\$[23] = //p' | tr '\n' ' ')" "0 3 " "$front: it ends well, after three jobs"
	like "$(section "$out" end)" '^New value = 3$' "$front: where the last one was counted" || diag "$out"
done
out=$(gdb_run -p "$(pid_of cc1)" "$rec" <<'END'
catch syscall exit_group
continue
info proc cmdline
END
)
like "$out" 'Catchpoint 1 .call to syscall exit_group' "a compiler without markers is opened, too"
real_walk make-O2 "$rec"
real_walk make-O2-child "$rec" -p "$child"
done_testing
