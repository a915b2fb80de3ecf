#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a program reads of itself in /proc is as it would be without the recorder, and replays.
. "$(dirname "$0")/../lib/tap.sh"
unset LIZARD_TRACE_CALLS
export LIZARD_TRACE_CHECK=1 LIZARD_DEBUG=1

gcc -g -O1 -w -pthread "$LIZARD_SRC/tests/progs/trace/proc_files.c" -o "$T/plain"
ok $? "the program builds" || done_testing
lizard-cc -g -O1 -w -pthread "$LIZARD_SRC/tests/progs/trace/proc_files.c" -o "$T/marked"
ok $? "... and with markers" || done_testing

recorded() { # PROGRAM WAY OPTIONS
	prog=$1 way=$2
	shift 2
	rec="$T/recordings/$prog-$way"
	setarch -R "$T/$prog" >"$T/native" 2>&1
	timeout -k 5 120 lizard-trace -q --calls="$way" "$@" -o "$rec" "$T/$prog" >"$T/out" 2>"$T/err"
	is "$? $(grep -c 'lizard-trace:' "$T/err")" "0 0" "$prog, $way $*: recorded" || diag "$(cat "$T/out" "$T/err")"
	diff "$T/native" "$T/out" >"$T/diff"
	ok $? "$prog, $way $*: it reads what it reads natively" || diag "$(cat "$T/diff")"
	is "$(grep -c 'TracerPid:	0\|the same\|it is where\|torn lines: 0' "$T/out")" 7 "$prog, $way $*: all of it is well" || diag "$(cat "$T/out")"
	timeout -k 5 120 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$prog, $way $*: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	rm -rf "$rec"
}

for prog in plain marked; do
	recorded $prog stop
	recorded $prog buffer
	recorded $prog buffer --chaos=3
	recorded $prog buffer --follow all
done

# What it reads where numbers are others, or others' files have its number.
gcc -g -O1 -pthread "$LIZARD_SRC/tests/progs/trace/proc_status.c" -o "$T/status"
ok $? "the other program builds"
same() { # WHAT SECONDS COMMAND...
	what=$1 most=$2
	shift 2
	"$@" >"$T/native" 2>/dev/null || { skip "$what" "not allowed here"; return; }
	timeout -k 5 "$most" lizard-trace -q --follow all -o "$T/recordings/same" "$@" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "$what" || diag "$(cat "$T/err")"
	rm -rf "$T/recordings/same"
}
same "its numbers in its PID namespace" 60 unshare -pf --mount-proc "$T/status" /proc/self/status State: Pid: PPid: TracerPid: NSpid:
same "its user in its own namespace" 60 unshare -U "$T/status" /proc/thread-self/status State: Uid:
same "the status of whoever has its number outside" 60 unshare -pf "$T/status" /proc/1/status Name: Pid:
same "what was opened before an execve has no text" 60 "$T/status" exec
same "thousands of mappings do not take their square" 20 "$T/status" many
same "code beside the recorder's is listed" 60 "$T/status" beside
same "its status when the first thread is gone" 60 "$T/status" ended
mkdir -p "$T/elsewhere"
same "/proc mounted elsewhere" 60 unshare -m sh -c \
	'mount -t proc none "$1" && exec "$2" mounted "$1"' sh "$T/elsewhere" "$T/status"

# A file of the same name that is not in /proc is the program's.
mkdir -p "$T/proc"
cat >"$T/self.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[4096], text[100];

	(void)argc;
	snprintf(name, sizeof(name), "%s/proc/%d", argv[1], (int)getpid());
	mkdir(name, 0700);
	snprintf(name, sizeof(name), "%s/proc/%d/maps", argv[1], (int)getpid());
	int fd = open(name, O_RDWR | O_CREAT, 0600);
	write(fd, "its own\n", 8);
	lseek(fd, 0, SEEK_SET);
	return write(1, text, (size_t)read(fd, text, sizeof(text))) != 8;
}
END
gcc "$T/self.c" -o "$T/self"
is "$(lizard-trace -q --calls=stop -o "$T/recordings/self" "$T/self" "$T" 2>"$T/err")" "its own" "a file of the program's is read as it is"
done_testing
