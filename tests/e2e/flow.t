#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --flow=hash: of the markers only checksums are kept, and replay computes them again. A recording whose markers were
# replaced by their checksums is the same run as before, so GDB must give the same answers at the same positions.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
. "$(dirname "$0")/../lib/gdb.sh"

hash=$(tool flow-hash) && damage=$(tool replay-damage)
ok $? "the tools build" || { diag "$(cat "$T"/*.log)"; done_testing; }
prog=$T/collatz
lizard-cc -g -O1 -o "$prog" "$LIZARD_SRC/tests/progs/replay/collatz.c"
ok $? "a program builds" || done_testing
patched_gdb || export LIZARD_FRONT_END=stock

clean() { # NAME RECORDING [PATTERN]
	timeout 100 lizard verify "$2" >"$T/verify"
	ok $? "$1: clean" || diag "$(cat "$T/verify")"
	[ -z "${3:-}" ] || { grep -q "$3" "$T/verify"; ok $? "$1: verify says $3" || diag "$(cat "$T/verify")"; }
}

# ---- the same run both ways ----

printf 'A' | timeout -k 5 60 lizard-trace -q --flow=full --checkpoint-interval 2 -o "$T/full" "$prog" 20000 >"$T/out"
ok $? "recorded in full"
for kind in hash half; do
	cp -r "$T/full" "$T/$kind"
	"$hash" "$T/$kind" $([ $kind = hash ] && echo 0 || echo 1)
done
checkpoints=$(lizard info --json "$T/full" | grep -o '"checkpoints": [0-9]*')
[ "${checkpoints##* }" -gt 2 ]
ok $? "there are several checkpoints (${checkpoints##* })"
clean full "$T/full"
clean hash "$T/hash" "by checksum"
clean half "$T/half" "by checksum"
lizard info "$T/half" | grep -q "^flow.*of the last .* only checksums"
ok $? "info says what is not stored" || diag "$(lizard info "$T/half" | grep flow)"
for kind in full hash half; do
	timeout 100 lizard dump --markers "$T/$kind" 2>"$T/err" | md5sum >"$T/$kind.dump"
done
is "$(cat "$T/hash.dump")" "$(cat "$T/full.dump")" "dump --markers computes all of them again"
is "$(cat "$T/half.dump")" "$(cat "$T/full.dump")" "and some of them"
is "$(LIZARD_FLOW_CACHE=1 timeout 100 lizard dump --markers "$T/hash" | md5sum)" "$(cat "$T/full.dump")" "and with little room to keep them"

cat >"$T/walk.py" <<'END'
import os
import sys

import gdb

sys.path.insert(0, os.environ["LIZARD_SRC"] + "/tests/lib")
from stops import walk

for start in ("90%", "40%"):
    gdb.execute("jump_forward end", to_string=True)
    gdb.execute("jump_backward 10%" if start == "90%" else "jump_backward 60%", to_string=True)
    for command in ("reverse-stepi", "prev", "bs", "fn", "fs"):
        walk(command, 8)
gdb.execute("break report")
walk("reverse-continue", 3)
walk("continue", 2)
gdb.execute("delete")
gdb.execute("watch ticks")
walk("reverse-continue", 2)
gdb.execute("delete")
gdb.execute("jump_forward end", to_string=True)
walk("jump_backward step", 1)
walk("jump_backward main", 1)
walk("jump_forward report", 1)
END
for kind in full hash half; do
	timeout 200 lizard-gdb -nx -batch -x "$T/walk.py" "$T/$kind" 2>&1 </dev/null | grep ^stop >"$T/$kind.walk"
done
[ "$(wc -l <"$T/full.walk")" -ge 90 ] && ! grep -q failed: "$T/full.walk"
ok $? "a walk in GDB" || diag "$(tail -n 3 "$T/full.walk")"
for kind in hash half; do
	cmp -s "$T/full.walk" "$T/$kind.walk"
	ok $? "the same answers from checksums ($kind)" || diag "$(diff "$T/full.walk" "$T/$kind.walk" | head)"
done

# ---- recorded as such ----

printf 'A' | timeout -k 5 60 lizard-trace -q --flow=hash -o "$T/small" "$prog" 60000 >"$T/out"
ok $? "recorded with --flow=hash"
clean small "$T/small" "by checksum"
[ "$(du -b "$T/small"/markers-* | cut -f1)" -lt 10000 ]
ok $? "a megabyte of markers takes 44 bytes" || diag "$(du -b "$T/small"/*)"
grep -q '^flow hash$' "$T/small/meta" && grep -q '^hashed-from 0$' "$T/small/meta"
ok $? "meta says so" || diag "$(grep -a -e flow -e hashed "$T/small/meta")"
printf 'A' | timeout -k 5 60 lizard-trace --flow-limit 100K -o "$T/auto" "$prog" 60000 2>"$T/err" >"$T/out"
grep -q "only checksums are kept" "$T/err"
ok $? "the switch at a limit is said" || diag "$(cat "$T/err")"
from=$(sed -n 's/^hashed-from //p' "$T/auto/meta")
[ "${from:-0}" -gt 100000 ] && [ "$from" -lt 8000000 ] && grep -q '^flow auto$' "$T/auto/meta"
ok $? "and in meta (from $from)"
[ "$(du -b "$T/auto"/markers-* | cut -f1)" -lt 3000000 ]
ok $? "the recording stops growing"
clean auto "$T/auto" "by checksum"
printf 'A' | timeout -k 5 60 lizard-trace -o "$T/default" "$prog" 60000 2>"$T/err" >"$T/out"
! grep -q checksums "$T/err" && ! lizard info "$T/default" | grep -q "only checksums"
ok $? "by default a small recording is kept in full"

# ---- where no CPU is idle ----

cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
printf 'A' | timeout -k 5 100 taskset -c "$cpu" lizard-trace -q -o "$T/one" "$prog" 300000 >"$T/out"
ok $? "recorded on one CPU"
clean one "$T/one" "by checksum"
printf 'A' | timeout -k 5 100 taskset -c "$cpu" lizard-trace -q --flow=full -o "$T/all" "$prog" 300000 >"$T/out"
! lizard info "$T/all" | grep -q "only checksums"
ok $? "but for what is asked for" || diag "$(lizard info "$T/all")"
timeout 100 lizard-gdb -nx -batch -ex 'jump_forward end' -ex 'jump_backward 30%' -ex 'bs 3' "$T/one" >"$T/gdb" 2>&1 </dev/null
grep -q '^[0-9]*[[:space:]].' "$T/gdb" && ! grep -qi error "$T/gdb"
ok $? "bs goes where it has to be computed" || diag "$(cat "$T/gdb")"

lizard-trace --flow=some -o "$T/bad" "$prog" 2>"$T/err"
is $? 125 "another word than full, hash and auto is refused"
lizard-trace --flow-limit=x -o "$T/bad" "$prog" 2>"$T/err"
is $? 125 "a limit that is no size is refused"
lizard pack -o "$T/auto.lzpack" "$T/auto" >"$T/log" 2>&1
clean packed "$T/auto.lzpack" "by checksum"

# ---- lies ----

says() { # PATTERN NAME RECORDING
	timeout 100 lizard verify "$3" >"$T/verify"
	is $? 1 "$2: verify fails"
	grep -q "$1" "$T/verify"
	ok $? "$2: said in words" || diag "$(head -n 2 "$T/verify")"
}
cp -r "$T/full" "$T/lie"
"$hash" "$T/lie" 0 1
# A block may end in a call of the C library, of which not everybody has the lines.
says 'diverged: .*markers from .* are not those recorded.* the program is now in \([a-z]* at collatz.c:[0-9]\|__\)' "another checksum" "$T/lie"
timeout 100 lizard dump --markers "$T/lie" >"$T/out" 2>"$T/err"
is $? 1 "another checksum: dump fails"
grep -q "are not those recorded" "$T/err" && [ -s "$T/out" ]
ok $? "after what could be computed" || diag "$(cat "$T/err")"
timeout 100 lizard-gdb -nx -batch -ex 'jump_forward 90%' -ex bs "$T/lie" >"$T/out" 2>&1 </dev/null
grep -q "are not those recorded" "$T/out"
ok $? "GDB says it too" || diag "$(tail -n 3 "$T/out")"

printf 'A' | timeout -k 5 60 lizard-trace -q -o "$T/short" "$prog" 4000 >"$T/out"
read=$(lizard dump --events "$T/short" | sed -n 's/^event \([0-9]*\) .* read(0x0, .*/\1/p;s/^event \([0-9]*\) .* read(0, .*/\1/p' | tail -n 1)
ok "$([ -n "$read" ]; echo $?)" "the program reads (event $read)" || diag "$(lizard dump --events "$T/short" | grep read | tail -n 3)"
"$damage" "$T/short" "$T/honest" none >"$T/log" && "$hash" "$T/honest"
clean "an honest copy" "$T/honest" "by checksum"
"$damage" "$T/short" "$T/data" data "$read" >"$T/log" && "$hash" "$T/data"
says 'diverged: ' "other data were read" "$T/data"

# ---- threads, processes, an end in the middle ----

lizard-cc -g -O1 -pthread -o "$T/queue" "$LIZARD_SRC/tests/progs/threads/queue.c"
for seed in 3 4; do
	timeout -k 5 60 lizard-trace -q --flow=hash --chaos=$seed -o "$T/queue.$seed" "$T/queue" >"$T/out" 2>"$T/err"
	ok $? "threads under chaos, seed $seed" || diag "$(cat "$T/err")"
	clean "threads, seed $seed" "$T/queue.$seed" "by checksum"
done
timeout 100 lizard-gdb -nx -batch -ex 'jump_forward 50%' -ex bs -ex when -ex bs -ex when "$T/queue.3" >"$T/out" 2>&1 </dev/null
is "$(grep -c 'position' "$T/out")" 2 "bs among threads" || diag "$(tail -n 3 "$T/out")"

timeout -k 5 60 lizard-trace -q --flow=hash --follow all -o "$T/tree" sh -c "printf A | '$prog' 300; printf B | '$prog' 400" >"$T/out" 2>"$T/err"
timeout 100 lizard verify -a "$T/tree" >"$T/verify"
ok $? "all processes of a tree are clean" || diag "$(cat "$T/verify")"
is "$(grep -c 'by checksum' "$T/verify")" 2 "two of them have markers"

cp -r "$T/small" "$T/cut"
markers=$(echo "$T/cut"/markers-*)
size=$(stat -c %s "$markers")
truncate -s $((size / 2 + 10)) "$markers"
timeout 100 lizard verify "$T/cut" >"$T/verify"
is $? 1 "cut in the middle of a block: it is not whole"
like "$(cat "$T/verify")" ": cut: .*what is left replays as recorded" "but what is left replays" || replay_hint "$T/cut"
done_testing
