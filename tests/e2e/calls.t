#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# System calls that the program makes without a stop (--calls=buffer): it sees what it sees without a recorder, replay prints what it
# printed, and most of the stops are gone. It may be killed at any time, and may store into the recorder's log.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"
progs=$LIZARD_SRC/tests/progs/trace
export LIZARD_TRACE_CHECK=1

replay_echo
gcc -O1 -w -pthread -o "$T/plain" "$progs/fast_calls.c"
gcc -O1 -w -pthread -static -o "$T/static" "$progs/fast_calls.c"
lizard-cc -O1 -w -pthread -o "$T/markers" "$progs/fast_calls.c"
gcc -O1 -w -I"$LIZARD_SRC" -I"$LIZARD_SRC/include" -o "$T/forges" "$progs/forges_log.c"
[ -x "$T/plain" ] && [ -x "$T/static" ] && [ -x "$T/markers" ] && [ -x "$T/forges" ]
ok $? "the programs build" || done_testing
mkdir "$T/files"

record() { # NAME PROGRAM OPTION ...
	local name=$1 rec=$T/recordings/$1 prog=$2
	shift 2
	rm -rf "$rec"
	LIZARD_DEBUG=1 timeout -k 5 120 lizard-trace -q "$@" -o "$rec" "$T/$prog" "$T/files" >"$T/out" 2>"$T/err"
	is "$? $(head -n 1 "$T/out")" "0 well" "$name: recorded" || diag "$(cat "$T/out" "$T/err")"
	timeout -k 5 120 "$echo" "$rec" >"$T/replayed" 2>"$T/verify"
	ok $? "$name: it replays" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$rec"; }
	is "$(cat "$T/replayed")" "$(cat "$T/out")" "$name: replay prints the same"
	fast=$(sed -n 's/^.* \([0-9]*\) system calls were made without a stop.*/\1/p' "$T/err" | tail -n 1)
}

for prog in plain static markers; do
	record "$prog-stop" $prog --calls=stop
	is "$fast" "" "$prog: with a stop for each call there are no others"
	record "$prog-buffer" $prog --calls=buffer
	[ "${fast:-0}" -gt 10000 ]
	ok $? "$prog: thousands of calls are made without a stop" || diag "${fast:-0}"
done
record compare markers --calls=buffer --dirty=compare
record often plain --calls=buffer --checkpoint-interval=20
record last plain --calls=buffer --keep-part=last --max-size=2M
record hash markers --calls=buffer --flow=hash
record chaos markers --calls=buffer --chaos=7
record follow plain --calls=buffer --follow=all

# As the C library 2.41 makes calls that can be cancelled, at high and at low addresses: a seventh of these.
for link in -pie -static; do
	gcc -O1 -g $link -o "$T/pops" "$progs/../replay/many_calls.c"
	LIZARD_DEBUG=1 timeout -k 5 120 lizard-trace -q --calls=buffer -o "$T/recordings/pops$link" "$T/pops" >"$T/out" 2>"$T/err"
	fast=$(sed -n 's/^.* \([0-9]*\) system calls were made without a stop.*/\1/p' "$T/err" | tail -n 1)
	[ "${fast:-0}" -gt 20000 ]
	ok $? "pops $link: calls with pop and ret behind them have no stop" || diag "${fast:-0}"
	timeout -k 5 120 "$echo" "$T/recordings/pops$link" >"$T/replayed" 2>"$T/verify"
	is "$? $(cat "$T/replayed")" "0 $(cat "$T/out")" "pops $link: it replays" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$T/recordings/pops$link"; }
done

# Calls that change mappings: one thread, several, with a look at each page of memory at each checkpoint.
gcc -O1 -w -pthread -o "$T/map_calls" "$progs/map_calls.c"
mkdir "$T/mapped"
mappings() { # NAME KINDS THREADS CALLS OPTION ...: CALLS have stops at most once in ten times
	local name="mappings, $1" kinds=$2 threads=$3 calls=$4 rec=$T/recordings/mappings native
	shift 4
	rm -rf "$rec"
	native=$("$T/map_calls" 4000 "$kinds" "$threads" "$T/mapped" | head -n 1)
	LIZARD_DEBUG=1 timeout -k 5 120 lizard-trace -q --calls=buffer "$@" -o "$rec" "$T/map_calls" 4000 "$kinds" "$threads" "$T/mapped" >"$T/out" 2>"$T/err"
	is "$? $(head -n 1 "$T/out")" "0 $native" "$name: recorded" || diag "$(cat "$T/err")"
	for call in $calls; do
		fast=$(sed -n "s/.*without a stop: $call \([0-9]*\)$/\1/p" "$T/err" | sort -n | tail -n 1)
		stops=$(sed -n "s/.*with stops: $call \([0-9]*\)$/\1/p" "$T/err" | sort -n | tail -n 1)
		[ "${fast:-0}" -gt $((10 * ${stops:-0})) ]
		ok $? "$name: $call has no stop" || diag "${fast:-0} without, ${stops:-0} with"
	done
	timeout -k 5 120 "$echo" "$rec" >"$T/replayed" 2>"$T/verify"
	is "$? $(cat "$T/replayed")" "0 $(cat "$T/out")" "$name: it replays" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$rec"; }
}
mappings advice advise 1 madvise --checkpoint-interval=20
mappings threads advise 3 madvise
mappings all advise,map 1 "madvise mmap munmap mprotect" --checkpoint-interval=20
mappings "all, threads" advise,map 3 "madvise mmap munmap mprotect"
mappings files file 1 "mmap munmap" --checkpoint-interval=20
mappings "files, threads" advise,map,file 3 "madvise mmap munmap mprotect"
mappings "all, compare" advise,map 2 "madvise mmap munmap mprotect" --dirty=compare --checkpoint-interval=20
mappings "all, follow" advise,map 2 "madvise mmap munmap mprotect" --follow=all --flow=hash

# The offset in the marker stream, where r15 and __lizard_pos hold older pointers, too.
gcc -O2 -shared -fPIC -o "$T/libcallback_calls.so" "$progs/callback_calls_lib.c"
lizard-cc -O2 -D_GNU_SOURCE -o "$T/callbacks" "$progs/callback_calls.c" "$T/libcallback_calls.so"
timeout -k 5 120 lizard-trace -q --calls=buffer -o "$T/recordings/callbacks" "$T/callbacks" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "0 $("$T/callbacks")" "callbacks: recorded" || diag "$(cat "$T/err")"
timeout -k 5 120 lizard verify "$T/recordings/callbacks" >"$T/verify" 2>&1
ok $? "callbacks: verify is clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$T/recordings/callbacks"; }

# Checkpoints do not wait for a full log.
gcc -O1 -w -pthread -o "$T/rounds" "$progs/rounds.c"
LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer --checkpoint-interval=10 -o "$T/recordings/rounds" "$T/rounds" single 4000 >"$T/out" 2>"$T/err"
grep -q ' [0-9]\{4,\} system calls were made without a stop' "$T/err" && [ "$(lizard dump --checkpoints "$T/recordings/rounds" | wc -l)" -gt 8 ]
ok $? "there are checkpoints between calls without a stop" || diag "$(lizard dump --checkpoints "$T/recordings/rounds")"

# Opening for reading what is mapped, and closing it.
gcc -O1 -w -o "$T/maps" "$progs/map_files.c"
echo mapped >"$T/files/mapped"
LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/maps" "$T/maps" "$T/files/mapped" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "0 100" "maps: recorded" || diag "$(cat "$T/err")"
stops=$(sed -n 's/.*with stops: \(open\|openat\|close\) \([0-9]*\)$/\2/p' "$T/err" | sort -n | tail -n 1)
[ "${stops:-0}" -lt 30 ]
ok $? "maps: most files are opened and closed without a stop" || diag "$(cat "$T/err")"
timeout -k 5 120 lizard verify "$T/recordings/maps" >"$T/verify" 2>&1
ok $? "maps: verify is clean" || diag "$(head -n 3 "$T/verify")"

# Where a mapping of a small file ends is asked of the kernel for that one alone, or read in the list where it cannot tell.
cat >"$T/no-query.c" <<'E'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* PROCMAP_QUERY is not known before Linux 6.11. */
int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list args;

	va_start(args, request);
	void *arg = va_arg(args, void *);
	va_end(args);
	if (request == 0xc0686611) {
		close(open(getenv("ASKED"), O_CREAT | O_WRONLY, 0600));
		errno = ENOTTY;
		return -1;
	}
	if (!real)
		real = dlsym(RTLD_NEXT, "ioctl");
	return real(fd, request, arg);
}
E
(cd "$T" && gcc -O1 -shared -fPIC -o no-query.so no-query.c && gcc -O1 -w -o kept "$progs/kept_small.c")
ok $? "kept: builds"
for how in asked listed; do
	rm -f "$T/kept.bin".* "$T/asked"
	printf mapped >"$T/kept.bin"
	(
		[ $how = asked ] || export LD_PRELOAD=$T/no-query.so ASKED=$T/asked ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
		exec timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/kept-$how" "$T/kept" "$T/kept.bin" >"$T/out" 2>"$T/err"
	) &
	tracer=$!
	wait_until test -e "$T/kept.bin.ready"
	printf x | dd of="$T/kept.bin" conv=notrunc 2>/dev/null
	wait_until grep -q "kept.bin: written by another process" "$T/err"
	touch "$T/kept.bin.go"
	wait $tracer
	is "$? $(cat "$T/out")" "0 xxx" "kept, $how: recorded" || diag "$(cat "$T/err")"
	[ $how = asked ] || [ -e "$T/asked" ]
	ok $? "kept, $how: the kernel was asked"
	timeout -k 5 120 "$echo" "$T/recordings/kept-$how" >"$T/replayed" 2>"$T/verify"
	is "$? $(cat "$T/replayed")" "0 xxx" "kept, $how: it replays" || diag "$(head -n 3 "$T/verify")"
done

# What programs copy files with.
head -c 20000000 /dev/zero >"$T/files/large"
LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/large" dd if="$T/files/large" of="$T/files/copy" bs=200k 2>"$T/err"
cmp -s "$T/files/large" "$T/files/copy"
ok $? "large: copied"
stops=$(sed -n 's/.*with stops: \(read\|write\) \([0-9]*\)$/\2/p' "$T/err" | sort -n | tail -n 1)
[ "${stops:-0}" -lt 60 ]
ok $? "large: most calls that read and write 200 KiB have no stop" || diag "$(cat "$T/err")"
timeout -k 5 120 lizard verify "$T/recordings/large" >"$T/verify" 2>&1
ok $? "large: verify is clean" || diag "$(head -n 3 "$T/verify")"
rm -f "$T/files/large" "$T/files/copy"

# An instruction becomes a jump before its first call is made, not behind it.
gcc -O1 -w -o "$T/first" "$progs/first_calls.c"
for how in first ignored; do
	rec=$T/recordings/$how
	set --
	[ $how = first ] || set -- ignored
	LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer -o "$rec" "$T/first" "$@" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 all is well" "$how: recorded" || diag "$(cat "$T/err")"
	stops=$(sed -n 's/.*with stops: getppid \([0-9]*\)$/\1/p' "$T/err")
	[ "${stops:-0}" -lt 4 ] && grep -q 'without a stop: getppid [0-9]' "$T/err"
	ok $? "$how: most first calls by an instruction are made without stops" || diag "$(cat "$T/err")"
	timeout -k 5 120 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$how: verify is clean" || diag "$(head -n 3 "$T/verify")"
done

# What each further library maps and makes read-only, and limits that are asked for.
gcc -O1 -w -o "$T/late" "$progs/late_libraries.c"
LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/late" "$T/late" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "0 all is well" "late: recorded" || diag "$(cat "$T/err")"
for call in mprotect prlimit64 mmap; do
	stops=$(sed -n "s/.*with stops: $call \([0-9]*\)$/\1/p" "$T/err")
	[ "${stops:-0}" -lt 3 ] && grep -q "without a stop: $call [0-9]" "$T/err"
	ok $? "late: $call has at most one stop" || diag "$(cat "$T/err")"
done
timeout -k 5 120 "$echo" "$T/recordings/late" >"$T/replayed" 2>"$T/verify"
is "$? $(cat "$T/replayed")" "0 all is well" "late: it replays" || diag "$(head -n 3 "$T/verify")"

# A library has one stop for all of its mappings. Signals, other threads and the program's end come between them, too.
# A file that has just been changed is compared with its copy, when the linker has stored to its memory.
gcc -O1 -w -shared -fPIC -o "$T/many.so" "$progs/many_libraries.c" && gcc -O1 -w -pthread -o "$T/many" "$progs/many_libraries.c"
mkdir "$T/many-libraries"
for i in $(seq 0 39); do
	cp "$T/many.so" "$T/many-libraries/$i.so"
done
same_events() { # NAME ...: which calls load libraries, and what they did, but for the time
	for name in "$@"; do
		lizard dump --events "$T/recordings/$name" | sed -E 's/^event [0-9]+  thread [0-9]+//; s/  [0-9]+[.][0-9]+ s  /  /' |
			grep -E '  (brk|openat|read|pread64|newfstatat|mmap|mprotect|munmap|close)[(]' >"$T/events-$name"
	done
	[ "$(wc -l <"$T/events-$1")" -gt 400 ] && cmp "$T/events-$1" "$T/events-$2" >"$T/cmp" 2>&1
}
for how in plain fresh signals threads; do
	LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer --checkpoint-interval 20 -o "$T/recordings/many-$how" "$T/many" "$T/many-libraries" 40 $how >"$T/out" 2>"$T/err-$how"
	is "$? $(cat "$T/out")" "0 all is well" "many libraries, $how: recorded" || diag "$(cat "$T/err-$how")"
	timeout -k 5 120 "$echo" "$T/recordings/many-$how" >"$T/replayed" 2>"$T/verify"
	is "$? $(cat "$T/replayed")" "0 all is well" "many libraries, $how: it replays" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$T/recordings/many-$how"; }
done
stops=$(sed -n 's/.* \([0-9]*\) stops$/\1/p' "$T/err-plain")
[ "${stops:-999}" -lt 175 ] # there were 317
ok $? "many libraries: each has one stop" || diag "$(cat "$T/err-plain")"
for calls in stop buffer; do
	LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=$calls -o "$T/recordings/same-$calls" "$T/many" "$T/many-libraries" 40 plain >"$T/out" 2>"$T/err"
done
same_events same-stop same-buffer
ok $? "many libraries: the events are those of calls with stops" || diag "$(cat "$T/cmp"; diff "$T/events-same-stop" "$T/events-same-buffer" | head -n 4)"
for i in 1 2 3 4 5; do
	rm -rf "$T/recordings/many-kill"
	timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/many-kill" "$T/many" "$T/many-libraries" 40 kill >"$T/out" 2>"$T/err"
	like "$? $(cat "$T/out" "$T/err")" "^(137 |0 all is well)$" "many libraries, killed: recorded"
	timeout -k 5 60 lizard verify "$T/recordings/many-kill" >"$T/verify" 2>&1
	ok $? "many libraries, killed: verify is clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$T/recordings/many-kill"; }
done

# Another process writes to all of them all the time: that is told behind the mappings, and has an end.
for i in 1 2 3 4; do
	"$T/many" "$T/many-libraries" 40 &
	writer=$!
	timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/many-written" "$T/many" "$T/many-libraries" 40 plain >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 all is well" "many libraries, written: recorded" || diag "$(cat "$T/err")"
	kill $writer
	timeout -k 5 120 lizard verify "$T/recordings/many-written" >"$T/verify" 2>&1
	ok $? "many libraries, written: verify is clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$T/recordings/many-written"; }
	rm -rf "$T/recordings/many-written"
done

# Data of a file that was changed since the stub was told of it.
gcc -O1 -w -o "$T/changed" "$progs/changed_mappings.c"
for by in self child; do
	LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/changed-$by" "$T/changed" "$T/changed-file" $by >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 all is well" "changed by $by: recorded" || diag "$(cat "$T/err")"
	! grep -q 'recording ends' "$T/err"
	ok $? "changed by $by: to its end" || diag "$(cat "$T/err")"
	timeout -k 5 120 "$echo" "$T/recordings/changed-$by" >"$T/replayed" 2>"$T/verify"
	is "$? $(cat "$T/replayed")" "0 all is well" "changed by $by: it replays" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$T/recordings/changed-$by"; }
done

# A file of code that others had open for writing is compared with its copy: the jumps in it are ours.
gcc -O1 -w -shared -fPIC -o "$T/touched.so" "$progs/touched_library.c" && gcc -O1 -w -o "$T/touched" "$progs/touched_library.c"
LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/touched" "$T/touched" "$T/touched.so" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "0 300 300 0" "touched: recorded" || diag "$(cat "$T/err")"
n=$(sed -n 's/.*without a stop: getppid \([0-9]*\)$/\1/p' "$T/err")
[ "${n:-0}" -ge 590 ]
ok $? "touched: the library's calls have no stop" || diag "$(cat "$T/err")"
timeout -k 5 120 lizard verify "$T/recordings/touched" >"$T/verify" 2>&1
ok $? "touched: verify is clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$T/recordings/touched"; }

# Before a program begins that is not small, the dynamic linker has jumps already, also where it is handed over to another recorder.
printf '#!/bin/bash\n/bin/bash -c :\nexec /bin/bash -c :\n' >"$T/starts"
chmod +x "$T/starts"
LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer --follow all -o "$T/recordings/starts" "$T/starts" >"$T/out" 2>"$T/err"
is "$?" "0" "starts: recorded" || diag "$(cat "$T/err")"
! grep -E 'with stops: (access|close|read|pread64|mmap|munmap|brk) ' "$T/err"
ok $? "starts: a dynamic linker loads libraries without stops" || diag "$(cat "$T/err")"
is "$(grep -c 'without a stop: access 1$' "$T/err")" "3" "starts: that of each program does" || diag "$(cat "$T/err")"
timeout -k 5 120 lizard verify -a "$T/recordings/starts" >"$T/verify" 2>&1
ok $? "starts: verify is clean" || diag "$(head -n 3 "$T/verify")"

# The log takes a descriptor for a moment: who may have no more makes calls with stops.
gcc -static -O1 -w -o "$T/no_descriptors" "$progs/no_descriptors.c" || gcc -O1 -w -o "$T/no_descriptors" "$progs/no_descriptors.c"
timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/no-descriptors" "$T/no_descriptors" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out" "$T/err")" "0 all is well" "no descriptors: recorded to its end"
timeout -k 5 120 lizard verify "$T/recordings/no-descriptors" >"$T/verify" 2>&1
is "$? $(grep -c 'not complete' "$T/verify")" "0 0" "no descriptors: verify is clean" || diag "$(head -n 3 "$T/verify")"

# Where calls may wait, nothing is tried in vain.
gcc -O1 -w -o "$T/pipe" "$progs/pipe_calls.c"
LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/pipe" "$T/pipe" >"$T/out" 2>"$T/err"
more=$(sed -n 's/^.* \([0-9]*\) of them with a stop more than need be/\1/p' "$T/err")
[ "${more:-9999}" -lt 100 ]
ok $? "calls on a pipe have no more stops than without" || diag "$(cat "$T/err")"

# ... nor where a handler begins that makes none: some still end while a signal waits for a call.
lizard-cc -O1 -w -o "$T/ticks" "$progs/ticks_among_calls.c"
LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/ticks" "$T/ticks" >"$T/out" 2>"$T/err"
more=$(sed -n 's/^.* \([0-9]*\) of them with a stop more than need be/\1/p' "$T/err")
[ "$(cat "$T/out")" -ge 500 ] && [ "${more:-9999}" -lt 350 ]
ok $? "returns of handlers have no more stops than without" || diag "$(cat "$T/out" "$T/err")"
timeout -k 5 120 lizard verify "$T/recordings/ticks" >"$T/verify" 2>&1
ok $? "... verify is clean" || { diag "$(head -n 3 "$T/verify")"; replay_hint "$T/recordings/ticks"; }

# A file that is mapped, and that others open: to read it is no reason to stop, to write it is one, whoever it is.
gcc -O1 -w -o "$T/opened" "$progs/opened.c"
opened() { # WHAT OTHERS DO, WHAT IS SEEN, WHERE, OPTION
	local file=${3:-$T}/opened.bin other= reader=
	rm -f "$file"*
	rm -rf "$T/recordings/opened"
	head -c 4096 /dev/zero | tr '\0' . >"$file"
	if [ $1 = early ]; then
		"$T/opened" "$file" early &
		other=$!
		wait_until test -e "$file.early"
	fi
	[ $1 != others ] || reader=opens
	[ $1 != left ] || reader=leaves
	[ $1 != flood ] || { cp "$file" "$file.one" && cp "$file" "$file.two"; }
	LIZARD_DEBUG=1 timeout -k 5 60 lizard-trace -q --calls=buffer $4 -o "$T/recordings/opened" "$T/opened" "$file" $reader >"$T/out" 2>"$T/err" &
	local tracer=$!
	wait_until test -e "$file.ready"
	case $1 in
	read) cat "$file" >"$T/log" ;;
	early) wait_until test -e "$file.open" ;;
	flood)
		kill -STOP "$(pgrep -P $tracer)"
		"$T/opened" "$file" flood &
		other=$!
		wait_until test -e "$file.open"
		kill -CONT "$(pgrep -P $tracer)"
		;;
	*)
		"$T/opened" "$file" $1 &
		other=$!
		wait_until test -e "$file.open"
		;;
	esac
	# on a busy machine it is noticed later
	case $1 in
	flood | store | open | closed) wait_until grep -q 'opened.bin: \(shared with process\|opened for writing\)' "$T/err" ;;
	esac
	touch "$file.go"
	wait $tracer
	is "$? $(cat "$T/out")" "0 $2" "opened, $1: recorded" || diag "$(cat "$T/err")"
	touch "$file.done"
	[ -z "$other" ] || wait $other
	fast=$(sed -n 's/^.* \([0-9]*\) system calls were made without a stop.*/\1/p' "$T/err" | tail -n 1)
	timeout -k 5 120 "$echo" "$T/recordings/opened" >"$T/replayed" 2>"$T/verify"
	is "$? $(cat "$T/replayed")" "0 $2" "opened, $1: it replays" || { diag "$(tail -n 3 "$T/verify")"; replay_hint "$T/recordings/opened"; }
}
opened read ". ."
[ "${fast:-0}" -gt 20000 ]
ok $? "opened, read: the calls have no stop" || diag "${fast:-0}"
opened open ". ."
[ "${fast:-0}" -lt 2000 ]
ok $? "opened, open: they have one" || diag "${fast:-0}"
opened store "x x"
opened store "x x"
[ "${fast:-0}" -lt 2000 ]
ok $? "opened, store: they have one" || diag "${fast:-0}"
opened store "x x" "" --checkpoint-interval=2
opened closed "x x"
[ "${fast:-0}" -lt 2000 ]
ok $? "opened, closed: they have one while it is mapped" || diag "${fast:-0}"
opened ended "x x"
[ "${fast:-0}" -gt 19000 ]
ok $? "opened, ended: when nobody can store any more they have none" || diag "${fast:-0}"
opened left "x x"
[ "${fast:-0}" -gt 19000 ]
ok $? "opened, left: when it is not mapped any more they have none" || diag "${fast:-0}"
opened others "x x"
opened early "x x"
opened flood "x x"
# An overlay knows who has it open, and not who has it mapped.
over=$T/overlay
mkdir "$over"
unmount_at_end "$over/all" "$over"
if mount -t tmpfs overlay "$over" 2>/dev/null; then
	mkdir "$over/low" "$over/up" "$over/work" "$over/all"
	if mount -t overlay -o lowerdir="$over/low",upperdir="$over/up",workdir="$over/work" overlay "$over/all" 2>/dev/null; then
		opened read ". ." "$over/all"
		[ "${fast:-0}" -gt 20000 ]
		ok $? "overlay, read: the calls have no stop" || diag "${fast:-0}"
		for how in open store closed; do
			[ $how = open ] && seen=". ." || seen="x x"
			opened $how "$seen" "$over/all"
			[ "${fast:-0}" -lt 2000 ]
			ok $? "overlay, $how: they have one" || diag "${fast:-0}"
		done
		umount "$over/all"
	else
		skip "overlay" "no permission to mount one"
	fi
	umount "$over"
else
	skip "overlay" "no permission to mount one"
fi

# A file that is mapped only to be read is no reason to stop where there is a child, until that opens it to write. It does
# not wait long for the lease, and the program does not meet it. What it sees behind a call that waited is in the recording.
gcc -O1 -w -o "$T/guarded" "$progs/guarded.c"
for follow in "" --follow=all; do
	for how in "nothing ." "write x" "full x" "read x" "wait x"; do
		name="guarded, ${how% *} $follow"
		head -c 4096 /dev/zero | tr '\0' . >"$T/guarded.bin"
		SECONDS=0
		LIZARD_DEBUG=1 timeout -k 5 120 lizard-trace -q --calls=buffer $follow -o "$T/recordings/guarded" "$T/guarded" "$T/guarded.bin" "${how% *}" 5000 >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 ${how#* } opened" "$name: recorded" || diag "$(cat "$T/err")"
		grep -q 'without a stop: getppid [0-9]\{4\}' "$T/err"
		ok $? "$name: calls have no stop" || diag "$(cat "$T/err")"
		[ $SECONDS -lt 30 ]
		ok $? "$name: nobody waits until the kernel ends the lease" || diag "$SECONDS s"
		if [ "${how% *}" != write ]; then
			timeout -k 5 120 lizard verify -a "$T/recordings/guarded" >"$T/verify" 2>&1
			ok $? "$name: verify is clean" || diag "$(head -n 3 "$T/verify")"
		else
			grep -q 'with stops: getegid [0-9]\{2\}' "$T/err"
			ok $? "$name: when it may be written they have" || diag "$(cat "$T/err")"
			is "$(grep -c 'guarded.bin: written by .*process.*the recording may not replay' "$T/err")" 1 "$name: ... and it is said that who polls may not replay"
			[ -n "$follow" ] || grep -q 'without a stop: getgid [0-9]\{2\}' "$T/err"
			ok $? "$name: ... and none when that is over" || diag "$(cat "$T/err")"
		fi
		rm -rf "$T/recordings/guarded"
	done
done

# Killed, it or its recorder: what there is replays.
n=6
[ -z "$LIZARD_LONG" ] || n=150
for who in program recorder; do
	for delay in $(awk -v n=$n 'BEGIN { srand(5); for (i = 0; i < n; i++) printf "%.3f\n", 0.05 + 0.6 * rand() }'); do
		rec=$T/recordings/killed
		rm -rf "$rec"
		lizard-trace -q --calls=buffer --checkpoint-interval=50 -o "$rec" "$T/plain" "$T/files" >"$T/out" 2>"$T/err" &
		tracer=$!
		sleep "$delay"
		program=$(pgrep -P $tracer -f "^$T/plain" | head -n 1)
		[ $who = program ] || program=$tracer
		[ -z "$program" ] || kill -9 "$program"
		wait $tracer 2>/dev/null
		timeout -k 5 120 lizard verify "$rec" >"$T/verify" 2>&1
		[ $? = 0 ] || grep -q 'no recording\|no checkpoint\|cannot open' "$T/verify"
		ok $? "$who killed after $delay s: it replays" || { diag "$(cat "$T/err")" "$(tail -n 3 "$T/verify")"; replay_hint "$rec"; break; }
	done
done

# What the program stores into the log ends the recording, or is one that does not replay; the program goes on.
seeds="1 2"
[ -z "$LIZARD_LONG" ] || seeds=$(seq 100)
for what in head field length result written heap mapping unread part rules bytes; do
	for seed in $seeds; do
		rm -rf "$T/recordings/forged"
		timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/forged" "$T/forges" "$seed" $what >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 well" "$what, seed $seed: the program goes on" || diag "$(cat "$T/err")"
	done
done
timeout 60 lizard-trace -q --calls=buffer -o "$T/recordings/head" "$T/forges" 1 head >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" "the log of system calls is broken: its length; has the program stored there" "said in words"
# A call that the stub does not make, or a result that no call has, is told of as having been made. The program, which stands in the
# stub's midst then, is as it has made itself.
for what in waited late; do
	for seed in 1 2 3 4 5 6; do
		rm -rf "$T/recordings/forged"
		timeout -k 5 60 lizard-trace -q --calls=buffer -o "$T/recordings/forged" "$T/forges" "$seed" $what >"$T/out" 2>"$T/err"
		like "$(cat "$T/err")" "the log of system calls is broken: a (call's number|result)" "$what, seed $seed: it is refused"
	done
done
done_testing
