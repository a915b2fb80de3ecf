#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Answers about the control flow in lizard-gdb, and arguments and return values. The truth is what the program printed, and what
# a forward run with breakpoints in GDB finds.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

activations=$LIZARD_SRC/tests/lib/activations.py
functions='sum turn word fill quiet many thrower'

# The lines of activations.py, from among what GDB prints.
in_gdb() {
	ACTIVATIONS=$functions timeout 240 "$@" -nx -batch -x "$activations" 2>&1 | grep -E '^[a-z]+ [0-9]+ \(.*\)( return .*)?$'
}

same() { # WANTED GOT NAME
	[ -s "$1" ] && cmp -s "$1" "$2"
	ok $? "$3" || diag "$(diff "$1" "$2" | head -n 10)"
}

for level in O0 O2; do
	name=activations-$level
	"${LIZARD_CC:-$LIZARD_BIN/lizard-cc}" -g -$level "$LIZARD_SRC/tests/progs/gdb/activations.c" -o "$T/$name" -lpthread || skip_all "no program"
	record "$name"
	is $? 0 "$level: recorded" || done_testing
	python3 "$activations" told <"$T/$name.out" >"$T/told"
	in_gdb gdb "$T/$name" >"$T/forward"
	same "$T/told" "$T/forward" "$level: the program and a forward run agree"
	# shellcheck disable=SC2086
	lizard calls --args --json "$T/$name" $functions 2>"$T/err" | python3 "$activations" answered >"$T/answered"
	same "$T/told" "$T/answered" "$level: arguments and return values" || diag "$(cat "$T/err")"
	in_gdb lizard-gdb "$T/$name" >"$T/module"
	same "$T/told" "$T/module" "$level: the same by the module"
done
rec=$T/activations-O0
pid=$(lizard calls --by thread "$rec" main | awk '{ print $3 }')

# ---- info calls ----

lizard calls "$rec" sum >"$T/list"
is "$(wc -l <"$T/list")" "$(grep -c '^sum .*(' "$T/activations-O0.out")" "the program counts as many"
out=$(gdb_run "$rec" <<'END'
-- list
info calls sum
-- two
info calls many turn
-- options
info calls --limit 2 --from 50% sum
info calls --by thread sum
info calls --count activations.c:sum
-- done
END
)
section "$out" list >"$T/got"
same "$T/list" "$T/got" "info calls lists what lizard calls does"
section "$out" two >"$T/got"
lizard calls "$rec" many turn >"$T/list.two"
same "$T/list.two" "$T/got" "of several functions"
section "$out" options >"$T/got"
{
	lizard calls --limit 2 --from 50% "$rec" sum
	lizard calls --by thread "$rec" sum
	lizard calls --count "$rec" sum
} >"$T/list.options"
same "$T/list.options" "$T/got" "with options"

refused() { # COMMAND PATTERN
	like "$(echo "$1" | gdb_run "$rec")" "$2" "$1: refused"
}
refused "info calls nonesuch" "^.*no instrumented function has the name nonesuch"
refused "info calls printf" "no instrumented function has the name"
refused "info calls" "of which function"
refused "info calls --colour sum" "There is no option --colour"
refused "call-goto 1" "There is no list"
refused "info tree sum" "Usage: info tree"
refused "python import lizard; lizard.calls('sum', limit='many')" "takes a number"

# ---- going there ----

# Which number the asterisk is at, on each line that has one.
marked() {
	sed -n 's/^\* *\([0-9]*\)  .*/\1/p' | tr '\n' ' '
}
wanted() { # NUMBER PART: of the program's own words
	sed -n "s/^sum $1 $2//p" "$T/told.sum"
}
python3 "$activations" told <"$T/activations-O0.out" | grep '^sum' >"$T/told.sum"
# GDB's breakpoint at the function's first instruction is met before the first marker.
for level in O0 O2; do
	out=$(gdb_run "$T/activations-$level" <<'END'
info calls sum
-- seventh
call-goto 7
info args
info calls sum
-- end
call-goto 7 end
info calls sum
finish
info calls sum
-- back
undo-move 2
info calls sum
-- first instruction
tbreak *sum
continue
info calls sum
-- thread
call-goto 11
info threads
info args
END
	)
	like "$(section "$out" seventh)" "^n = 2\$" "$level: call-goto goes to the call with that argument"
	is "$(section "$out" seventh | marked)" "7 " "$level: it is the present one"
	is "$(section "$out" end | marked)" "7 6 " "$level: also at its end, and behind that its caller is"
	like "$(section "$out" end)" "^Value returned is .* = 3\$" "$level: finish from there says what it returned"
	is "$(section "$out" back | marked)" "7 " "$level: undo-move takes it back as one move"
	is "$(section "$out" "first instruction" | marked)" "8 " "$level: a call that has just begun is the present one"
	like "$(section "$out" thread)" "^n = 1\$" "$level: a call in another thread"
	like "$(section "$out" thread)" "^\* [0-9]+ +Thread $pid\.|^\* [0-9]+ +Thread " "$level: which is then selected"
done

# ---- info hits ----

nth() { # NUMBER: the argument of that call, in the program's own words
	sed -n "s/^sum $1 (n=\([0-9]*\)).*/\1/p" "$T/told.sum"
}
line=$(grep -n 'value = n > 0' "$LIZARD_SRC/tests/progs/gdb/activations.c" | cut -d: -f1)
gdb -nx -batch "$T/activations-O0" -ex "break $line" -ex 'ignore 1 1000000' -ex run -ex 'info breakpoints' >"$T/out" 2>&1
hit=$(sed -n 's/.*breakpoint already hit \([0-9]*\) times*/\1/p' "$T/out")
[ "${hit:-0}" -gt 7 ]
ok $? "a breakpoint is hit some times in a forward run" || diag "$(cat "$T/out")"
out=$(gdb_run "$rec" <<END
-- list
info hits activations.c:$line
-- seventh
call-goto 7
info args
-- here
info hits --count $line
info hits --count *\$pc
python import lizard
python print(lizard.hits("$line", nth=3)[0].number, len(lizard.hits("sum")))
python lizard.hits("$line", nth=3)[0].goto()
info args
-- done
END
)
section "$out" list >"$T/got"
lizard hits "$rec" "activations.c:$line" >"$T/list.hits"
same "$T/list.hits" "$T/got" "info hits lists what lizard hits does"
is "$(wc -l <"$T/list.hits")" "$hit" "as many as the breakpoint had"
like "$(section "$out" seventh)" "^n = $(nth 7)\$" "call-goto goes to a hit"
is "$(section "$out" here | head -n 3 | tr '\n' ' ')" "$hit $hit 3 $(wc -l <"$T/list") " "a line of the present file, an address, the module"
like "$(section "$out" here)" "^n = $(nth 3)\$" "a hit's goto()"
refused "info hits" "of which place"
refused "info hits nonesuch" "no instrumented function has the name nonesuch"
refused "info hits sum turn" "of which place"
like "$(printf 'info hits --first sum\ncall-goto 1 end\n' | gdb_run "$rec")" "only calls have an end" "a hit has no end"

# ---- info tree ----

out=$(gdb_run "$rec" <<'END'
info calls sum
call-goto 7
-- tree
info tree --depth 3
-- frames
backtrace
-- short
info tree --limit 1 --depth 1
-- done
END
)
is "$(section "$out" tree | sed '/^\*/q' | awk '{ print $(1 + /^\*/) }' | tr '\n' ' ')" \
	"$(section "$out" frames | sed 's/^#[0-9]* *\(0x[0-9a-f]* in \)*//; s/ .*//' | tac | tr '\n' ' ')" "the tree has the frames down to the present one"
is "$(section "$out" tree | grep -A 99 '^\*' | awk '{ print $(NF - 1) }' | head -n 3 | tr '\n' ' ')" "sum sum sum " "and what it calls"
is "$(section "$out" tree | sed -n 's/^\*.* //p')" "$(lizard calls --json "$rec" sum | sed -n '7s/.*"from": "\([^"]*\)".*/\1/p')" "at the instants of lizard calls"
is "$(section "$out" short | grep -c 'sum')" 3 "a limit and a depth"
lizard tree --at "$(section "$out" tree | sed -n 's/^\*.* //p')" --depth 3 "$rec" >"$T/tree"
section "$out" tree >"$T/got"
same "$T/tree" "$T/got" "lizard tree --at prints the same"

# ---- completion ----

out=$(printf 'complete info calls th\ncomplete info calls sum man\ncomplete info calls --co\ncomplete call-goto 2 e\n' | gdb_run "$rec" 2>&1 | tail -n +4)
is "$(printf '%s\n' "$out" | grep -v '^\[' | tr '\n' ' ')" "info calls thrower info calls sum many info calls --count call-goto 2 end " "functions, options and words are completed"

# ---- C++: names as GDB has them ----

cat >"$T/names.cc" <<'END'
namespace space {
struct thing {
	int base;
	int plus(int n) const { return base + n; }
};
template <class T> T twice(T x) { return 2 * x; }
}
static int plus(int n) { return n + 1; }
int main() { space::thing t{3}; return t.plus(4) + space::twice(5) + plus(6) == 24 ? 0 : 1; }
END
"${LIZARD_CXX:-$LIZARD_BIN/lizard-c++}" -g -O0 "$T/names.cc" -o "$T/names" && record names
is $? 0 "a program in C++ is recorded"
out=$(gdb_run "$T/names" <<'END'
-- member
info calls space::thing::plus
-- both
info calls plus
-- instance
info calls space::twice<int>
-- file
info calls names.cc:8
-- complete
complete info calls space::tw
-- done
END
)
like "$(section "$out" member)" "^       1  space::thing::plus\(int\) const  from main  depth 2 .* return\$" "a member function"
is "$(section "$out" both | wc -l)" 2 "all functions that break would take"
like "$(section "$out" instance)" "^       1  int space::twice<int>\(int\)  from main" "an instance of a template"
like "$(section "$out" file)" "^       1  plus\(int\)  from main" "the function that has a line"
like "$(section "$out" complete)" "^info calls space::tw" "completion"

# ---- other recordings ----

lizard pack -o "$T/packed" "$rec" >/dev/null 2>&1
out=$(printf -- '-- list\ninfo calls sum\n-- done\n' | gdb_run "$T/packed")
section "$out" list >"$T/got"
lizard calls "$T/packed" sum >"$T/list.packed"
same "$T/list.packed" "$T/got" "a pack answers"

cp -r "$(readlink -f "$LIZARD_TRACE_DIR/activations-O0-latest")" "$T/cut"
markers=$(ls "$T/cut"/markers-*)
truncate -s $(($(stat -c %s "$markers") * 2 / 3)) "$markers"
out=$(printf -- '-- list\ninfo calls sum\n-- done\n' | gdb_run "$T/cut")
like "$(section "$out" list)" "cut: this is about a part of the run" "a cut recording says so"
is "$(section "$out" list | grep -c '  sum  ')" "$(lizard calls -c "$T/cut" sum 2>/dev/null)" "and answers about what is left"

cat >"$T/forks.c" <<'END'
#include <sys/wait.h>
#include <unistd.h>
static int in_child(int n) { return n * 2; }
static int in_parent(int n) { return n * 3; }
int main(void)
{
	if (fork() == 0)
		_exit(in_child(1) + in_child(2) == 6 ? 0 : 1);
	wait(0);
	return in_parent(1) == 3 ? 0 : 1;
}
END
"${LIZARD_CC:-$LIZARD_BIN/lizard-cc}" -g -O0 "$T/forks.c" -o "$T/forks" && timeout 60 lizard-trace -q --follow all -o "$T/forked" "$T/forks"
child=$(lizard ps --json "$T/forked" | grep -o '"pid": [0-9]*' | sed -n '2s/.*: //p')
out=$(printf 'info calls in_child\ninfo calls --count in_parent\ncall-goto 2\ninfo args\n' | gdb_run -p "$child" "$T/forked")
is "$(printf '%s\n' "$out" | grep -c '  in_child  from main')" 2 "of several processes the one at hand is asked"
like "$out" "^n = 2\$" "and gone through"
like "$out" "^0\$" "and no other"

# ---- names of a stranger ----

cat >"$T/names.c" <<'END'
__attribute__((noinline)) int helper(int n) { return n + 1; }
__attribute__((noinline)) int _Z1AvBBBBBBBBBBBBBBBBBBB(int n) { return helper(n); }
__attribute__((noinline)) int CCCCCCCCCCCCCCCCCCCCCCCCCCC(int n) { return helper(n); }
int main(void) { return _Z1AvBBBBBBBBBBBBBBBBBBB(1) + CCCCCCCCCCCCCCCCCCCCCCCCCCC(2) - 5; }
END
"${LIZARD_CC:-$LIZARD_BIN/lizard-cc}" -g -O0 "$T/names.c" -o "$T/names" &&
	perl -0777 -pi -e 's/_Z1AvB{19}/_Z1Av\nshell touch made1 /g; s/C{27}/*\$_shell("touch made2;:  ")/g' "$T/names" && record names
is $? 0 "a program with names that are commands: recorded"
mkdir "$T/made"
(
	cd "$T/made" || exit
	gdb_run -ex 'set language c++' -ex 'info calls helper' -ex 'python import lizard' \
		-ex 'python print([int(one.args()["n"]) for one in lizard.calls("*$_shell(\"touch made2;:  \")")])' \
		-ex 'python lizard.hits("*$_shell(\"touch made2;:  \")")' \
		"$T/names" </dev/null >"$T/out"
	lizard calls --args "$T/names" helper main '*$_shell("touch made2;:  ")' >"$T/args" 2>"$T/err"
)
is "$(ls "$T/made")" "" "names are no commands"
is "$(grep -c 'n=2) ' "$T/args")" 2 "and answered as others" || diag "$(cat "$T/args" "$T/err")"
is "$(grep -c '^ .* helper  from ' "$T/out")" 2 "one line each" || diag "$(cat "$T/out")"
like "$(cat "$T/out")" '^\[2\]$' "by the module as well" || diag "$(cat "$T/out")"

# ---- what ends it ----

mkdir -p "$T/slow/bin" "$T/slow/lib/lizard"
cp -r "$LIZARD_BIN/../lib/lizard/lizard.py" "$LIZARD_BIN/../lib/lizard/lizard_gdb" "$T/slow/lib/lizard/"
cat >"$T/slow/bin/lizard" <<END
#!/bin/sh
echo \$\$ >"$T/asking"
exec sleep 1000
END
chmod +x "$T/slow/bin/lizard"
gdb=gdb open="target remote | exec $LIZARD_BIN/lizard serve $rec"
[ "$LIZARD_FRONT_END" != stock ] && patched_gdb && gdb=$patched open="target lizard $rec"
cat >"$T/interrupt.py" <<'END'
import os, sys, time
from terminal import Terminal
t = Terminal(sys.argv[2:])
t.until(r"\(gdb\) $")
t.type("info calls main\n")
begin = time.time()
while not os.path.exists(sys.argv[1]) and time.time() - begin < 100:
    time.sleep(0.1)
time.sleep(0.5)
begin = time.time()
t.type("\x03")
text = t.until(r"\(gdb\) $")
print("took", time.time() - begin < 20, "Quit" in text)
t.type("info lizard\n")
print(t.until(r"\(gdb\) $"))
END
out=$(PYTHONPATH=$LIZARD_SRC/tests/lib timeout 240 python3 "$T/interrupt.py" "$T/asking" "$gdb" -q -nx -ex 'set confirm off' -ex 'set remotetimeout 600' -x "$T/slow/lib/lizard/lizard.py" -ex "$open" -ex 'set style enabled off' 2>&1)
like "$out" "^took True True" "Ctrl-C ends a question" || diag "$out"
like "$out" "recording +.*activations-O0" "and the session goes on"
ok "$(kill -0 "$(cat "$T/asking")" 2>/dev/null && echo 1 || echo 0)" "who was asked is gone"

lizard calls --args --json "$rec" sum turn fill quiet many >"$T/part" 2>"$T/err" &
asked=$!
wait_until test -s "$T/part"
kill -TERM $asked
wait $asked
is $? 143 "a signal ends visits"
like "$(cat "$T/err")" "interrupted: this is only a part" "what there is is said to be a part"
lizard calls --json "$rec" sum turn fill quiet many | head -n "$(wc -l <"$T/part")" >"$T/all"
<"$T/part" python3 -c '
import json, sys
for line in sys.stdin:
	print(json.dumps({k: v for k, v in json.loads(line).items() if k not in ("args", "value", "error")}))' >"$T/got"
same "$T/all" "$T/got" "and is right"

LIZARD_FRONT_END=stock LIZARD_GDB=/nonesuch lizard calls --args "$rec" sum >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "1 " "no GDB, no values"
like "$(cat "$T/err")" "visited 0 of 17 calls: .*/nonesuch" "and it is said why"
lizard calls --args --count "$rec" sum >"$T/out" 2>"$T/err"
is $? 2 "what is counted is not visited"
done_testing
