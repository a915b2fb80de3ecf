#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Opening: wrong arguments, a rebuilt program, a cut recording, a port for IDEs, a detach.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour

out=$("$LIZARD_BIN/lizard-gdb" 2>&1)
is $? 2 "no argument: status"
like "$out" 'lizard-gdb: which program' "no argument: sentence"
like "$("$LIZARD_BIN/lizard-gdb" --help)" 'usage: lizard-gdb' "--help"
for how in "-v" "--stock --version" "--gdb gdb --version"; do
	# shellcheck disable=SC2086
	out=$(LIZARD_FRONT_END='' "$LIZARD_BIN/lizard-gdb" $how | tr '\n' ' ')
	like "$out" '^GNU gdb .*[0-9]+\.[0-9]+ lizard [0-9.]+, (stock|patched) GDB .*gdb $' "$how: GDB's version and Lizard's"
done
like "$out" ', stock GDB gdb' "--gdb: that one's"
out=$("$LIZARD_BIN/lizard-gdb" --gdb "$T/none" --version 2>&1)
is "$?" 1 "--version without a GDB: status"
like "$out" "^lizard-gdb: $T/none --version says nothing" "and what is wrong"
out=$("$LIZARD_BIN/lizard-gdb" -p 2>&1)
is "$? $out" "2 lizard-gdb: option '-p' requires an argument" "an option without its argument"
out=$("$LIZARD_BIN/lizard-gdb" "$T/nothing" 2>&1)
is $? 1 "no recording: status"
like "$out" 'lizard-gdb: .*nothing' "no recording: sentence"

like "$out" 'neither a directory with a file .meta., nor in' "no recording: where was looked"
out=$("$LIZARD_BIN/lizard-gdb" /bin/true 2>&1)
is "$?" 1 "a program that was never recorded: status"
like "$out" 'record it first: lizard-trace /bin/true$' "and what to do"

rec=$(readlink -f "$LIZARD_TRACE_DIR/tour-latest")
out=$(echo 'info lizard' | gdb_run "$rec")
like "$out" "^recording +$rec" "opened by its directory"
like "$out" "^tour-1: $T/tour, exit status 7 after [0-9.]+ s, recorded 20[0-9-]+ [0-9:]+\.$" "it says which one, of what, and how that ended"

cp "$T/tour" "$T/back\\slash of 'tour\""
"$LIZARD_BIN/lizard-trace" -q "$T/back\\slash of 'tour\"" >"$T/out"
like "$(echo 'print total' | gdb_run "$T/back\\slash of 'tour\"")" '^\$1 = 0' "a name with a backslash, blanks and quotes"

mkdir "$T/broken
line"
cp -r "$rec" "$T/broken
line/rec"
out=$(echo 'print total' | gdb_run "$T/broken
line/rec")
is "$? $(echo "$out" | tail -n 1)" "1   line/rec: GDB has no way to name a path with a line break in it; rename it" "a name with a line break"

gdb_closed() { timeout 60 "$LIZARD_BIN/lizard-gdb" -nx -batch -ex 'set pagination off' -ex "pipe print total | cat >$T/printed" "$rec"; }
for closed in "<&-" ">&-" "<&- >&- 2>&-"; do
	rm -f "$T/printed"
	eval "gdb_closed $closed" >"$T/closed" 2>&1
	is "$? $(cat "$T/printed")" "0 \$1 = 0" "closed descriptors: $closed" || diag "$(cat "$T/closed")"
done

# A signal that has no name in Python.
printf '#include <signal.h>\n#include <unistd.h>\nint main(void) { return kill(getpid(), 40); }\n' >"$T/rt.c"
"$LIZARD_BIN/lizard-cc" -g "$T/rt.c" -o "$T/rt"
"$LIZARD_BIN/lizard-trace" -q -o "$T/rt.rec" "$T/rt"
is $? 168 "ended by a real-time signal"
out=$(echo 'when' | gdb_run -e "$T/rt.rec")
like "$out" '^Program received signal SIG40, Real-time signal 6\.$' "it is named at the end" || diag "$out"
like "$out" "^rt\.rec: $T/rt, killed by signal 40 after" "and where it is opened"
# A time that nothing was recorded at.
sed 's/^start-time .*/start-time 18446744073709551615/' "$T/rt.rec/meta" >"$T/meta" && cp "$T/meta" "$T/rt.rec/meta"
out=$(echo 'when' | gdb_run "$T/rt.rec")
like "$out" '^position ' "a forged time of recording" || diag "$out"

# Served on a port: loopback only, one debugger after another, GDB without Lizard's commands.
timeout 100 "$LIZARD_BIN/lizard-gdb" -s 0 "$T/tour" 2>"$T/serve.err" &
server=$!
wait_until grep -q listening "$T/serve.err"
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\).*/\1/p' "$T/serve.err" | head -1)
[ -n "$port" ]
ok $? "the port is announced" || diag "$(cat "$T/serve.err")"
grep -q " 0100007F:$(printf %04X "$port") 00000000:0000 0A " /proc/net/tcp
ok $? "it listens on loopback only"
plain() { timeout 60 gdb -nx -batch -ex 'set pagination off' "$@" "$T/tour" 2>&1; }
out=$(plain -ex "target remote 127.0.0.1:$port" -ex 'break factorial' -ex continue -ex reverse-stepi -ex 'info threads' -ex detach)
like "$out" 'Breakpoint 1, factorial \(n=5\)' "a plain GDB finds a breakpoint"
out=$(plain -ex "target remote 127.0.0.1:$port" -ex 'reverse-continue' -ex 'monitor when' -ex detach)
like "$out" '^start=1' "a second one goes on where the first left off"
out=$(plain -ex "target remote 127.0.0.1:$port" -ex 'break write' -ex continue -ex backtrace -ex 'info sharedlibrary')
like "$out" '^0x.* Yes .*/libc\.so' "the C library is found without set sysroot" || diag "$out"
like "$out" '^#[0-9]+ .* main \(' "... and main behind it"
plain -ex "target remote 127.0.0.1:$port" -ex kill >"$T/killed"
wait $server
is $? 0 "kill ends the server"

cp "$T/tour" "$T/tour.old"
printf 'int main(void) { return 0; }\n' >"$T/other.c"
"$LIZARD_BIN/lizard-cc" -g "$T/other.c" -o "$T/tour"
out=$(echo 'print total' | gdb_run "$T/tour")
like "$out" "tour was rebuilt after it was recorded; using the copy that the recording keeps" "rebuilt: sentence"
like "$out" '^\$1 = 0' "rebuilt: the copy is used"
out=$(echo 'print total' | gdb_run --kept "$T/tour")
like "$out" '^\$1 = 0' "--kept uses the recording's copy"
rm "$T/tour"
out=$(echo 'print total' | gdb_run "$rec")
like "$out" '^\$1 = 0' "a program that is gone is replaced by the copy"
cp "$T/tour.old" "$T/tour"

# Names at the first instant, come to from behind: the libraries that are loaded later have none of them.
out=$(gdb_run "$rec" <<END
-- begin
reverse-continue
output left
echo \\n
info sharedlibrary
END
)
like "$(section "$out" begin)" "^3$" "at the begin, after reverse-continue, a variable has its type"
is "$(section "$out" begin | grep -c 'libc\.so')" 0 "and libraries of later are not listed"
if patched_gdb && [ "$LIZARD_FRONT_END" != stock ]; then
	out=$(gdb_run -e "$rec" <<END
-- begin
reverse-continue
prev
info sharedlibrary
backtrace
END
)
	like "$(section "$out" begin)" '^0x.* /.*ld-linux' "opened at the end, the loader is known at the begin"
	like "$(section "$out" begin)" '^#0 .* _start \(\)' "and its functions"
fi

# A library whose name is relative to where the program ran, and one whose name is a link; opened there and elsewhere.
mkdir -p "$T/there" "$T/elsewhere"
cat >"$T/there/lib.c" <<'END'
int sum;
int bump(int n) { for (int i = 0; i < n; i++) sum += i; return sum; }
END
cat >"$T/there/opens.c" <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	int (*bump)(int) = (int (*)(int))dlsym(dlopen(argv[argc - 1], RTLD_NOW), "bump");
	bump(4);
	return bump(5);
}
END
library() {
	(cd "$T/there" && "$LIZARD_BIN/lizard-cc" -g -fPIC -shared "$@" lib.c -o "$name")
}
opened_in() {
	for front_end in --stock $patched; do
		out=$(cd "$1" && printf 'jump_forward end\njump_backward bump\nprint sum\nreverse-finish\ninfo sharedlibrary\n' |
			gdb_run $front_end "$T/there/$rec")
		like "$(echo "$out" | tr '\n' ' ')" 'bump .n=5. at lib.c:2 .*\$1 = 6 .* in main .*opens.c:6' "$2 ($front_end)"
		like "$out" "Yes +(target:)?$T/there/real.so" "its file ($front_end)"
	done
}
patched=
! patched_gdb || patched=--patched
name=real.so
library -O0
ln -s real.so "$T/there/link.so"
(cd "$T/there" && "$LIZARD_BIN/lizard-cc" -g -O0 opens.c -o opens)
(cd "$T/there" && "$LIZARD_BIN/lizard-trace" -q -o relative ./opens ./real.so)
(cd "$T/there" && "$LIZARD_BIN/lizard-trace" -q -o linked ./opens "$T/there/link.so")
name=other.so
library -O2 -DOTHER
ln -sf other.so "$T/there/link.so"
rec=linked
opened_in "$T/there" "a link that leads to another library now"
rec=relative
opened_in "$T/there" "a relative name"
cp "$T/there/other.so" "$T/elsewhere/real.so"
opened_in "$T/elsewhere" "and where another library has it"
name=real.so
library -O2
opened_in "$T/there" "a relative name, rebuilt"
opened_in / "and looked at from elsewhere"

# A stock GDB reads files from the server where those here are others, and says so of each.
echo 'int bump(int); int main(void) { return bump(2); }' >"$T/there/linked.c"
name=libsum.so
library -O0
(cd "$T/there" && "$LIZARD_BIN/lizard-cc" -g -O0 linked.c -o linked-with -L. -lsum -Wl,-rpath,"$T/there")
"$LIZARD_BIN/lizard-trace" -q -o "$T/there/sum" "$T/there/linked-with"
library -O2
out=$(printf 'break bump\ncontinue\nshow sysroot\n' | gdb_run --stock "$T/there/sum")
like "$out" 'system root is "target:"' "a library that was rebuilt is read from the server"
like "$out" '^Breakpoint 1, bump \(n=2\)' "... with its symbols"
is "$(echo "$out" | grep -c 'from remote target\|Warning: File transfers\|warning: File transfers')" 0 "... and nothing is said of it" || diag "$out"

# Of a process that executed another program GDB looks for either by itself, at its path or in the recording.
printf '#include <unistd.h>\nint one(void) { return 1; }\nint main(void) { return one() && execl("%s", "second", NULL); }\n' "$T/second" >"$T/first.c"
echo 'int two(void) { return 2; } int main(void) { return two() - 2; }' >"$T/second.c"
for name in first second; do "$LIZARD_BIN/lizard-cc" -g -O0 "$T/$name.c" -o "$T/$name"; done
"$LIZARD_BIN/lizard-trace" -q -o "$T/two" "$T/first"
is "$? $(printf 'show sysroot\n' | gdb_run --stock "$T/two" | grep -c 'system root is "target:"')" "0 0" "two programs that are here are read here"
printf 'int three(void) { return 3; }\nint main(void) { return three(); }\n' >"$T/first.c"
"$LIZARD_BIN/lizard-cc" -g -O0 "$T/first.c" -o "$T/first"
out=$(printf 'jump_forward end\njump_backward start\njump_forward one\nshow sysroot\n' | gdb_run --stock "$T/two")
like "$out" '^one \(\) at ' "one that was rebuilt is the recorded one, when GDB comes back to it as well" || diag "$out"
like "$out" 'system root is "target:"' "... read from the server"

# A cut recording: the tracer was killed.
prog_build long
"$LIZARD_BIN/lizard-trace" -q -o "$T/cut" "$T/long" 100000000000 >/dev/null 2>&1 &
tracer=$!
has_checkpoints() {
	[ "$("$LIZARD_BIN/lizard" dump --checkpoints "$T/cut" | wc -l)" -ge 3 ]
}
wait_until has_checkpoints
kill -KILL $tracer
wait $tracer 2>/dev/null
out=$(printf 'jump_forward end\nprint state\nwhen\n' | gdb_run "$T/cut")
like "$out" 'recording is not whole: incomplete' "is announced"
like "$out" '^\$1 = [0-9]+' "and can be looked at"
truncate -s 100 "$T/cut/checkpoints"
out=$(echo 'print 1' | gdb_run "$T/cut")
is $? 1 "nothing to replay: status"
like "$out" 'no checkpoint' "nothing to replay: sentence"
done_testing
