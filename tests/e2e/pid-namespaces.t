#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# PID namespaces, as containers have them: a process has another number inside than outside, the first one of a namespace is spared
# signals, and /proc may be that of another namespace.
. "$(dirname "$0")/../lib/tap.sh"

if unshare --pid --fork true 2>/dev/null; then
	unshare="unshare --pid --fork"
elif unshare --user --map-root-user --pid --fork true 2>/dev/null; then
	unshare="unshare --user --map-root-user --pid --fork"
else
	skip_all "no PID namespace can be made here"
fi

cat >"$T/threads.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
static pthread_barrier_t both;
static int cpus;
static void *work(void *arg)
{
	cpu_set_t set;
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	sched_getaffinity(gettid(), sizeof(set), &set);
	cpus = CPU_COUNT(&set);
	return arg;
}
int main(void)
{
	cpu_set_t set;
	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < 2; i++) {
		pthread_t th;
		pthread_barrier_init(&both, NULL, 2);
		pthread_create(&th, NULL, work, NULL);
		pthread_barrier_wait(&both);
		pthread_setname_np(th, "worker");
		puts("named");
		pthread_barrier_wait(&both);
		pthread_join(th, NULL);
	}
	printf("%s CPUs\n", cpus == CPU_COUNT(&set) ? "the same" : "other");
	return 0;
}
C
lizard-cc -g -O1 -pthread "$T/threads.c" -o "$T/threads" || exit 1

# A thread's number inside is not the one by which the recorder knows it.
out=$(lizard-trace -q --follow all -o "$T/inside" -- $unshare --mount-proc "$T/threads" 2>&1)
like "$out" 'the same CPUs' "threads in a namespace: they run as ever"
lizard verify -a "$T/inside" >"$T/out" 2>&1
is $? 0 "... and verify" || diag "$(cat "$T/out")"
program=$(grep -l -r -x --include=meta "program $T/threads" "$T/inside/processes")
out=$(lizard-gdb --stock "${program%/meta}" -batch -ex 'b puts' -ex c -ex 'info threads' 2>&1)
like "$out" ' 2 .*"worker"' "... under the names that they are given"

# The recorder itself is in the namespace: with a /proc of it, and with that of the outer one.
for proc in "" --mount-proc; do
	out=$($unshare $proc sh -c "lizard-trace -q -o '$T/rec$proc' '$T/threads' && lizard verify '$T/rec$proc' &&
	    lizard-gdb --stock '$T/rec$proc' -batch -ex 'b puts' -ex c" 2>&1)
	like "$out" 'clean' "the recorder in a namespace, ${proc:-with the old /proc}: recorded and verified"
	like "$out" 'Breakpoint 1, ' "... and debugged there"
done

cat >"$T/first.c" <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
/* first HOW: the first process of a namespace ends so */
int main(int argc, char **argv)
{
	int how = argv[argc - 1][0], status;

	if (unshare((getuid() ? CLONE_NEWUSER : 0) | CLONE_NEWPID))
		return 1;
	pid_t pid = fork();
	if (pid == 0) {
		switch (how) {
		case 's': *(volatile int *)0 = 0; break;
		case 'a': abort();
		case 't': __asm__ volatile("int3"); break;
		case 'd': /* these the kernel drops */
			kill(getpid(), SIGQUIT);
			raise(SIGTSTP);
			raise(SIGSTOP);
		}
		_exit(3);
	}
	waitpid(pid, &status, 0);
	printf("signal %d exit %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0, WEXITSTATUS(status));
	return 0;
}
C
lizard-cc -g -O1 "$T/first.c" -o "$T/first" 2>/dev/null || exit 1
for how in segv abort trap dropped; do
	wanted=$("$T/first" $how)
	got=$(timeout 30 lizard-trace -q --follow all -o "$T/$how" -- "$T/first" $how 2>&1)
	is "$got" "$wanted" "the first process of a namespace, $how: as without Lizard"
	lizard verify -a "$T/$how" >"$T/out" 2>&1
	is $? 0 "... and verified" || diag "$(cat "$T/out")"
	like "$(lizard ps "$T/$how")" "$(echo "$wanted" | sed 's/signal 0 //; s/ exit 0$//') " "... the end is what the recording has"
done

done_testing
