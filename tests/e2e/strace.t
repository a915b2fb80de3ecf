#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# lizard strace. The truth is what strace prints of the same program, and where GDB is.
. "$(dirname "$0")/../lib/tap.sh"

src=$LIZARD_SRC/tests/progs/answers/syscalls.c
lizard-cc -g -O0 -w -o "$T/prog" "$src" && $PLAIN_CC -g -O0 -w -o "$T/plain" "$src"
ok $? "a program builds" || done_testing
mkdir "$T/there"
cd "$T/there" || exit 1
lizard-trace -q -o "$T/rec" "$T/prog" . </dev/null
is $? 0 "and is recorded" || done_testing

# ---- against strace ----

cd "$T" && rm -r there && mkdir there && cd there || exit 1
if command -v strace >/dev/null && strace -o "$T/theirs" "$T/plain" . </dev/null 2>"$T/err"; then
	lizard strace --inputs --no-positions "$T/rec" >"$T/ours"
	out=$(python3 "$LIZARD_SRC/tests/lib/strace.py" "$T/theirs" "$T/ours")
	[ "$(printf '%s\n' "$out" | wc -l)" = 1 ] && printf '%s\n' "$out" | grep -Eq '^([1-9][0-9]{2,}) of \1 equal$'
	ok $? "each line is strace's" || diag "$out"
else
	skip 1 "no strace, or it may not trace"
fi

# ---- what the recording holds ----

lizard strace --no-positions "$T/rec" >"$T/held"
like "$(cat "$T/held")" '^read\(3, "two\\0\\1\\0017\\377\\n", 100\) += 9$' "what the kernel wrote is known"
like "$(cat "$T/held")" '^pwrite64\(3, 0x[0-9a-f]+, 6, 20\) += 6$' "what the program gave is an address"
is "$(wc -l <"$T/held")" "$(lizard strace --inputs "$T/rec" | wc -l)" "either prints each event"
is "$(lizard strace -e write,pipe2 --no-positions "$T/rec" | cut -d'(' -f1 | tr '\n' ' ')" "write write pipe2 write " "calls by name"
is "$(lizard strace --limit 3 "$T/rec" | wc -l)" 3 "a limit"
like "$(lizard strace -i -s 3 -e openat "$T/rec")" '"nothing\\there"' "paths are shown whole"
like "$(lizard strace -i -s 3 -e write "$T/rec")" 'write\(3, "xxx"\.\.\., 300\)' "strings as far as is wished"
lizard strace --json --inputs "$T/rec" >"$T/json"
python3 - "$T/json" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert {r["kind"] for r in rows} == {"call", "signal", "exit"}, {r["kind"] for r in rows}
assert [r["event"] for r in rows] == sorted({r["event"] for r in rows})
assert all(type(r["args"]) is list and r["result"] for r in rows if r["kind"] == "call")
END
ok $? "JSON, in order"

# ---- positions ----

line=$(lizard strace -e lseek "$T/rec")
at=${line%%  *}
out=$(lizard-gdb -nx -batch "$T/rec" -ex "jump_forward $at" -ex 'print $rax' -ex when 2>&1)
like "$out" '^\$1 = 322$' "an instant is behind its call: the result is there" || diag "$line: $out"
one() {
	lizard strace "$@" "$T/rec" | wc -l
}
is "$(($(one --to "$at") + $(one --from "$at")))" "$(one)" "two pieces have all events"
is "$(lizard strace --to "$at" "$T/rec" | tail -n 1)" "$line" "a piece ends with the event in front of its instant"

# ---- threads ----

lizard-cc -g -O0 -o "$T/mixed" "$LIZARD_SRC/tests/progs/answers/mixed.c" -lpthread
lizard-trace -q -o "$T/threads" "$T/mixed" 12 >/dev/null
lizard strace -i "$T/threads" >"$T/all"
like "$(cat "$T/all")" '^[0-9]+:[0-9,]+  --- thread [0-9]+ runs' "turns are shown"
like "$(cat "$T/all")" ' clone\(child_stack=0x[0-9a-f]+, flags=CLONE_VM\|.*, parent_tid=\[[0-9]+\], tls=0x' "a thread's birth"
tid=$(sed -n 's/.*--- thread \([0-9]*\) runs.*/\1/p' "$T/all" | sort -u | tail -n 1)
is "$(lizard strace -t "$tid" "$T/threads" | grep -v -e '---' -e '+++' | sed 's/:.*//' | sort -u)" "$tid" "one thread is asked about"

# ---- what cannot be ----

cp -r "$T/rec" "$T/cut"
size=$(stat -c %s "$T/cut/events")
truncate -s $((size / 2)) "$T/cut/events"
lizard strace --inputs "$T/cut" >"$T/out" 2>"$T/err"
is $? 0 "a cut recording answers" || diag "$(cat "$T/err")"
like "$(cat "$T/err")" "cut: this is about a part of the run" "and says so"
lizard strace --from yesterday "$T/rec" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "1 " "no instant: refused"
like "$(cat "$T/err")" "is no instant" "... and says why"
lizard strace --only write,raed "$T/rec" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out") $(head -n 1 "$T/err")" "2  lizard: there is no system call \`raed\`: did you mean read?" "no call of that name: refused"
lizard strace --string x "$T/rec" >"$T/out" 2>"$T/err"
is $? 2 "no number: refused"
done_testing
