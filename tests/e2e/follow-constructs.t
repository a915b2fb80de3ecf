#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every program of tests/progs/follow is a tree of processes that check themselves and each other; the first one prints a token
# if all are content. Each is recorded with --follow all at -O0 and without instrumentation, and its first process alone: it
# must print what it prints natively, every process must verify, and none may be lost. By default those without
# instrumentation and those that are recorded alone are every second program each; with LIZARD_LONG all are.
. "$(dirname "$0")/../lib/tap.sh"

progs=$LIZARD_SRC/tests/progs/follow
export LIZARD_TRACE_CHECK=1

build() { # NAME HOW: prints the program's path
	set -- "$@" -D_GNU_SOURCE -pthread -g -o "$T/$1-$2" "$progs/$1.c" -lrt
	case $2 in
	plain) gcc -O1 "${@:3}" ;;
	*) lizard-cc "-$2" "${@:3}" ;;
	esac 2>"$T/cc.log" && echo "$T/$1-$2"
}

recorded() { # LABEL DIR FOLLOW PROGRAM
	timeout -k 5 100 lizard-trace -q --follow "$3" -o "$2" "$4" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" "0 $(cat "$T/native")" "$1: all is well while recorded" || diag "$(tail -n 5 "$T/err")"
	is "$(cat "$T/err")" "$said" "$1: nothing else on stderr"
	timeout -k 5 200 lizard verify -a "$2" >"$T/verify" 2>&1
	ok $? "$1: every process verifies" || { diag "$(grep -v ': clean:' "$T/verify" | tail -n 9)"; replay_hint "$2"; }
	is "$(grep -c 'not complete' "$T/verify")" 0 "$1: every recording is complete"
}

every=2
[ -z "$LIZARD_LONG$LIZARD_PROGS" ] || every=1
number=0
for source in ${LIZARD_PROGS:-$progs/*.c}; do
	name=$(basename "$source" .c)
	[ "$name" != tree ] || continue
	said=
	[ "$name" != ptrace ] || said="lizard: system call ptrace is not supported: the program gets ENOSYS"
	number=$((number + 1))
	ways=O0
	[ $((number % every)) != 0 ] || ways="O0 plain"
	for how in $ways; do
		prog=$(build "$name" $how)
		ok $? "$name $how: builds" || { diag "$(cat "$T/cc.log")"; continue; }
		timeout 60 "$prog" >"$T/native" 2>&1
		is "$? $(cat "$T/native")" "0 all is well" "$name $how: natively" || continue
		recorded "$name $how, all" "$T/recordings/$name-$how" all "$prog"
	done
	[ $(((number + 1) % every)) = 0 ] || continue
	case $name in
	brief | futexes | gone | halted | holes | ipc | locks | memory | pidns | received | short_waits | twice) continue ;; # what processes outside store shows late
	ptrace) continue ;;                         # its child is not traced by anybody, and nor can it
	esac
	recorded "$name alone" "$T/recordings/$name" parent "$T/$name-O0"
done

# ---- an ordinary user, who may not open what is in /proc/PID/map_files ----
mkdir -p "$T/user" && chmod 777 "$T/user"
user="setpriv --reuid=54321 --regid=54321 --clear-groups"
if [ "$(id -u)" = 0 ] && $user test -x "$LIZARD_BIN/lizard-trace" && $user test -w "$T/user"; then
	for name in gone holes ipc memory twice; do
		[ -x "$T/$name-O0" ] || continue
		$user timeout -k 5 100 lizard-trace -q --follow all -o "$T/user/$name" "$T/$name-O0" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out" "$T/err")" "0 all is well" "$name, an ordinary user: all is well while recorded"
		$user timeout -k 5 200 lizard verify -a "$T/user/$name" >"$T/verify" 2>&1
		ok $? "$name, an ordinary user: every process verifies" || diag "$(grep -v ': clean:' "$T/verify" | tail -n 9)"
	done
else
	skip "an ordinary user" "not root, or the build is out of its reach"
fi

# ---- a word that another process stored while the first one polled: GDB finds the instant, and steps over it ----
if [ -d "$T/recordings/futexes-O0" ]; then
	line=$(grep -n 's->count == 99' "$progs/futexes.c" | cut -d: -f1)
	cat >"$T/commands" <<-END
		break futexes.c:$line
		continue
		reverse_watchpoint s->count
		print s->count
		stepi
		print s->count
		reverse-stepi
		reverse-stepi
		print s->count
	END
	for front in stock patched; do
		[ "$front" = stock ] || [ -x "$LIZARD_BUILD/lib/lizard/gdb/bin/gdb" ] || continue
		timeout -k 5 120 lizard-gdb --$front "$T/recordings/futexes-O0" -nx -batch -x "$T/commands" >"$T/gdb" 2>&1
		is "$(sed -n 's/^\(Old\|New\) value = //p; s/^\$[0-9]* = //p' "$T/gdb" | tr '\n' ' ')" "1500 99 1500 99 1500 " \
			"$front: the store of another process, and the memory before it" || diag "$(cat "$T/gdb")"
	done
fi
done_testing
