#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every program of tests/progs/threads checks itself and prints a token. Each is recorded at -O0, at -O2 in checking
# mode and without instrumentation, with a checkpoint after every event now and then: it must find all well, and verify.
. "$(dirname "$0")/../lib/tap.sh"

progs=$LIZARD_SRC/tests/progs/threads
LIZARD_TRACE_CHECK=1
export LIZARD_TRACE_CHECK

build() { # NAME HOW: prints the program's path
	set -- "$@" -D_GNU_SOURCE -pthread -g -o "$T/$1-$2" "$progs/$1.c"
	case $2 in
	plain) gcc -O1 "${@:3}" ;;
	check) lizard-cc -O2 -flizard-check "${@:3}" ;;
	*) lizard-cc "-$2" "${@:3}" ;;
	esac 2>"$T/cc.log" && echo "$T/$1-$2"
}

verified() { # LABEL DIR
	timeout 200 lizard verify "$2" >"$T/verify.log" 2>&1
	ok $? "$1: verify is clean" || {
		diag "$(tail -n 5 "$T/verify.log")"
		replay_hint "$2"
	}
}

recorded() { # LABEL DIR OPTIONS... PROGRAM
	local label=$1 rec=$2
	shift 2
	timeout -k 5 100 lizard-trace -q -o "$rec" "$@" >"$T/out" 2>"$T/err"
	is "$? $(tail -n 1 "$T/out")" "0 all is well" "$label: all is well while recorded" ||
		diag "$(tail -n 5 "$T/err")"
	verified "$label" "$rec"
}

for source in "$progs"/*.c; do
	name=$(basename "$source" .c)
	[ "$name" != ends ] || continue
	for how in O0 O2 check plain; do
		prog=$(build "$name" $how)
		ok $? "$name $how: builds" || { diag "$(cat "$T/cc.log")"; continue; }
		recorded "$name $how" "$T/recordings/$name-$how" "$prog"
	done
	# Memory at every event, while calls that other threads are in write theirs.
	recorded "$name, checkpoints everywhere" "$T/recordings/$name-all" --checkpoint-interval 0 "$T/$name-O0"
done

# Turns by chance: the same for the same seed, and a race that nobody sees otherwise shows.
seeds=1
[ -z "$LIZARD_LONG" ] || seeds=50
for source in "$progs"/*.c; do
	name=$(basename "$source" .c)
	[ "$name" != ends ] || continue
	for seed in $(seq $seeds); do
		recorded "$name, chaos $seed" "$T/recordings/chaos" "--chaos=$seed" "$T/$name-O2"
		[ "$tap_failed" = 0 ] || break 2 # keeps the recording
		rm -rf "$T/recordings/chaos"
	done
done
lost() { # OPTIONS...: how many updates the racy counter has lost
	rm -rf "$T/recordings/racy"
	lizard-trace -q -o "$T/recordings/racy" "$@" "$T/racy-O2" | sed -n 's/^lost //p'
}
is "$(lost)" 0 "racy: in long slices nothing is lost"
: >"$T/losses"
racy="1 2 3 4 5"
[ -z "$LIZARD_LONG" ] || racy="$racy 6 7 8"
for seed in $racy; do
	n=$(lost --seed $seed)
	is "$(lost --chaos=$seed)" "$n" "racy: seed $seed brings its race again ($n lost)"
	echo "$n" >>"$T/losses"
done
like "$(sort -u "$T/losses" | wc -l)" '^[3-8]$' "racy: seeds differ"
rm -rf "$T/recordings/racy"
lizard-trace --chaos -o "$T/recordings/racy" "$T/racy-O2" >"$T/out" 2>"$T/err"
seed=$(sed -n 's/.*--chaos=//p' "$T/err")
like "$seed" '^[0-9]+$' "the summary names the seed"
is "$(lizard info "$T/recordings/racy" | sed -n 's/^chaos *seed //p')" "$seed" "so does lizard info"
is "$(lost --chaos="$seed" | sed 's/^/lost /')" "$(head -n 1 "$T/out")" "and it brings the run again"
lizard-trace --seed x "$T/racy-O2" >/dev/null 2>"$T/err"
is "$?" 125 "a seed is a number"

# How a process with threads ends is passed on.
for how in O0 plain; do
	prog=$(build ends $how)
	for case in exit:7 segv:139 abort:134 kill:137 term:143 return:5 last:0; do
		rec=$T/recordings/ends-$how-${case%:*}
		timeout -k 5 60 lizard-trace -q -o "$rec" "$prog" "${case%:*}" >"$T/out" 2>"$T/err"
		is $? "${case#*:}" "ends $how ${case%:*}: exit status"
		verified "ends $how ${case%:*}" "$rec"
	done
	# Threads that wait for each other for ever can be ended, and that is recorded.
	rec=$T/recordings/ends-$how-never
	lizard-trace -q -o "$rec" "$prog" never >"$T/never" 2>"$T/err" &
	wait_until grep begun "$T/never"
	sleep 0.1
	kill -TERM $!
	wait $!
	is $? 143 "ends $how never: a signal gets through"
	verified "ends $how never" "$rec"
done

# When recording ends before the program does, its threads go on.
cat >"$T/go_on.c" <<'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
static sem_t a, b;
static volatile unsigned long sum;
static void *computes(void *arg)
{
	for (unsigned long i = 0; i < 300000000; i++)
		sum += i;
	return NULL;
}
static void *answers(void *arg)
{
	for (int i = 0; i < 300; i++) {
		sem_wait(&a);
		usleep(5000);
		sem_post(&b);
	}
	return NULL;
}
static int epoll, fd[2];
static void *waits(void *arg)
{
	struct epoll_event e;

	return epoll_wait(epoll, &e, 1, -1) == 1 ? arg : NULL; /* the kernel does not restart it by itself */
}
int main(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	pthread_t th[3];
	void *ret;

	pipe(fd);
	epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd[0], &e);
	pthread_create(&th[2], NULL, waits, &e);
	pthread_create(&th[0], NULL, computes, NULL);
	pthread_create(&th[1], NULL, answers, NULL);
	for (int i = 0; i < 300; i++) {
		sem_post(&a);
		sem_wait(&b);
	}
	pthread_join(th[0], NULL);
	pthread_join(th[1], NULL);
	write(fd[1], "x", 1);
	pthread_join(th[2], &ret);
	if (!ret)
		return 1;
	puts("all is well");
	return 0;
}
EOF
for cc in lizard-cc gcc; do
	$cc -O1 -g -pthread "$T/go_on.c" -o "$T/go_on"
	rec=$T/recordings/go_on-$cc
	timeout -k 5 100 lizard-trace -q --max-size 10K -o "$rec" "$T/go_on" >"$T/out" 2>"$T/err"
	is "$? $(tail -n 1 "$T/out")" "0 all is well" "$cc: threads go on when recording has ended"
	like "$(cat "$T/err")" "goes on unrecorded" "$cc: and the end of recording is announced"
	verified "$cc, recording ended early" "$rec"
done
done_testing
