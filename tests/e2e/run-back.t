#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Backward runs to breakpoints, which long ones find from the markers, against all arrivals of one forward run. Each program at -O0 or
# -O2, with LIZARD_LONG at both.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
. "$LIZARD_SRC/tests/lib/real.sh"

runback=$(tool replay-runback)
ok $? "the tool builds" || { diag "$(cat "$T/replay-runback.log")"; done_testing; }
rounds=5 seeds=1
[ -z "$LIZARD_LONG" ] || rounds=100 seeds="1 2 3"
base=0x555555554000 # of a program without address randomization; its first bytes never change
loader=/lib64/ld-linux-x86-64.so.2

# Addresses of instructions and of functions, drawn from a program.
addresses() {
	objdump -d --no-show-raw-insn -j .text "$1" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' |
		perl -e "srand 3; @a = <>; printf '0x%x ', $base + hex \$a[rand @a] for 1 .. 40"
	nm "$1" | sed -n 's/^0*\([0-9a-f]*\) [tT] [^_].*/\1/p' |
		perl -e "srand 4; @a = <>; printf '0x%x ', $base + hex \$a[rand @a] for 1 .. 20"
}

# Where the loader tells debuggers of its libraries: a recording begins at its entry.
hook() {
	start=$(lizard dump --checkpoints --limit 1 "$1" | sed -n 's/^checkpoint 0 .*@\(0x[0-9a-f]*\)#1.*/\1/p')
	entry=$(readelf -h "$loader" | sed -n 's/^ *Entry point address: *//p')
	printf '0x%x' $((start - entry + 0x$(nm -D "$loader" | sed -n 's/^\([0-9a-f]*\) T _dl_debug_state.*/\1/p')))
}

check() { # NAME PROGRAM COMMAND...
	name=$1 program=$2
	shift 2
	timeout -k 5 120 lizard-trace -q -o "$T/recordings/$name" -- "$@" >"$T/out" 2>&1 </dev/null
	ok $? "$name: recorded" || { diag "$(tail -n 3 "$T/out")"; return; }
	for seed in $seeds; do
		timeout 300 "$runback" "$T/recordings/$name" "$seed" "$rounds" $base $(addresses "$program") \
			"$(hook "$T/recordings/$name")" >"$T/log" 2>&1
		like "$(cat "$T/log")" "^[1-9][0-9]* arrivals, $rounds rounds: all found\$" "$name: seed $seed" ||
			replay_hint "$T/recordings/$name"
	done
}

real_text 4000 >"$T/text"
cat >"$T/work.lua" <<'END'
local t = {}
for i = 1, 6000 do t[i] = tostring((i * 7919) % 10007) end
table.sort(t)
local co = coroutine.wrap(function() for i = 1, 500 do coroutine.yield(i) end end)
local s = 0
for i = 1, 500 do s = s + co() end
for i = 1, 800 do pcall(error, "x" .. i) end
print(s, #t, load("return 1 + 1")(), (string.rep("ab", 10):gsub("a", "c")))
END
try() { # NAME LEVEL
	case $1 in
	bzip2)
		program=$(real_build bzip2 lizard-cc "$2 -g" "$T/bzip2$2") &&
			check "bzip2$2" "$program" "$program" -9 -c "$T/text"
		;;
	lua)
		program=$(real_build lua lizard-cc "$2 -g" "$T/lua$2") &&
			check "lua$2" "$program" "$program" "$T/work.lua"
		;;
	*)
		program=$T/${1#*/}$2
		lizard-cc "$2" -g -DLIBRARY='"libm.so.6"' "$LIZARD_SRC/tests/progs/$1.c" -o "$program" &&
			check "${1#*/}$2" "$program" "$program"
		;;
	esac
}
tried="bzip2:-O0 lua:-O2 replay/libraries:-O0 gdb/slices:-O2 threads/storm:-O0"
[ -z "$LIZARD_LONG" ] || tried="$tried bzip2:-O2 lua:-O0 replay/libraries:-O2 gdb/slices:-O0 threads/storm:-O2"
for one in $tried; do
	try "${one%:*}" "${one#*:}"
done
is "$tap_n" "$((1 + $(echo $tried | wc -w) * (1 + $(echo $seeds | wc -w))))" "all programs were built and tried"
done_testing
