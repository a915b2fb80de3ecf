#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# lizard output and timeline. The truth is what the program has written, where GDB is, and the dumped events.
. "$(dirname "$0")/../lib/tap.sh"

lizard-cc -g -O0 -o "$T/prog" "$LIZARD_SRC/tests/progs/answers/writes.c" 2>/dev/null
lizard-trace -q --checkpoint-interval 2 -o "$T/rec" "$T/prog" 3000000 >"$T/out" 2>"$T/err"
is $? 0 "a program is recorded" || done_testing

# ---- what was written ----

lizard output --raw --fd 1 "$T/rec" | cmp - "$T/out"
ok $? "standard output, byte by byte"
lizard output --raw --fd 2 "$T/rec" | cmp - "$T/err"
ok $? "standard error"
is "$(lizard output --raw --fd 7 "$T/rec" | wc -c)" 0 "what nobody wrote to"
lizard output --json "$T/rec" >"$T/json"
python3 - "$T/json" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert [r["number"] for r in rows] == list(range(1, len(rows) + 1)) and len(rows) == 42, len(rows)
for i, row in enumerate(rows[:40]):
    assert row["text"] == 'piece %d%s of\tbytes "%d"\n' % (i, "\\x00" if i % 3 else "x", i * i), row
    assert row["stack"] == ["leaf"] + ["branch"] * (i % 4 + 1) + ["main"], row
    assert row["fd"] == (1 if i % 5 else 2) and row["depth"] == len(row["stack"])
    assert row["bytes"] == len(row["text"].replace("\\x00", "0"))
END
ok $? "each piece has its text, descriptor and callers"
lizard output "$T/rec" >"$T/text"
like "$(sed -n 4p "$T/text")" '^ *4  [0-9]+:[0-9,]+\.[0-9]+@0x[0-9a-f]+#1  1  "piece 3x of\\tbytes \\"9\\"\\n"  leaf < branch < branch < branch < branch < main$' \
	"a line of text"
is "$(lizard output --grep 'piece 1[0-3]' "$T/rec" | wc -l)" 4 "a search"
is "$(lizard output --grep '^piece 12x' --raw "$T/rec" | tr '\t' ' ')" 'piece 12x of bytes "144"' "and its bytes"
is "$(lizard output --limit 3 "$T/rec" | wc -l)" 3 "a limit"

is "$(lizard output --last 2 "$T/rec")" "$(tail -n 2 "$T/text" | sed 's/^ *4\([12]\) /     \1 /')" "the last ones"
is "$(lizard output --last 2 --grep 'piece' --fd 2 --raw "$T/rec" | tr -d '\0')" "$(tail -n 2 "$T/err" | tr -d '\0')" "the last ones that match"

# ---- all vectors of a call ----

vectors=$(tail -n 1 "$T/out" | sed 's/[0-9]*$//')
lizard report --json "$T/rec" >"$T/report"
python3 - "$T/report" "$vectors" <<'END'
import json, sys
assert sys.argv[2] in [piece["text"] for piece in json.load(open(sys.argv[1]))["processes"][0]["output"]]
END
ok $? "the report has them"
out=$(lizard-gdb --stock --echo -nx -batch "$T/rec" -ex continue 2>&1 | tr -d '\0')
ok "$(printf '%s\n' "$out" | grep -qF "$vectors" && echo 0 || echo 1)" "and so has what a run shows" || diag "$out"

# ---- lines in several pieces ----

lizard-cc -g -O0 -o "$T/lines" "$LIZARD_SRC/tests/progs/gdb/output.c" -lpthread &&
	lizard-trace -q --checkpoint-interval 2 -o "$T/lines.rec" "$T/lines" "$T/log" 9 >"$T/lines.out" 2>/dev/null
count() {
	lizard output --no-stacks --grep "$@" "$T/lines.rec" | wc -l
}
for pattern in 'item [0-9]+ bytes$' '^item [0-9]+ in pieces' 'next line' 'of a thread'; do
	is "$(count "$pattern" --fd 1)" "$(grep -Ec "$pattern" "$T/lines.out")" "as many as lines that match: $pattern"
	is "$(lizard output --no-stacks --grep "$pattern" --last 4 "$T/lines.rec" | cut -c 7-)" \
		"$(lizard output --no-stacks --grep "$pattern" "$T/lines.rec" | tail -n 4 | cut -c 7-)" "backwards the same"
done
at=$(lizard output --no-stacks --grep 'next$' "$T/lines.rec" | awk 'NR == 5 { print $2 }')
is "$(count 'next line' --from "$at" --limit 1)" 1 "a line that has begun before"

# ---- several processes, and the last part ----

lizard-trace -q --follow all -o "$T/follow" sh -c 'echo parent; "$1" "$2" & wait' sh "$T/lines" "$T/log" >"$T/both" 2>/dev/null
child=$(lizard ps "$T/follow" | awk -v prog="$T/lines" 'index($0, prog " ") && !/sh -c/ { print $1 }')
lizard output --raw --fd 1 -p "$child" "$T/follow" >"$T/child"
is "$(cat "$T/child")" "$(grep -v parent "$T/both")" "one of several processes"
is "$(lizard strace --inputs --no-positions -e write -p "$child" "$T/follow" | grep -c '(1, ')" "$(lizard output --fd 1 -p "$child" "$T/follow" | grep -vcF ' vectors\n')" "... and its calls"
lizard-trace -q --max-size 1M --keep-part last --flow full -o "$T/last" "$T/lines" "$T/log" 60 >"$T/last.out" 2>/dev/null
lizard output --raw --fd 1 "$T/last" >"$T/got" 2>"$T/err"
tail -c "$(stat -c %s "$T/got")" "$T/last.out" | cmp - "$T/got"
ok $? "the last part of a run"
is "$(lizard strace --inputs --no-positions -e write "$T/last" 2>/dev/null | grep -F '"at the end: no line", 19)' | tr -s ' ')" 'write(2, "at the end: no line", 19) = 19' "... and its calls"

# ---- instants ----

at=$(lizard output --grep 'piece 17' "$T/rec" | awk '{ print $2 }')
out=$(lizard-gdb -nx -batch "$T/rec" -ex "jump_forward $at" -ex 'frame function leaf' -ex 'print i' 2>&1)
like "$out" '^\$1 = 17$' "an instant is that of the piece" || diag "$out"
is "$(($(lizard output --to "$at" "$T/rec" | wc -l) + $(lizard output --from "$at" "$T/rec" | wc -l)))" 42 "two pieces of the run have all"
is "$(lizard output --to "$at" "$T/rec" | tail -n 1 | awk '{ print $2 }')" "$at" "the first ends with it"

# ---- the timeline ----

lizard timeline --json "$T/rec" >"$T/timeline"
lizard dump --events --json "$T/rec" >"$T/events"
python3 - "$T/timeline" "$T/events" "$(lizard dump --checkpoints --json "$T/rec" | wc -l)" <<'END'
import collections, json, sys
rows, events = ([json.loads(line) for line in open(name)] for name in sys.argv[1:3])
assert [r["number"] for r in rows] == list(range(int(sys.argv[3]))), (len(rows), sys.argv[3])
assert sum(r["events"] for r in rows) == len(events)
calls = collections.Counter(e["name"] for e in events if e["kind"] == "syscall")
ours = collections.Counter()
for row in rows:
    ours.update(row["calls"])
    assert row["system_calls"] == sum(row["calls"].values())
assert ours == calls or calls - ours == collections.Counter(lizard_hello=1), (ours, calls)
assert sum(r["processes"] for r in rows) == 1 and sum(r["threads"] for r in rows) == 0
assert sum(r["mappings"] for r in rows) == sum(len(e["ops"]) for e in events)
assert sum(r["signals"] for r in rows) == sum(e["kind"] == "signal" for e in events)
assert len(rows) > 2, rows
END
ok $? "intervals add up to the events"
is "$(lizard timeline "$T/rec" | wc -l)" "$(wc -l <"$T/timeline")" "a line for each"
born=$(lizard strace --no-positions "$T/lines.rec" | grep -c 'CLONE_THREAD.* = [1-9]')
lizard timeline --json "$T/lines.rec" >"$T/timeline"
is "$(python3 -c 'import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
print(*(sum(r[what] for r in rows) for what in ("threads", "processes")))' "$T/timeline")" "$born 0" "threads are no processes"

# ---- what cannot be ----

lizard output --grep '(' "$T/rec" >"$T/none" 2>"$T/err"
is "$? $(cat "$T/none")" "2 " "no pattern: refused"
like "$(cat "$T/err")" "is no regular expression" "... and says why"
lizard output --fd x "$T/rec" 2>"$T/err"
is $? 2 "no descriptor: refused"
done_testing
