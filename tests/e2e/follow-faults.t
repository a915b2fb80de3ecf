#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What goes wrong while processes are followed: the next tracer can stop nobody, is killed, finds no room, has no descriptors;
# the first tracer or a process is killed. The program goes on where it can, nobody stays behind stopped, and what was recorded replays.
. "$(dirname "$0")/../lib/tap.sh"

cat >"$T/parent.c" <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned sum;
static void *sleeps(void *arg)
{
	for (;;)
		pause();
	return arg;
}
static void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i % 3 ? i : 1;
}
/* parent N [FILE]: fills the disk that FILE is on; N children one after the other, and what became of them. */
int main(int argc, char **argv)
{
	static char zeroes[1 << 16];
	pthread_t th;
	int fd = argc > 2 ? open(argv[2], O_CREAT | O_WRONLY, 0600) : -1, status;

	if (getenv("THREADED"))
		pthread_create(&th, NULL, sleeps, NULL);
	if (fd >= 0)
		usleep(1200000); /* what has been recorded is on the disk by then */
	while (fd >= 0 && (write(fd, zeroes, sizeof(zeroes)) > 0 || write(fd, zeroes, 1) > 0))
		;
	for (int i = 0; i < atoi(argv[1]); i++) {
		pid_t pid = fork();
		if (pid == 0) {
			work(300000);
			raise(SIGSTOP);
			work(300000);
			_exit(7);
		}
		if (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
			kill(pid, SIGCONT);
			waitpid(pid, &status, 0);
		}
		if (WIFEXITED(status))
			dprintf(1, "child: exit %d\n", WEXITSTATUS(status));
		else
			dprintf(1, "child: signal %d\n", WTERMSIG(status));
	}
	dprintf(1, "parent done\n");
	return 3;
}
C
lizard-cc -g -O1 -pthread "$T/parent.c" -o "$T/parent" &&
	gcc -O1 -w "$LIZARD_SRC/tests/progs/trace/refuse.c" -o "$T/refuse"
ok $? "builds" || done_testing

# ---- the next tracer cannot take the child ----
timeout -k 5 60 "$T/refuse" interrupt lizard-trace -q --follow all -o "$T/recordings/refused" "$T/parent" 2 >"$T/out" 2>"$T/err"
is "$? $(tr '\n' ' ' <"$T/out")" "3 child: signal 9 child: signal 9 parent done " "nobody can take it: the parent sees it killed, and goes on"
is "$(grep -c 'could not be handed to a tracer of its own and has to be killed: cannot stop process .* not permitted' "$T/err")" 2 \
	"nobody can take it: it is said" || diag "$(cat "$T/err")"
timeout 60 lizard verify -a "$T/recordings/refused" >"$T/verify" 2>&1
ok $? "nobody can take it: the parent verifies" || diag "$(cat "$T/verify")"

# ---- there is no room for the child's recording ----
if small_disk 6m; then
	timeout -k 5 60 lizard-trace -q --follow all -o "$T/small/full" "$T/parent" 2 "$T/small/fill" >"$T/out" 2>"$T/err"
	is "$? $(tr '\n' ' ' <"$T/out")" "3 child: exit 7 child: exit 7 parent done " "no room: all go on as without Lizard" || diag "$(cat "$T/err")"
	like "$(cat "$T/err")" "process [0-9]* goes on unrecorded: .*No space left|recording ends here: .*No space left" "no room: it is said"
	timeout 60 lizard verify "$T/small/full" >"$T/verify" 2>&1
	ok $? "no room: what there is verifies" || diag "$(cat "$T/verify")"
	umount "$T/small"
else
	skip "no room" "no permission to mount a small disk"
fi

# ---- the child's recording may not become any larger ----
cat >"$T/large.c" <<'C'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned sum, calls;
static __attribute__((noinline)) unsigned jump(unsigned x)
{
	return x & 0x40000 ? calls : x;
}
int main(void)
{
	int status;
	pid_t pid = fork();

	for (unsigned i = 0, x = 1; !pid && i < 200000000; i++) {
		x = x * 1103515245 + 12345; /* branches that nobody can make smaller */
		if (x & 0x10000)
			calls++;
		else
			sum += jump(x);
	}
	if (!pid) {
		dprintf(1, "sum %u\n", sum);
		_exit(7);
	}
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		dprintf(1, "child: exit %d\n", WEXITSTATUS(status));
	return 0;
}
C
lizard-cc -g -O1 "$T/large.c" -o "$T/large" && want=$("$T/large" | tr '\n' ' ')
ok $? "builds what becomes large"
timeout -k 5 60 lizard-trace -q --follow all --flow=full --max-size 1M -o "$T/recordings/large" "$T/large" >"$T/out" 2>"$T/err"
is "$? $(tr '\n' ' ' <"$T/out")" "0 $want" "too large: the child goes on as without Lizard" || diag "$(cat "$T/err")"
is "$(grep -c 'goes on unrecorded' "$T/err") $(grep -c 'still running' "$T/err")" "1 0" "too large: it is said, and all are known to be gone" ||
	diag "$(cat "$T/err")"
like "$(timeout 60 lizard verify -a "$T/recordings/large" 2>&1 | grep processes/)" "recording ended early: it has reached the size that --max-size allows, 1M; the program went on$" \
	"too large: verify tells, too"

# ---- the next tracer is killed: at once, or as soon as it has been told of the child; or it ends by itself ----
cat >"$T/killer.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	ssize_t (*real)(int, void *, size_t, int) = (ssize_t (*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
	char name[32] = "";
	prctl(PR_GET_NAME, name);
	const int is_next = !strcmp(name, "lizard-follow");

	if (is_next && !strcmp(getenv("KILL"), "begin"))
		raise(SIGKILL);
	ssize_t n = real(fd, buf, len, flags);
	if (is_next && n == 0 && !strcmp(getenv("KILL"), "told"))
		raise(SIGKILL);
	if (is_next && n == 0 && !strcmp(getenv("KILL"), "exit"))
		_exit(3);
	return n;
}
C
gcc -w -shared -fPIC -o "$T/killer.so" "$T/killer.c" -ldl
ok $? "builds what kills it"
for how in begin told told-threaded exit exit-threaded; do
	rec=$T/recordings/killed-$how when=${how%-threaded}
	unset THREADED
	[ "$when" = "$how" ] || export THREADED=1 # its tracer waits for any process then
	KILL=$when LD_PRELOAD=$T/killer.so timeout -k 5 60 lizard-trace -q --follow all -o "$rec" "$T/parent" 2 >"$T/out" 2>"$T/err"
	status=$?
	is "$status $(tr '\n' ' ' <"$T/out")" "3 child: exit 7 child: exit 7 parent done " "killed ($how): the child goes on, and the parent" ||
		diag "$(cat "$T/err")"
	is "$(grep -c 'goes on unrecorded: ' "$T/err")" 2 "killed ($how): it is said" ||
		diag "$(cat "$T/err")"
	timeout 60 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "killed ($how): the parent verifies" || diag "$(cat "$T/verify")"
done
unset THREADED

# ---- who starts tracers is killed ----
spawner_of() { # RECORDER: as soon as it is there
	for i in $(seq 1 100); do
		pgrep -P "$1" -x lizard-spawner && return
		sleep 0.1
	done
}

mkfifo "$T/go"
lizard-trace -q --follow all -o "$T/recordings/spawner" sh -c "read x <'$T/go'; /bin/true; echo \$?; (exit 4); echo \$?; exit 5" >"$T/out" 2>"$T/err" &
recorder=$!
spawner=$(spawner_of "$recorder")
kill -9 "$spawner"
echo on >"$T/go"
wait "$recorder"
is "$? $(tr '\n' ' ' <"$T/out")" "5 0 4 " "no spawner: all go on as without Lizard" || diag "$(cat "$T/err")"
is "$(grep -c 'goes on unrecorded: cannot start another tracer: ' "$T/err")" 2 "no spawner: it is said" || diag "$(cat "$T/err")"
timeout 60 lizard verify "$T/recordings/spawner" >"$T/verify" 2>&1
ok $? "no spawner: what there is verifies" || diag "$(cat "$T/verify")"
lizard-trace -q --follow all -o "$T/recordings/narrow" sh -c "read x <'$T/go'; /bin/true; echo \$?; exit 5" >"$T/out" 2>"$T/err" &
recorder=$!
prlimit --pid "$(spawner_of "$recorder")" --nofile=6:6
echo on >"$T/go"
wait "$recorder"
is "$? $(cat "$T/out")" "5 0" "no descriptors for a tracer: the process goes on as without Lizard" || diag "$(cat "$T/err")"
is "$(grep -c 'goes on unrecorded: its tracer has ended' "$T/err")" 1 "no descriptors for a tracer: it is said" || diag "$(cat "$T/err")"
lizard-trace -q --follow all -o "$T/recordings/first" sleep 100 2>/dev/null &
recorder=$!
spawner=$(spawner_of "$recorder")
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
for i in $(seq 1 100); do
	kill -0 "$spawner" 2>/dev/null || break
	sleep 0.1
done
ok "$([ "$spawner" ] && ! kill -0 "$spawner" 2>/dev/null; echo $?)" "the recorder is killed: nobody is left to start tracers"

# ---- a tracer that waits to be asked for meets signals to the whole group, which are not for the process that comes then ----
run='trap : USR1; /bin/true; sh -c "trap : USR1; kill -USR1 0; exit 3"; echo $?; sleep 0.2; echo $?; (exit 4); echo $?'
want=$(setsid -w sh -c "$run" | tr '\n' ' ')
setsid -w lizard-trace -q --follow all -o "$T/recordings/group" sh -c "$run" >"$T/out" 2>"$T/err"
is "$(tr '\n' ' ' <"$T/out")" "$want" "a signal to the group: later processes go on as without Lizard" || diag "$(cat "$T/err")"

gcc -O1 -w -o "$T/group" "$LIZARD_SRC/tests/progs/trace/group_signals.c"
for follow in "" "--follow all"; do
	rec=$T/recordings/group-all
	rm -rf "$rec"
	timeout -k 5 60 setsid -w lizard-trace -q $follow -o "$rec" "$T/group" >"$T/out" 2>"$T/err"
	is "$? $(tr '\n' ' ' <"$T/out")$(cat "$T/err")" "3 7 7 7 few " "all signals to the group${follow:+, $follow}: nobody ends, nothing piles up"
	timeout 60 lizard verify -a "$rec" >"$T/verify" 2>&1
	ok $? "all signals to the group${follow:+, $follow}: all verify" || diag "$(cat "$T/verify")"
	[ -z "$follow" ] || is "$(lizard ps "$rec" | grep -c 'exit 7')" 3 "all signals to the group: each process is recorded" || diag "$(lizard ps "$rec")"
done

# ---- a process begins where its parent is, though the next tracer waited elsewhere ----
cpu_of() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 37; }
if [ "$(nproc)" -gt 1 ]; then
	lizard-trace -q --follow all -o "$T/recordings/moved" sh -c "/bin/true; echo \$\$ >'$T/pid'; read x <'$T/go'; cat /proc/self/stat" >"$T/out" 2>"$T/err" &
	recorder=$!
	has_pid() { [ -s "$T/pid" ]; }
	wait_until has_pid
	sleep 0.5
	other=$(for cpu in $(taskset -pc $$ | sed 's/.*: //; s/-/ /; s/,/ /g'); do [ "$cpu" = "$(cpu_of "$(cat "$T/pid")")" ] || echo "$cpu"; done | head -n 1)
	for pid in "$(cat "$T/pid")" "$recorder"; do taskset -pc "$other" "$pid" >"$T/taskset"; done
	echo on >"$T/go"
	wait "$recorder"
	is "$(sed 's/.*) //' "$T/out" | cut -d ' ' -f 37)" "$other" "a process begins where its parent is" || diag "$(cat "$T/err")"
else
	skip "a process begins where its parent is" "there is one CPU"
fi

# ---- who has gone on after the first tracer was killed does not hold its error output open ----
(lizard-trace -q --follow all -o "$T/recordings/alone" sh -c 'exec 2>/dev/null; /bin/true; sleep 100 & echo $! >"$1/sleeper"; echo on >"$1/go"; wait' - "$T" 2>&1 >/dev/null & echo $! >"$T/recorder"; exec >&-; wait) | cat >"$T/said" &
reader=$!
read -r _ <"$T/go"
sleep 0.5
kill -9 "$(cat "$T/recorder")"
for i in $(seq 1 100); do
	kill -0 "$reader" 2>/dev/null || break
	sleep 0.1
done
ok "$(! kill -0 "$reader" 2>/dev/null; echo $?)" "the recorder is killed: nobody holds its error output open"
kill "$(cat "$T/sleeper")"
wait "$reader"

# ---- there are no descriptors ----
for n in $(seq 13 19) 24 32; do
	rec=$T/recordings/limit-$n
	(ulimit -n "$n" && exec timeout -k 5 60 lizard-trace -q --follow all -o "$rec" "$T/parent" 2) >"$T/out" 2>"$T/err"
	status=$?
	want="child: exit 7 child: exit 7 parent done "
	case $status in
	125) # too few for the program itself
		like "$(cat "$T/err")" 'lizard-trace: .*Too many open files' "$n descriptors: none for the recorder" && continue ;;
	*) is "$status $(tr '\n' ' ' <"$T/out")" "3 $want" "$n descriptors: all go on as without Lizard" ;;
	esac || diag "$(cat "$T/err")"
	said=$(grep -c 'unrecorded: .*Too many\|recording ends here: .*Too many' "$T/err")
	recorded=$(find "$rec/processes" -mindepth 1 -maxdepth 1 -name '[0-9]*' 2>/dev/null | wc -l)
	[ "$recorded" = 2 ] || [ "$said" -ge 1 ]
	ok $? "$n descriptors: what is not recorded is said" || diag "$recorded are: $(cat "$T/err")"
	timeout 60 lizard verify -a "$rec" >"$T/verify" 2>&1 ||
		{ grep -q 'recording ends here: cannot create .*markers' "$T/err" && grep -q 'no recording of what the program did' "$T/verify"; }
	ok $? "$n descriptors: what there is verifies" || diag "$(cat "$T/verify")"
done

# The program has the limit that it was given, the recorder as many as there are.
is "$(ulimit -Sn 17 && lizard-trace -q --follow all -o "$T/recordings/own" sh -c 'ulimit -Sn; (ulimit -Sn)')" "17
17" "the limit of descriptors that the program sees is its own"
is "$(lizard ps "$T/recordings/own" | grep -c 'exit')" 2 "and the recorder is not bound by it" || diag "$(lizard ps "$T/recordings/own")"

# ---- processes that are only watched ----
cat >"$T/watched.c" <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int ask[2], answer[2];
static void *answers(void *arg)
{
	char b;

	while (read(ask[0], &b, 1) == 1 && b != 'e')
		write(answer[1], &b, 1);
	return arg;
}
static int asked(void)
{
	char b = 0;

	return write(ask[1], "a", 1) == 1 && read(answer[0], &b, 1) == 1 && b == 'a';
}
int main(int argc, char **argv)
{
	pthread_t th;
	int status, before;
	pid_t pid;

	if (argc > 1) { /* a daemon, and one between */
		if (fork() == 0) {
			if (fork() == 0)
				sleep(4);
			_exit(0);
		}
		return wait(&status) < 0;
	}
	pipe(ask);
	pipe(answer);
	if ((pid = fork()) == 0) {
		pthread_create(&th, NULL, answers, NULL);
		pthread_join(th, NULL);
		_exit(7);
	}
	before = asked();
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	kill(pid, SIGCONT);
	printf("%d %d\n", before, asked());
	write(ask[1], "e", 1);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
C
gcc -O1 -w -pthread "$T/watched.c" -o "$T/watched"
ok $? "builds what is watched"
timeout -k 5 20 lizard-trace -q --follow nobody -o "$T/recordings/watched" "$T/watched" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out" "$T/err")" "7 1 1" "watched: its thread goes on after SIGCONT"
timeout -k 5 20 lizard-trace -q --follow nobody -o "$T/recordings/daemon" "$T/watched" daemon >"$T/out" 2>"$T/err" </dev/null
is "$? $(cat "$T/err")" "0 lizard: 1 more process is still running" "watched: the one that is gone is not counted"
gone() { ! pgrep -f "^$T/watched" >/dev/null; }
wait_until gone
is "$(pgrep -f "^$T/parent" | wc -l)" 0 "nobody stays behind"

# ---- who starts tracers may use all CPUs: one of them may be busy with the work of others ----
run='/bin/true; /bin/true; sleep 0.2; grep -h Cpus_allowed_list "/proc/$(pgrep -x lizard-spawner -P "$PPID")/status"'
is "$(lizard-trace -q --follow all -o "$T/recordings/cpus" sh -c "$run")" "$(grep Cpus_allowed_list /proc/self/status)" "who starts tracers may use all CPUs"

# ---- a tracer fails as it begins: the process may use all CPUs again, forked or executed, and watched before ----
cpus='while read -r key value; do [ "$key" != Cpus_allowed_list: ] || echo "$value"; done </proc/self/status'
own=$(sh -c "$cpus")
for follow in all cat; do
	rec=$T/recordings/begins-$follow
	timeout -k 5 60 lizard-trace -q --follow $follow -o "$rec" sh -c ": >'$rec/processes'; ($cpus); (sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status); sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status; (:; exec cat /proc/self/status)" >"$T/out" 2>"$T/err"
	is "$(sed -n 's/^Cpus_allowed_list:.//; /^[0-9,-]*$/p' "$T/out" | tr '\n' ' ')" "$own $own $own $own " "its tracer fails to begin, --follow $follow: the process may use all CPUs" ||
		diag "$(cat "$T/err")"
	like "$(cat "$T/err")" "goes on unrecorded: .*processes/" "... it is said"
done

# ---- a 32-bit program is not recorded: it goes on, and so does the recording of who started it ----
cat >"$T/wide.s" <<'S'
.globl _start
_start:
	rdtsc
	movl $1, %eax
	movl $9, %ebx
	int $0x80
S
if as --32 "$T/wide.s" -o "$T/wide.o" && ld -m elf_i386 "$T/wide.o" -o "$T/wide32" && { "$T/wide32"; [ $? = 9 ]; }; then
	w=$T/wide32
	for run in "for i in $(seq -s ' ' 1 24); do $w; echo \$?; done; ($w); echo \$?; (:; $w; echo \$?); (exec $w); echo \$?; echo on" "exec $w"; do
		for follow in all wide32 sh; do
			rec=$T/recordings/wide-$((n_wide++))
			timeout -k 5 60 lizard-trace -q --follow $follow -o "$rec" sh -c "$run" >"$T/out" 2>"$T/err"
			is "$? $(tr '\n' ' ' <"$T/out")" "$(sh -c "$run" >"$T/native"; echo "$? $(tr '\n' ' ' <"$T/native")")" "32 bit, --follow $follow, $run: as without Lizard" ||
				diag "$(cat "$T/err")"
			[ "$follow" = sh ] || like "$(cat "$T/err")" "(unrecorded|ends here): 32-bit programs are not supported" "... it is said"
			timeout 60 lizard verify -a "$rec" >"$T/verify" 2>&1
			is "$(grep -vc ': clean: \|: 32-bit programs are not supported; the program went on' "$T/verify")" 0 "... what there is verifies" ||
				diag "$(cat "$T/verify")"
		done
	done
else
	skip "32-bit programs" "none can run here"
fi

# ---- a child without a stack faults, as without the recorder, and its recording says so ----
cat >"$T/nostack.c" <<'EOF'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status = 0;

	if (!syscall(SYS_clone, SIGCHLD, -1L, -1L, -1L, -1L))
		_exit(0);
	wait(&status);
	printf("signal %d\n", WTERMSIG(status));
	return 0;
}
EOF
lizard-cc -g -O0 -w "$T/nostack.c" -o "$T/nostack"
for follow in parent all; do
	timeout -k 5 60 lizard-trace -q --follow $follow -o "$T/recordings/nostack-$follow" "$T/nostack" >"$T/out" 2>&1
	is "$? $(cat "$T/out")" "0 signal 11" "a child without a stack, --follow $follow"
	timeout 60 lizard verify -a "$T/recordings/nostack-$follow" >"$T/verify" 2>&1
	is "$? $(grep -vc ': clean: .* bytes written$' "$T/verify")" "0 0" "... verify is clean" || diag "$(cat "$T/verify")"
done
is "$(ls "$T/recordings/nostack-all/processes" | wc -l)" 1 "... the child has a recording"
done_testing
