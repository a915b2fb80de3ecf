#!/bin/sh
# The two front ends, a stock GDB with the server and the patched GDB, show the same.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour
unset LIZARD_FRONT_END

out=$(LIZARD_FRONT_END=other "$LIZARD_BIN/lizard-gdb" "$T/tour" 2>&1)
is $? 1 "an unknown front end: status"
like "$out" "LIZARD_FRONT_END is 'other'" "and sentence"
like "$(echo 'info lizard' | gdb_run --stock "$T/tour")" '^front end .*lizard serve$' "--stock"

mkdir -p "$T/alone/bin" "$T/alone/lib/lizard"
cp "$LIZARD_BIN/lizard" "$T/alone/bin/"
ln -s lizard "$T/alone/bin/lizard-gdb"
cp "$LIZARD_BIN/../lib/lizard/lizard.py" "$T/alone/lib/lizard/"
out=$("$T/alone/bin/lizard-gdb" --patched "$T/tour" 2>&1)
is $? 1 "--patched where there is none: status"
like "$out" 'gdb/bin/gdb .the patched GDB, which .make gdb. builds' "and sentence"

if ! patched_gdb; then
	skip "the patched GDB" "not built, or older than the library: make gdb"
	done_testing
	exit
fi
like "$(echo 'info lizard' | gdb_run "$T/tour")" '^front end .*target lizard$' "it is used where it is"
like "$(echo 'info lizard' | LIZARD_GDB=gdb gdb_run "$T/tour")" '^front end .*lizard serve$' "unless another GDB is named"
cp -a "$LIZARD_BIN/../lib/lizard/gdb" "$T/alone/lib/lizard/"
cp -a "$LIZARD_BIN/../lib/lizard/lizard_gdb" "$T/alone/lib/lizard/"
touch -d '2 days ago' "$T/alone/lib/lizard/gdb/bin/gdb"
out=$("$T/alone/bin/lizard-gdb" -nx -batch -ex 'info lizard' "$T/tour" 2>&1)
like "$out" '^lizard-gdb: .*gdb is older than .*make gdb' "or it is older than the library"
like "$out" '^front end .*lizard serve$' "and then the stock one is"

cat >"$T/session" <<'END'
info registers
info all-registers
info auxv
info sharedlibrary
info threads
info proc mappings
info proc cmdline
break factorial if n == 2
continue
backtrace
up
info locals
finish
next
print $_siginfo
watch total
continue
reverse-continue
reverse-continue
print length("four")
print total = 5
print total
stepi
tbreak add
delete 1
reverse-continue
x/8i $pc
set var $rip = main
continue
when
bs
prev
jump_forward 50%
reverse_watchpoint total
catch syscall write
continue
continue
reverse-continue
info symbol $pc
delete
continue
jump main
jump_backward start
jump_forward factorial
fs
fn 2
bs 3
prev
jump_forward *$pc
jump_backward tour.c:33
jump_forward add
jump_forward 40
jump_backward nowhere
jump_forward
jump_forward add if 1
jump_forward end
jump_forward add
jump_backward 12.5%
jump_backward 200%
jump_forward 1:2.3@4#5
jump_backward *length
bs
bs 0
bs nothing
checkpoint
restart 1
detach
END
# One by one, so that an error does not end it.
show() {
	front_end=$1
	set --
	while read -r command; do
		set -- "$@" -ex "$command"
	done <"$T/session"
	timeout 120 "$LIZARD_BIN/lizard-gdb" "$front_end" -nx -batch -ex 'set pagination off' "$@" "$T/tour" 2>&1
}
show --stock >"$T/stock"
show --patched >"$T/patched"
[ "$(wc -l <"$T/stock")" -gt 200 ]
ok $? "a session"
cmp -s "$T/stock" "$T/patched"
ok $? "shows the same in the patched GDB" || diag "$(diff "$T/stock" "$T/patched" | head -20)"
like "$(echo 'info lizard' | gdb_run --patched "$T/tour")" '^front end .*target lizard$' "which says that it is it"
out=$(printf 'help lizard\ncomplete jump_backward fact\nhelp bs\n' | gdb_run --patched "$T/tour")
is "$(printf '%s\n' "$out" | sed -n 's/ -- .*\.$//p' | tr '\n' ' ')" 'bs fn fs jump_backward jump_forward when ' "help lizard"
like "$out" '^jump_backward factorial$' "completion"
like "$out" '^Usage: bs .N.$' "help of one"
like "$(printf 'detach\nbs\nwhen\n' | gdb_run --patched "$T/tour")" 'not being replayed|No recording is open' "without a recording"
like "$(echo 'continue' | gdb_run --patched --echo "$T/tour")" '^sum [0-9]' "--echo shows what the program writes"
done_testing
