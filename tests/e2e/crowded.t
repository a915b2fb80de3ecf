#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where others crowd its CPU, a recorded program moves to another one together with its tracer.
# Where others crowd the CPUs of the threads that pack, those take any.
. "$(dirname "$0")/../lib/tap.sh"

[ "$(nproc)" -gt 1 ] || skip_all "there is one CPU"
[ -e /proc/self/schedstat ] || skip_all "this kernel does not tell how long a thread has waited"

cat >"$T/long.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
static pthread_barrier_t end;
static volatile unsigned long sum;
static void *wait(void *arg)
{
	pthread_barrier_wait(&end);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t th;
	cpu_set_t set;

	pthread_barrier_init(&end, NULL, 2);
	pthread_create(&th, NULL, wait, NULL);
	printf("%d\n", getpid());
	fflush(stdout);
	do
		for (int i = 0; i < 1000000; i++)
			sum += i % 7;
	while (access(argv[1], F_OK));
	pthread_barrier_wait(&end);
	pthread_join(th, NULL);
	sched_getaffinity(0, sizeof(set), &set);
	printf("%d CPUs\n", CPU_COUNT(&set));
	return 0;
}
C
lizard-cc -g -O1 -pthread "$T/long.c" -o "$T/long" || exit 1
gcc -O1 -x c - -o "$T/busy" <<<'int main(void) { for (volatile long i = 0;; i++); }' || exit 1
allowed() { # PROCESS [NAME]: the CPUs of each of its threads, or of those called NAME
	for task in /proc/"$1"/task/*; do
		[ -z "$2" ] || [ "$(cat "$task/comm")" = "$2" ] || continue
		sed -n 's/^Cpus_allowed_list:\t//p' "$task/status"
	done | sort -u
}
all=$(allowed $$)

crowd() { # CPUS: four processes that are busy there
	busy=()
	for _ in 1 2 3 4; do
		taskset -c "$1" "$T/busy" &
		busy+=($!)
	done
}

begin() { # NAME: records a run that goes on until $T/NAME is there
	lizard-trace -q -o "$T/rec-$1" -- "$T/long" "$T/$1" >"$T/out-$1" &
	tracer=$!
	wait_until test -s "$T/out-$1"
	program=$(head -n 1 "$T/out-$1")
	before=$(allowed "$program")
}

end() { # NAME
	touch "$T/$1"
	wait "$tracer"
	is $? 0 "... the program ends as ever"
	is "$(tail -n 1 "$T/out-$1")" "$(nproc) CPUs" "... and believes to have all CPUs"
	lizard verify "$T/rec-$1" >"$T/verify" 2>&1
	is $? 0 "... it verifies" || diag "$(cat "$T/verify")"
}

others_than() { # CPU: all others of ours, as taskset has it
	python3 -c 'import os, sys; print(",".join(str(c) for c in sorted(os.sched_getaffinity(0)) if c != int(sys.argv[1])))' "$1"
}

begin packers
crowd "$(others_than "$before")"
packers_have_all() { [ "$(allowed "$tracer" lizard-gather)" = "$all" ]; }
wait_until packers_have_all
ok $? "threads that pack take any CPU while others crowd theirs"
kill "${busy[@]}"
end packers

begin pair
like "$before" '^[0-9]+$' "the program has one CPU"
crowd "$before"
moved() { [ "$(allowed "$program")" != "$before" ]; }
wait_until moved
sleep 0.1
after=$(allowed "$program")
like "$after" '^[0-9]+$' "with four busy processes there, all of its threads have one CPU"
[ "$after" != "$before" ]
ok $? "... another one"
is "$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$tracer/task/$tracer/status")" "$after" "... and the tracer has the same"
kill "${busy[@]}"
end pair

done_testing
