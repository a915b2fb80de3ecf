#!/bin/bash
# What goes wrong while processes are followed: the next tracer can stop nobody, is killed, finds no room; the first tracer or
# a process is killed. The program goes on where it can, nobody stays behind stopped, and what was recorded replays.
. "$(dirname "$0")/../lib/tap.sh"

cat >"$T/parent.c" <<'C'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned sum;
static void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i % 3 ? i : 1;
}
/* parent N [FILE]: fills the disk that FILE is on; N children one after the other, and what became of them. */
int main(int argc, char **argv)
{
	static char zeroes[1 << 16];
	int fd = argc > 2 ? open(argv[2], O_CREAT | O_WRONLY, 0600) : -1, status;

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
lizard-cc -g -O1 "$T/parent.c" -o "$T/parent" &&
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
if mkdir "$T/small" && mount -t tmpfs -o size=6m tmpfs "$T/small" 2>/dev/null; then
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
timeout -k 5 60 lizard-trace -q --follow all --max-size 1M -o "$T/recordings/large" "$T/large" >"$T/out" 2>"$T/err"
is "$? $(tr '\n' ' ' <"$T/out")" "0 $want" "too large: the child goes on as without Lizard" || diag "$(cat "$T/err")"
is "$(grep -c 'goes on unrecorded' "$T/err") $(grep -c 'still running' "$T/err")" "1 0" "too large: it is said, and all are known to be gone" ||
	diag "$(cat "$T/err")"

# ---- the next tracer is killed: at once, or as soon as it has been told of the child ----
cat >"$T/killer.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
static int is_next;
__attribute__((constructor)) static void begin(void)
{
	char line[4096] = "";
	FILE *f = fopen("/proc/self/cmdline", "r");

	for (size_t n = f ? fread(line, 1, sizeof(line) - 1, f) : 0; n; n--)
		if (!line[n - 1])
			line[n - 1] = ' ';
	if (f)
		fclose(f);
	is_next = strstr(line, "--handed-over") != NULL;
	if (is_next && !strcmp(getenv("KILL"), "begin"))
		raise(SIGKILL);
}
ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	ssize_t (*real)(int, void *, size_t, int) = (ssize_t (*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
	ssize_t n = real(fd, buf, len, flags);

	if (is_next && n == 0 && !strcmp(getenv("KILL"), "told"))
		raise(SIGKILL);
	return n;
}
C
gcc -w -shared -fPIC -o "$T/killer.so" "$T/killer.c" -ldl
ok $? "builds what kills it"
for when in begin told; do
	rec=$T/recordings/killed-$when
	KILL=$when LD_PRELOAD=$T/killer.so timeout -k 5 60 lizard-trace -q --follow all -o "$rec" "$T/parent" 2 >"$T/out" 2>"$T/err"
	status=$?
	case $when in
	begin) # nobody is told, or the child is parked already: both are seen
		is "$status $(grep -c 'child: \(exit 7\|signal 9\)' "$T/out") $(tail -n 1 "$T/out")" "3 2 parent done" "killed at once: the parent goes on" ;;
	told) is "$status $(tr '\n' ' ' <"$T/out")" "3 child: signal 9 child: signal 9 parent done " "killed later: the child is, too, and the parent goes on" ;;
	esac || diag "$(cat "$T/err")"
	is "$(grep -c 'goes on unrecorded\|has to be killed: its tracer was killed by signal 9' "$T/err")" 2 "killed ($when): it is said" ||
		diag "$(cat "$T/err")"
	timeout 60 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "killed ($when): the parent verifies" || diag "$(cat "$T/verify")"
done
is "$(pgrep -f "^$T/parent" | wc -l)" 0 "nobody stays behind"
done_testing
