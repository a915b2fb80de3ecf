#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the markers tell of the instructions that ran, without running any, is what stepping shows: on every construct, at -O0 or -O2
# in turn (at both with LIZARD_LONG), with signals, with threads, on a real program.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/tools.sh"
. "$LIZARD_SRC/tests/lib/constructs.sh"
. "$LIZARD_SRC/tests/lib/real.sh"

history=$(tool insn-history)
ok $? "the tool builds" || { diag "$(cat "$T"/insn-history.log)"; done_testing; }
rounds=12
[ -z "$LIZARD_LONG" ] || rounds=250

# NAME RECORDING LENGTH [PERCENT]: nothing wrong; so many lists are told, of those in code that is mostly instrumented.
compare() {
	timeout -k 5 300 "$history" "$2" 7 $rounds "$3" >"$T/out" 2>&1
	ok $? "$1: nothing wrong in lists of $3" || { diag "$(tail -n 5 "$T/out")"; replay_hint "$2"; }
	[ -n "${4:-}" ] || return 0
	told=$(sed -n 's/^all: \([0-9]*\)% told$/\1/p' "$T/out")
	[ "${told:-0}" -ge "$4" ]
	ok $? "$1: at least $4 % told" || diag "$(tail -n 3 "$T/out")"
}

record() { # NAME COMMAND...: "" where that fails
	rec=$T/recordings/$1
	shift
	timeout -k 5 120 lizard-trace -q -o "$rec" "$@" >"$T/log" 2>&1 </dev/null && lizard verify "$rec" >"$T/log" 2>&1
}

declare -A told=([loops-O0]=90 [loops-O2]=90 [tailcall-O0]=90 [computed_goto-O0]=70 [computed_goto-O2]=70 [switch-O0]=50)
number=0
for file in "$constructs"/*.c "$constructs"/*.cc; do
	number=$((number + 1))
	about "$file"
	in_turn $number
	for level in -O0 -O2; do
		case " $both " in *" $level "*) ;; *) [ -n "${told[${name%.*}$level]}" ] || continue ;; esac
		case " ${levels:-$level} " in *" $level "*) ;; *) continue ;; esac
		program=${name%.*}$level
		# shellcheck disable=SC2086
		(cd "$constructs" && $ours -w "$level" -g "$name" $build -o "$T/$program") >"$T/log" 2>&1 && record "$program" "$T/$program"
		ok $? "$program: recorded" || { diag "$(tail -n 3 "$T/log")"; continue; }
		compare "$program" "$rec" 12 "${told[$program]}"
	done
done

for file in signals/tight_loop process/siglongjmp process/sigcontext threads/barrier threads/kill threads/spin; do
	program=$(basename $file)
	lizard-cc -w -D_GNU_SOURCE -O2 -g -o "$T/$program" "$LIZARD_SRC/tests/progs/$file.c" -lpthread 2>"$T/log" &&
		record "$program" --chaos=3 "$T/$program"
	ok $? "$program: recorded" || { diag "$(tail -n 3 "$T/log")"; continue; }
	compare "$program" "$rec" 12
done

# Tail calls through a table of functions are no `switch`.
lizard-cc -g -O2 -fno-pie -no-pie -o "$T/tail_table" "$LIZARD_SRC/tests/progs/gdb/tail_table.c" 2>"$T/log" && record tail_table "$T/tail_table"
ok $? "tail_table: recorded" || diag "$(tail -n 3 "$T/log")"
rounds=200 compare tail_table "$T/recordings/tail_table" 12 50

real_input bzip2 "$T/input" >/dev/null
for level in -O0 -O2; do
	program=$(real_build bzip2 lizard-cc "$level -g" "$T/bzip2$level" 2>"$T/log") && rec=$T/recordings/bzip2$level &&
		eval "timeout -k 5 300 lizard-trace -q -o '$rec' -- $(real_command bzip2 "$program" "$T/input")" >/dev/null 2>"$T/log"
	ok $? "bzip2 $level: recorded" || { diag "$(tail -n 3 "$T/log")"; continue; }
	compare "bzip2 $level" "$rec" 20 70
	compare "bzip2 $level" "$rec" 200 50
done
done_testing
