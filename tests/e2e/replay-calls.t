#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# System calls that replay answers without a stop: verify says what it says with a stop for each (LIZARD_REPLAY_CALLS=stop), of honest
# recordings and of others, and the debugger shows the same.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
progs=$LIZARD_SRC/tests/progs

damage=$(tool replay-damage) && echo=$(tool replay-echo)
ok $? "the tools build" || { diag "$(cat "$T"/replay-*.log)"; done_testing; }
gcc -O1 -g -o "$T/plain" "$progs/replay/many_calls.c"
gcc -O1 -g -static -o "$T/static" "$progs/replay/many_calls.c"
lizard-cc -O1 -g -o "$T/markers" "$progs/replay/many_calls.c"
gcc -O1 -w -pthread -o "$T/all" "$progs/trace/fast_calls.c"
lizard-cc -O1 -w -pthread -o "$T/all-markers" "$progs/trace/fast_calls.c"
lizard-cc -O1 -g -o "$T/large" "$progs/replay/large_calls.c"
gcc -O1 -w -pthread -o "$T/hands" "$progs/trace/hands.c"
lizard-cc -O1 -w -pthread -o "$T/hands-markers" "$progs/trace/hands.c"
gcc -O1 -g -w -fno-inline -pthread -o "$T/map" "$progs/trace/map_calls.c"
lizard-cc -O1 -g -w -pthread -o "$T/map-markers" "$progs/trace/map_calls.c"
[ -x "$T/plain" ] && [ -x "$T/static" ] && [ -x "$T/markers" ] && [ -x "$T/all" ] && [ -x "$T/all-markers" ] && [ -x "$T/large" ] && [ -x "$T/hands" ] && [ -x "$T/hands-markers" ] && [ -x "$T/map" ] && [ -x "$T/map-markers" ]
ok $? "the programs build" || done_testing
mkdir "$T/files" "$T/mapped"

with_stops() {
	LIZARD_REPLAY_CALLS=stop timeout -k 5 120 "$@"
}

# Both ways: what is printed, and how often the process was resumed.
verify() { # RECORDING
	with_stops lizard verify "$1" >"$T/stops"
	status="$?"
	LIZARD_DEBUG=1 LIZARD_REPLAY_CALLS=answer timeout -k 5 120 lizard verify "$1" >"$T/verify" 2>"$T/debug"
	status="$status $?"
	answered=$(sed -n 's/^.* \([0-9]*\) system calls were answered.*/\1/p' "$T/debug" | tail -n 1)
}

honest() { # NAME LEAST PROGRAM ARGUMENT OPTION ...
	local name=$1 least=$2 prog=$3 arg=$4 rec=$T/recordings/$1
	shift 4
	timeout -k 5 120 lizard-trace -q "$@" -o "$rec" "$T/$prog" $arg >"$T/out" 2>"$T/err"
	ok $? "$name: recorded" || diag "$(cat "$T/err")"
	verify "$rec"
	is "$status" "0 0" "$name: clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$rec"; }
	is "$(cat "$T/verify")" "$(cat "$T/stops")" "$name: the same is said"
	[ "${answered:-0}" -ge "$least" ]
	ok $? "$name: most calls have no stop" || diag "${answered:-0}, expected $least"
	timeout -k 5 120 "$echo" "$rec" >"$T/replayed" 2>&1
	is "$(cat "$T/replayed")" "$(cat "$T/out")" "$name: replay prints the same"
}

# Lies are copies of those with stops: so all of their flow is kept, however busy the machine is.
for way in "stop --flow=full" buffer; do
	calls=--calls=$way way=${way%% *}
	for prog in plain static markers; do
		honest "$prog-$way" 20000 $prog "" $calls
	done
	honest "large-$way" 1000 large "" $calls
	honest "all-$way" 8000 all "$T/files" --calls=$way
	honest "all-markers-$way" 8000 all-markers "$T/files" --calls=$way
done
# Threads that hand the turn to each other: each time two events, and two calls.
for prog in hands hands-markers; do
	honest "$prog-handovers" 24000 $prog handovers
	honest "$prog-registers" 8000 $prog registers
	honest "$prog-registers-far" 8000 $prog registers_far
	honest "$prog-crowd" 4000 $prog crowd
done
# Calls that change mappings of data: the process makes them itself.
for way in stop buffer; do
	for prog in map map-markers; do
		honest "$prog-$way" 8000 $prog "3000 advise,map,file 1 $T/mapped" --calls=$way --checkpoint-interval=50
	done
done
# Where the kernel cannot bar its other calls, they have stops.
gcc -O1 -o "$T/refuse" "$progs/trace/refuse.c"
verify "$T/recordings/map-stop"
most=$answered
LIZARD_DEBUG=1 timeout -k 5 120 "$T/refuse" dispatch lizard verify "$T/recordings/map-stop" >"$T/verify" 2>"$T/debug"
is "$? $(cat "$T/verify")" "0 $(cat "$T/stops")" "an older kernel: the same is said"
answered=$(sed -n 's/^.* \([0-9]*\) system calls were answered.*/\1/p' "$T/debug" | tail -n 1)
[ "${answered:-0}" -gt 0 ] && [ "${answered:-0}" -lt $((most / 2)) ]
ok $? "an older kernel: other calls have no stop" || diag "$answered of $most"
honest "map-threads" 4000 map-markers "2000 advise,map,file 3 $T/mapped" --calls=buffer
honest "map-follow" 2000 map "2000 advise,map 1 $T/mapped" --calls=buffer --follow=all --flow=hash
honest "hash" 18500 markers "" --calls=stop --flow=hash
honest "often" 10000 markers "" --calls=stop --checkpoint-interval=20
honest "chaos" 5000 all-markers "$T/files" --chaos=7

# A program that reads its own code. Without protection keys of the processor it sees what replay has changed, and is run again with
# stops. It sees what the recorder changes as well, so that has stops.
for prog in plain markers; do
	name=reads-$prog
	timeout -k 5 120 lizard-trace -q --calls=stop -o "$T/recordings/$name" "$T/$prog" reads >"$T/out" 2>"$T/err"
	ok $? "$name: recorded" || diag "$(cat "$T/err")"
	timeout -k 5 120 lizard verify "$T/recordings/$name" >"$T/verify"
	ok $? "$name: clean" || diag "$(head -n 3 "$T/verify")"
done

# ---- other recordings: the same is said of the same event ----

alike() { # PROGRAM WHAT WHERE
	rm -rf "$T/lie"
	"$damage" "$T/recordings/$1-stop" "$T/lie" "$2" "$3" >"$T/log" || { ok 1 "$1, another $2 at $3: it is made" || diag "$(cat "$T/log")"; return; }
	verify "$T/lie"
	is "${status#* } $(cat "$T/verify")" "${status% *} $(cat "$T/stops")" "$1, another $2 at $3: said as with stops"
}
lie() {
	alike "$@"
	is "$status" "1 1" "$1, another $2 at $3: verify fails"
}
calls() { # PROGRAM NAME WHICH ...
	local name=$2
	lizard dump --events "$T/recordings/$1-stop" | sed -n "s/^event \([0-9]*\) .* $name(.*/\1/p" >"$T/calls"
	shift 2
	for n in "$@"; do sed -n "${n}p" "$T/calls"; done
}
for prog in plain markers; do
	for i in $(calls $prog pread64 100 2500); do
		lie $prog arg "$i"
		lie $prog nr "$i"
		lie $prog data "$i"
		lie $prog result "$i"
	done
	for i in $(calls $prog write 1000); do
		lie $prog taken "$i"
		lie $prog arg "$i"
	done
done
for i in $(calls large pread64 50 301 302); do
	lie large data "$i"
done
for i in $(calls large write 50 301 302); do
	lie large taken "$i"
done
timeout -k 5 120 lizard-trace -q --calls=stop --flow=full --checkpoint-interval=20 -o "$T/recordings/changes-stop" "$T/map-markers" 2000 advise,map 1 >"$T/out" 2>&1
ok $? "changes: recorded" || diag "$(cat "$T/out")"
for i in $(calls changes munmap 20 700) $(calls changes mprotect 20 700) $(calls changes madvise 50); do
	lie changes arg "$i"
	lie changes nr "$i"
	# which may make no difference
	alike changes length "$i"
	alike changes place "$i"
done
for i in $(calls changes mmap 60); do
	lie changes result "$i"
	lie changes place "$i"
done
# a turn after which the next thread's markers are stored over those before it
timeout -k 5 120 lizard-trace -q --calls=stop -o "$T/recordings/turns-stop" "$T/hands-markers" handovers >"$T/out" 2>&1
ok $? "turns: recorded" || diag "$(cat "$T/out")"
for i in $(lizard dump --events "$T/recordings/turns-stop" | sed -n 's/^event \([0-9]*\) .* switch to thread .*/\1/p' | sed -n '200,202p;1000p'); do
	lie turns data "$i"
	lie turns goes "$i"
done
lie markers marker 900
lie markers marker 20000

# ---- the debugger ----

cat >"$T/commands" <<'END'
break turn if i == 2000
continue
info registers rip rax rcx r11 rsp
when
delete
watch *(long *)bytes
continue
when
continue
when
delete
catch syscall write
continue
when
reverse-continue
when
delete
continue
when
reverse_watchpoint turns
when
reverse_watchpoint *(long *)bytes
when
x/4i $pc
jump_backward call
x/9i $pc
stepi
stepi
stepi
stepi
info registers rip rax rcx r11 eflags
stepi
when
reverse-stepi
reverse-stepi
when
break call
reverse-continue
reverse-continue
when
delete
jump_forward 75%
when
print sum
x/3i getppid
break popped
continue
x/4i $pc
stepi
stepi
stepi
backtrace
info registers rip rax rbx rcx r11 rsp eflags
stepi
backtrace
info registers rip rbx rsp
stepi
when
reverse-stepi
reverse-stepi
backtrace
delete
tbreak *($pc + 1)
jump_backward popped
continue
info registers rip rax rbx rcx rsp
backtrace
when
END
for prog in plain markers; do
	for way in stops without; do
		run=lizard-gdb
		[ $way = without ] || run="with_stops lizard-gdb"
		LIZARD_DEBUG=1 $run -nx -batch -x "$T/commands" "$T/recordings/$prog-stop" >"$T/$way.out" 2>"$T/$way.err"
	done
	diff "$T/stops.out" "$T/without.out" >"$T/diff"
	ok $? "$prog: the debugger shows the same" || diag "$(head -n 20 "$T/diff")"
	[ "$(grep -c '^position' "$T/without.out")" -ge 8 ] && grep -q '[1-9][0-9]* system calls were answered' "$T/without.err"
	ok $? "$prog: it came to all places, by calls without a stop" || diag "$(tail -n 5 "$T/without.out" "$T/without.err")"
done

# Mapped memory: watched, shown, stepped in, with breakpoints in the calls that change it.
cat >"$T/commands" <<'END'
tbreak child
continue
when
info proc mappings
set $a = w->region[2].at
set $f = w->file[1].at
x/8xb $a
x/8xb $f
watch *(char *)$a
reverse-continue
when
x/2i $pc
reverse-continue
when
continue
when
delete
watch *(char *)$f
continue
when
info proc mappings
reverse-continue
when
delete
catch syscall munmap
continue
when
reverse-continue
when
delete
catch syscall madvise
reverse-continue
when
delete
break munmap
break mprotect if $rdx == 0
reverse-continue
when
info registers rip rdi rsi rdx
stepi
stepi
stepi
stepi
info registers rip rax
info proc mappings
reverse-stepi
info proc mappings
when
continue
when
delete
jump_forward 90%
when
info proc mappings
reverse_watchpoint *(char *)$a
when
x/2i $pc
print write_file
END
for way in stops without; do
	run=lizard-gdb
	[ $way = without ] || run="with_stops lizard-gdb"
	LIZARD_DEBUG=1 $run -nx -batch -x "$T/commands" "$T/recordings/map-buffer" >"$T/$way.out" 2>"$T/$way.err"
done
diff "$T/stops.out" "$T/without.out" >"$T/diff"
ok $? "mappings: the debugger shows the same" || diag "$(head -n 20 "$T/diff")"
[ "$(grep -c '^position\|^event' "$T/without.out")" -ge 12 ] && grep -q '[1-9][0-9][0-9][0-9]* system calls were answered' "$T/without.err"
ok $? "mappings: it came to all places, by calls without a stop" || diag "$(tail -n 5 "$T/without.out" "$T/without.err")"

# ---- signals from outside, at any instant ----

timeout -k 5 120 lizard verify "$T/recordings/all-markers-buffer" >"$T/verify" 2>&1 &
pid=$!
n=0
while kill -0 $pid 2>/dev/null; do
	for child in $(pgrep -P "$(pgrep -P $pid)" 2>/dev/null); do
		kill -URG "$child" 2>/dev/null && n=$((n + 1))
	done
done
wait $pid
ok $? "signals from outside change nothing ($n of them)" || diag "$(head -n 3 "$T/verify")"
done_testing
