/* Makes calls by code of the form that the C library 2.43 has for all calls that can be cancelled: syscall, ret, and another
 * function's code right behind. What a handler sees, and where the call goes on, is as without a recorder; also if control
 * comes to the padding nearby, where nobody is expected. Prints what must be so. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { ROUNDS = 1000 };

/* long NAME(long nr, a, b, c), the instruction at NAME_insn, and padding at NAME_padding behind the function that follows:
 * who jumps there comes to NAME_behind, which adds 5. */
#define CALLS(NAME)                                                                                                           \
	long NAME(long nr, long a, long b, long c);                                                                           \
	long NAME##_next(long a), NAME##_padding(long a);                                                                     \
	extern const char NAME##_insn[];                                                                                      \
	__asm__(".text\n	.balign 16\n" #NAME ":\n"                                                                      \
	        "	mov %rdi, %rax\n	mov %rsi, %rdi\n	mov %rdx, %rsi\n	mov %rcx, %rdx\n"                     \
	        "	nop\n" #NAME "_insn:\n	syscall\n	ret\n" #NAME "_next:\n"                                        \
	        "	lea 3(%rdi), %rax\n	ret\n" #NAME "_padding:\n"                                                     \
	        "	.byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0\n"                                                                 \
	        "	lea 5(%rdi), %rax\n	ret\n")

CALLS(plain);
CALLS(entered);
CALLS(waiting);

static int wrong;

static void expect(int good, const char *what)
{
	if (!good && !wrong++)
		printf("wrong: %s\n", what);
}

static volatile sig_atomic_t handled, at_insn, behind, elsewhere;
static const char *handled_insn = plain_insn;
static int seen[2] = {-1, -1}; /* a byte for each signal */

static void on_signal(int signo, siginfo_t *info, void *context)
{
	const char *rip = (const char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	handled++;
	at_insn += rip == handled_insn;
	behind += rip == handled_insn + 2;
	if (seen[1] >= 0)
		write(seen[1], "", 1);
}

/* Sent by the call itself, so it comes behind it. */
static void signals(void)
{
	struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(SIGUSR1, &act, NULL);
	for (int i = 0; i < 200; i++) {
		expect(plain(SYS_getppid, 0, 0, 0) == getppid(), "getppid");
		expect(plain(SYS_kill, getpid(), SIGUSR1, 0) == 0, "kill");
	}
	printf("sent: %d, behind %d, in front of it %d\n", handled, behind, at_insn);
}

/* On a busy machine no time is long enough to be sure of it. */
static void wait_until_waits(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (state != 'S') {
		FILE *f = fopen(path, "r");

		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			_exit(1);
		fclose(f);
		usleep(1000);
	}
}

/* Interrupts its parent, which waits for P, and then writes there if ENDS. */
static int interrupt(int p, int ends)
{
	char c = 'a';

	wait_until_waits(getppid());
	kill(getppid(), SIGALRM);
	return ends && (read(seen[0], &c, 1) != 1 || write(p, &c, 1) != 1);
}

/* A call that is interrupted stands in front of itself, or behind with an error. */
static void interrupted(int flags)
{
	struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};
	int p[2], errors = 0;
	char c = 'a';

	handled = at_insn = behind = 0;
	handled_insn = waiting_insn;
	sigaction(SIGALRM, &act, NULL);
	pipe(p);
	pipe(seen);
	for (int i = 0; i < 200; i++) {
		expect(waiting(SYS_write, p[1], (long)&c, 1) == 1, "write");
		expect(waiting(SYS_read, p[0], (long)&c, 1) == 1, "read");
	}
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(interrupt(p[1], flags));
		errors += waiting(SYS_read, p[0], (long)&c, 1) == -EINTR;
		waitpid(pid, NULL, 0);
	}
	close(p[0]);
	close(p[1]);
	close(seen[0]);
	close(seen[1]);
	seen[1] = -1;
	printf("interrupted: %d, behind %d, in front of it %d, errors %d\n", handled, behind, at_insn, errors);
}

static void *work(void *arg)
{
	struct timespec t;

	for (int i = 0; i < ROUNDS; i++) {
		expect(plain(SYS_gettid, 0, 0, 0) == gettid(), "gettid");
		expect(plain(SYS_clock_gettime, CLOCK_REALTIME, (long)&t, 0) == 0, "clock_gettime");
		expect(plain_next(i) == i + 3, "the function behind");
	}
	return arg;
}

static void threads(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static void child(void)
{
	int status;

	if (fork() == 0)
		_exit(plain(SYS_getpid, 0, 0, 0) == getpid() && plain_padding(1) == 6 ? 7 : 8);
	wait(&status);
	expect(WEXITSTATUS(status) == 7, "fork");
	if (vfork() == 0)
		_exit(plain(SYS_getpid, 0, 0, 0) == getpid() ? 7 : 8);
	wait(&status);
	expect(WEXITSTATUS(status) == 7, "vfork");
}

/* Nobody may know that this is done. */
static void padding(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		expect(entered(SYS_getppid, 0, 0, 0) == getppid(), "getppid");
		if (i % 100 == 99)
			expect(entered_padding(i) == i + 5, "the padding");
		expect(entered_next(i) == i + 3, "the function behind");
	}
}

int main(void)
{
	signals();
	interrupted(SA_RESTART);
	interrupted(0);
	threads();
	child();
	padding();
	work(NULL);
	puts(wrong ? "wrong" : "well");
	return wrong != 0;
}
