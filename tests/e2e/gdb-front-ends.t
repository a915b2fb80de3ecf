#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The two front ends, a GDB with the server and the patched GDB of the same version, show the same.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour
unset LIZARD_FRONT_END

out=$(LIZARD_FRONT_END=other "$LIZARD_BIN/lizard-gdb" "$T/tour" 2>&1)
is $? 2 "an unknown front end: status"
like "$out" "LIZARD_FRONT_END is 'other'" "and sentence"
like "$(echo 'info lizard' | gdb_run --stock "$T/tour")" '^front end .*lizard serve$' "--stock"

mkdir -p "$T/alone/bin" "$T/alone/lib/lizard"
cp "$LIZARD_BIN/lizard" "$T/alone/bin/"
ln -s lizard "$T/alone/bin/lizard-gdb"
cp "$LIZARD_BIN/../lib/lizard/lizard.py" "$T/alone/lib/lizard/"
out=$("$T/alone/bin/lizard-gdb" --patched "$T/tour" 2>&1)
is $? 1 "--patched where there is none: status"
like "$out" 'gdb/bin/gdb .the patched GDB, to be had by .make gdb.' "and sentence"

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

served="--stock --gdb $(same_gdb)"
diag "the server is asked by ${served##* }"

# One by one, so that an error does not end it. That a source file is missing GDB says in short the second time, unless it has
# read symbols anew meanwhile.
show() {
	front_end=$1 of=$2
	set --
	while read -r command; do
		set -- "$@" -ex "$command"
	done <"$T/session"
	# shellcheck disable=SC2086
	timeout 240 "$LIZARD_BIN/lizard-gdb" $front_end -nx -batch -ex 'set pagination off' -ex 'set width 0' "$@" "$of" 2>&1 |
		grep -v '^front end' | sed 's/^\([0-9]*\)\tin \(.*\)$/\1\t\2: No such file or directory./; s/^warning: \([0-9]*\t.*: No such file or directory\)$/\1./'
}

# The commands on stdin show the same, at least LINES lines, in both front ends.
same() {
	what=$1 of=$2 lines=$3
	cat >"$T/session"
	show "$served" "$of" >"$T/stock"
	show --patched "$of" >"$T/patched"
	[ "$(wc -l <"$T/stock")" -ge "$lines" ] && cmp -s "$T/stock" "$T/patched"
	ok $? "the same: $what" || diag "$(wc -l <"$T/stock") lines; $(diff "$T/stock" "$T/patched" | head -20)"
}

same "a session" "$T/tour" 200 <<'END'
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
undo-move
undo-move 3
redo-move 2
redo-move 50
redo-move
undo-move nothing
undo-move 0
reverse-continue
reverse-continue
undo-move
checkpoint
restart 1
detach
END

same "every command" "$T/tour" 150 <<'END'
when extra
fs
fn
bs
prev
prev 3
prev 0
prev -1
prev nothing
prev 1 +
break 45 if total == 5
commands
print n
end
tbreak add
jump_forward 88
prev
info breakpoints
prev 2
display total
display/i $pc
fs 2
prev 2
bs 2
jump_backward 60%
jump_forward -any factorial
jump_forward -any
jump_backward -any end
undisplay 1
delete
reverse_watchpoint
reverse_watchpoint nothing
reverse_watchpoint 1 +
reverse_watchpoint 5
reverse_watchpoint *(int *) 0
reverse_watchpoint $rip
jump_forward end
reverse_watchpoint total
reverse_watchpoint total
reverse_watchpoint -l box.depth[1]
reverse_watchpoint -location list->value
reverse_watchpoint -l main
reverse_watchpoint box
reverse_watchpoint box.label
reverse_watchpoint left + right
last total
last -r total
last -a box.depth[1]
last box
last buffer
last
last nothing
last $rip
last 5
last total = 5
last -r *(int *) 0
next-access -a total
next-access total
next-access
info access total
info access nothing
info access box -since 50%
info access total -since nowhere
info access total -since end
info intervals
jump_forward end
jump_backward add
last x
last r
flowback total
flowback x
flowback 1
flowback nothing
flowback -why
flowback-goto 1
undo-move
reverse_watchpoint x
finish
reverse_watchpoint sum
reverse_watchpoint i
up
break add
display sum
jump_forward factorial
fs
up
reverse_watchpoint n
info breakpoints
undisplay 3
info calls factorial
info calls --count factorial
info calls nonesuch
info calls
call-goto 2
info calls factorial
info tree
info points
point here it is
point
info points
goto-point here
delete-point 2
goto-point 2
goto-point
delete-point 1
call-goto 2 end
call-goto 77
call-goto
info tree extra
python import lizard
python print(lizard.calls("add", limit=2), lizard.calls("add")[1].args()["y"], lizard.calls("add")[1].value(), lizard.position())
checkpoint
checkpoint extra
jump_forward 50%
checkpoint
info checkpoints
restart 1
restart 1 + 1
restart 9
restart
restart nothing
delete checkpoint 1
delete checkpoint 1
delete checkpoint
info checkpoints
start
run 1 2
run
starti 1
starti
signal SIGUSR1
signal 0
signal
queue-signal SIGUSR1
when
start extra
jump
jump 5
j main
return
return 5
delete
run
info display
reverse_watchpoint total
detach
when
info lizard
fs
bs
prev
jump_forward main
jump_forward start
reverse_watchpoint total
checkpoint
restart 2
info checkpoints
run
start
END

is "$(grep -c "The program's arguments are the recorded ones" "$T/patched")" 3 "run, start and starti take no arguments"

# What GDB has called runs in a copy, which may go another way.
same "return out of a called function" "$T/tour" 25 <<'END'
jump_backward start
jump_forward main
break factorial
print factorial(3)
return 5
backtrace
return
print factorial(3)
continue
up
return
backtrace
stepi
when
END
is "$(grep -c '^#0 *main ' "$T/patched")" 2 "it comes back to where it was called, twice"

{
	for command in fs fn bs prev jump_forward jump_backward reverse_watchpoint last next-access 'info access' 'info intervals' flowback flowback-goto undo-move redo-move when 'info lizard' 'info calls' 'info tree' call-goto point 'info points' goto-point delete-point checkpoint restart 'info checkpoints' 'delete checkpoint' jump return run start starti signal queue-signal; do
		echo "help $command"
	done
	for text in 'jump_backward fact' 'jump_forward ma' 'reverse_watchpoint tot' 'last tot' 'last -r tot' 'flowback tot' 'info access tot' 'next-a' 'jump_f' 'reverse_w' 'prev ' 'restart ' 'jump_forward sta' \
		'jump_backward en' 'jump_forward -' 'jump_forward -a' 'jump_backward -any' 'jump_backward -any sta' 'jump_forward -any  factor' \
		'jump_forward -any tour.c:fac' 'jump_backward tour.c:fac' 'jump_backward -function fac' 'jump_forward -any -function fac' \
		"jump_forward -any 'factoria" 'info calls fac' 'info calls --li' 'call-goto 1 e' 'jump_forward *tot' 'jump_forward -any *tot' 'jump_backward -anyfac'; do
		echo "complete $text"
	done
} >"$T/helps"
same "help and completion" "$T/tour" 60 <"$T/helps"
for want in 'jump_forward start' 'jump_backward end' 'jump_forward -any' 'jump_backward -any start' 'jump_forward -any  factorial' 'jump_backward tour\.c:factorial'; do
	like "$(cat "$T/patched")" "^$want\$" "completion: $want"
done

"$LIZARD_BIN/lizard-cc" -g -O2 "$LIZARD_SRC/tests/progs/gdb/tour.c" -o "$T/tour-O2" && record tour-O2
same "inlined functions" "$T/tour-O2" 60 <<'END'
break factorial
jump_forward end
prev
prev
prev
prev
info frame
prev
prev
backtrace
prev
up
prev
backtrace
bs
fn
prev 4
prev
step
prev
prev
reverse_watchpoint sum
reverse_watchpoint total
reverse_watchpoint list
prev
prev
tbreak add
prev 30
when
END

cc -g "$LIZARD_SRC/tests/progs/gdb/tour.c" -o "$T/plain" && record plain
same "a program without markers" "$T/plain" 15 <<'END'
info lizard
break factorial
continue
bs
prev
prev 2
delete
checkpoint
reverse_watchpoint total
restart 1
reverse_watchpoint n
END

prog_build events && "$LIZARD_BIN/lizard-cc" -g -fPIC -shared "$LIZARD_SRC/tests/progs/gdb/late.c" -o "$T/late.so" && record events "$T/late.so"
same "a library loaded late" "$T/events" 20 <<'END'
handle all nostop noprint pass
jump_forward end
break triple
jump_backward start
info breakpoints
continue
jump_backward main
bs
fn
tbreak late.c:6
run
prev
start
jump_forward end
starti
info sharedlibrary
info breakpoints
END

prog_build threads -O0 && record threads
same "threads" "$T/threads" 50 <<'END'
info threads
jump_forward 50%
when
info threads
prev
bs
prev 3
when
info threads
thread 2
prev
bs
checkpoint
break work
display $_thread
jump_backward 30%
prev
prev 5
continue
prev
prev
restart 1
info threads
start
END

like "$(echo 'info lizard' | gdb_run --patched "$T/tour")" '^front end .*target lizard$' "which says that it is it"
for front_end in --stock --patched; do
	out=$(printf 'help lizard\ncomplete jump_backward fact\nhelp bs\n' | gdb_run $front_end "$T/tour")
	is "$(printf '%s\n' "$out" | sed -n 's/ -- .*\.$//p' | tr '\n' ' ')" 'bs call-goto delete-point flowback flowback-goto fn fs goto-point jump_backward jump_forward last next-access point prev redo-move reverse_watchpoint undo-move when ' "help lizard ($front_end)"
	out=$(echo 'apropos lizard' | gdb_run $front_end "$T/tour")
	is "$(printf '%s\n' "$out" | grep -c '^bs -- \|^checkpoint -- \|^info lizard -- \|^when -- ')" 4 "apropos lizard ($front_end)"
done
out=$(printf 'complete jump_backward fact\nhelp bs\n' | gdb_run --patched "$T/tour")
like "$out" '^jump_backward factorial$' "completion"
like "$out" '^Usage: bs .N.$' "help of one"
like "$(printf 'detach\nbs\nwhen\n' | gdb_run --patched "$T/tour")" 'not being replayed|No recording is open' "without a recording"
like "$(echo 'continue' | gdb_run --patched --echo "$T/tour")" '^sum [0-9]' "--echo shows what the program writes"

# Without lizard-gdb: the target brings the commands, and programs that are no recordings keep GDB's own.
echo 'int main(void) { return 3; }' | cc -g -x c - -o "$T/live"
out=$("$patched" -nx -batch -ex "target lizard $T/tour" -ex 'jump_forward add' -ex 'run 1' -ex bs \
	-ex detach -ex "file $T/live" -ex run -ex 'return 5' 2>&1)
like "$out" '^add \(' "target lizard alone: a jump"
like "$out" "^The program's arguments are the recorded ones" "and run"
like "$out" '^\[Inferior 1 .* exited with code 03\]' "run of a program that is no recording"
like "$out" '^No selected frame' "and return"
done_testing
