#!/bin/sh
# Opening: wrong arguments, a rebuilt program, a cut recording, a port for IDEs, a detach.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour

out=$("$LIZARD_BIN/lizard-gdb" 2>&1)
is $? 1 "no argument: status"
like "$out" 'lizard-gdb: which program' "no argument: sentence"
like "$("$LIZARD_BIN/lizard-gdb" --help)" 'usage: lizard-gdb' "--help"
like "$("$LIZARD_BIN/lizard-gdb" --version)" '^lizard [0-9]' "--version"
out=$("$LIZARD_BIN/lizard-gdb" "$T/nothing" 2>&1)
is $? 1 "no recording: status"
like "$out" 'lizard-gdb: .*nothing' "no recording: sentence"

rec=$(readlink -f "$LIZARD_TRACE_DIR/tour-latest")
like "$(echo 'info lizard' | gdb_run "$rec")" "^recording +$rec" "opened by its directory"

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
out=$(plain -ex "target remote 127.0.0.1:$port" -ex 'reverse-continue' -ex 'monitor when' -ex kill)
like "$out" '^start=1' "a second one goes on where the first left off"
wait $server
is $? 0 "kill ends the server"

cp "$T/tour" "$T/tour.old"
printf 'int main(void) { return 0; }\n' >"$T/other.c"
"$LIZARD_BIN/lizard-cc" -g "$T/other.c" -o "$T/tour"
out=$(echo 'print 1' | gdb_run "$T/tour")
is $? 1 "rebuilt: status"
like "$out" 'was rebuilt after it was recorded .build-id [0-9a-f]+, recorded [0-9a-f]+' "rebuilt: sentence"
out=$(echo 'print total' | gdb_run --kept "$T/tour")
like "$out" '^\$1 = 0' "--kept uses the recording's copy"
rm "$T/tour"
out=$(echo 'print total' | gdb_run "$rec")
like "$out" '^\$1 = 0' "a program that is gone is replaced by the copy"
cp "$T/tour.old" "$T/tour"

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
like "$out" 'recording was cut' "is announced"
like "$out" '^\$1 = [0-9]+' "and can be looked at"
truncate -s 100 "$T/cut/checkpoints"
out=$(echo 'print 1' | gdb_run "$T/cut")
is $? 1 "nothing to replay: status"
like "$out" 'no checkpoint' "nothing to replay: sentence"
done_testing
