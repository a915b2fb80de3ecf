/* seccomp WHAT: filters of system calls (seccomp(2)). Prints what comes of them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "../let-go/traced.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RET(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define IF(value, ret) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), RET(ret)
#define N(a) (sizeof(a) / sizeof(*(a)))
/* Number 9999 is nobody's. */
enum { NOBODYS = 9999, TSYNC_ESRCH = 16, WAIT_KILLABLE = 32, NOTIF_SIZES = 3 };

static const char *text(long ret)
{
	static char out[4][32];
	static int i;
	char *to = out[i++ % 4];

	snprintf(to, sizeof(*out), ret < 10000 ? "%ld" : "much", ret);
	return ret == -1 ? strerrorname_np(errno) ? strerrorname_np(errno) : "an error" : to;
}

#define TELL(call) (printf("%s: %s\n", #call, text(call)), fflush(stdout))

static long install(const struct sock_filter *f, unsigned n, unsigned flags)
{
	struct sock_fprog p = {n, (void *)f};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &p);
}

/* RET for call NR, all others are allowed. */
static long on(long nr, uint32_t ret)
{
	struct sock_filter f[] = {LOAD(nr), IF(nr, ret), RET(SECCOMP_RET_ALLOW)};

	return install(f, N(f), 0);
}

static void nnp(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

#define BAD(...)                                                                                   \
	do {                                                                                       \
		struct sock_filter f[] = {__VA_ARGS__};                                            \
		printf("%s: %s\n", #__VA_ARGS__, text(install(f, N(f), 0)));                       \
	} while (0)

static void programs(void)
{
	BAD(LOAD(nr));
	BAD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 1), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_LD | BPF_MEM, 3), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_ST, 16), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(0x100 | BPF_RET | BPF_K, 0), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_ALU | BPF_NEG | BPF_X, 0), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), BPF_STMT(BPF_ST, 2), BPF_STMT(BPF_LD | BPF_MEM, 2),
	    RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_ST, 2), BPF_STMT(BPF_LD | BPF_MEM, 2), RET(SECCOMP_RET_ALLOW));
	BAD(BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), BPF_STMT(BPF_MISC | BPF_TAX, 0),
	    BPF_STMT(BPF_ALU | BPF_NEG, 0), BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0), RET(SECCOMP_RET_ALLOW));
}

static void calls(void)
{
	struct sock_filter allow[] = {RET(SECCOMP_RET_ALLOW)};
	static struct sock_filter much[4097];
	struct sock_fprog none = {0, allow}, lost = {1, (void *)16}, good = {1, allow};
	uint32_t action[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
	                     SECCOMP_RET_ERRNO, SECCOMP_RET_TRACE, SECCOMP_RET_LOG, SECCOMP_RET_ALLOW, 4711};

	for (unsigned i = 0; i < N(much); i++)
		much[i] = (struct sock_filter)RET(SECCOMP_RET_ALLOW);
	for (unsigned i = 0; i < N(action); i++)
		TELL(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action[i]));
	TELL(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 1, &action[0]));
	TELL(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, NULL));
	TELL(syscall(SYS_seccomp, 99, 0, NULL));
	TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL));
	TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, &good));
	TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1 << 20, &good));
	TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, WAIT_KILLABLE, &good));
	TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL));
	TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &none));
	TELL(prctl(PR_SET_SECCOMP, 3, &good));
	TELL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	TELL(prctl(PR_GET_SECCOMP));
	if (getuid() == 0) {
		/* it may without no_new_privs */
		TELL(install(allow, 1, 0));
		TELL(setresuid(65534, 65534, 65534));
	}
	TELL(install(allow, 1, 0));
	TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &lost));
	nnp();
	TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &lost));
	TELL(install(allow, 1, SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW));
	TELL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &good));
	TELL(prctl(PR_GET_SECCOMP));
	TELL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	TELL(install(much, 4097, 0));
	programs();
	int n = 0;
	while (install(much, 4096, 0) == 0)
		n++;
	printf("%d large ones, then %s\n", n, text(-1));
}

static void status(void)
{
	char all[8192], *rest = all, *line;
	int fd = open("/proc/self/status", O_RDONLY);

	all[read(fd, all, sizeof(all) - 1)] = 0;
	close(fd);
	while ((line = strsep(&rest, "\n")))
		if (strncmp(line, "Seccomp", 7) == 0 || strncmp(line, "NoNewPrivs", 10) == 0 ||
		    strncmp(line, "nonvoluntary", 12) == 0)
			printf("%.20s\n", line);
	TELL(prctl(PR_GET_SECCOMP));
	TELL(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

/* What each action does; the worst of several; by arguments. */
static void errors(void)
{
	struct sock_filter by_args[] = {
	    LOAD(nr),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_lseek, 0, 6),
	    LOAD(args[1]),
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
	    BPF_STMT(BPF_ST, 1),
	    BPF_STMT(BPF_LDX | BPF_MEM, 1),
	    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 100, 0, 1),
	    RET(SECCOMP_RET_ERRNO | EDOM),
	    RET(SECCOMP_RET_ALLOW),
	};
	struct sock_filter to_ret[] = {LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NOBODYS, 1, 0),
	                               RET(SECCOMP_RET_ALLOW), LOAD(args[0]), BPF_STMT(BPF_RET | BPF_A, 0)};
	/* a filter that divides by zero says 0 */
	struct sock_filter divides[] = {LOAD(nr),
	                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NOBODYS + 1, 1, 0),
	                                RET(SECCOMP_RET_ALLOW),
	                                BPF_STMT(BPF_LDX | BPF_IMM, 0),
	                                BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
	                                RET(SECCOMP_RET_ALLOW)};
	int fd = open("/dev/zero", O_RDONLY), sum = 0;

	nnp();
	status();
	TELL(on(SYS_getppid, SECCOMP_RET_ERRNO | EXDEV));
	status();
	TELL(getppid());
	TELL(on(SYS_getppid, SECCOMP_RET_ERRNO | ENOSPC));
	TELL(getppid());
	TELL(on(SYS_getppid, SECCOMP_RET_LOG));
	TELL(getppid());
	TELL(on(SYS_getppid, SECCOMP_RET_TRACE));
	TELL(getppid());
	TELL(on(SYS_getuid, SECCOMP_RET_ERRNO));
	TELL(syscall(SYS_getuid));
	TELL(on(SYS_munmap, SECCOMP_RET_ERRNO));
	TELL(syscall(SYS_munmap, &sum, 4096));
	TELL(on(SYS_getgid, SECCOMP_RET_ERRNO | 0xffff));
	printf("%d\n", syscall(SYS_getgid) == -1 && errno == 4095);
	TELL(install(by_args, N(by_args), 0));
	TELL(install(to_ret, N(to_ret), 0));
	TELL(install(divides, N(divides), 0));
	for (int i = 0; i < 3000; i++) {
		sum += lseek(fd, i, SEEK_SET) == -1 && errno == EDOM;
		sum += syscall(SYS_getegid) == -1;
		sum += getppid() != -1 || errno != ENOSPC;
		sum += clock() == -1;
	}
	printf("sum %d\n", sum);
	TELL(syscall(NOBODYS, SECCOMP_RET_ERRNO | ECHILD));
	TELL(syscall(NOBODYS, SECCOMP_RET_ALLOW));
	TELL(syscall(NOBODYS, SECCOMP_RET_USER_NOTIF));
	status();
}

static volatile int traps;

static void on_trap(int signo, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	uintptr_t ip = c->uc_mcontext.gregs[REG_RIP];

	if (traps++ < 2)
		printf("signal %d, code %d, errno %d, call %d, arch %x, at %d, rax %d\n", signo, info->si_code,
		       info->si_errno, info->si_syscall, info->si_arch, info->si_call_addr == (void *)ip,
		       (int)c->uc_mcontext.gregs[REG_RAX]);
	c->uc_mcontext.gregs[REG_RAX] = 1000 + c->uc_mcontext.gregs[REG_RDI];
}

static void on_other(int signo)
{
	printf("signal %d\n", signo);
}

static void trap(void)
{
	struct sigaction act = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
	long sum = 0;

	sigaction(SIGSYS, &act, NULL);
	signal(SIGUSR1, on_other);
	nnp();
	on(SYS_getpgid, SECCOMP_RET_TRAP | 77);
	TELL(syscall(SYS_getpgid, 5));
	TELL(syscall(SYS_getpgid, 6));
	for (int i = 0; i < 2000; i++)
		sum += syscall(SYS_getpgid, i);
	printf("sum %ld, traps %d\n", sum, traps);
	raise(SIGUSR1);
}

static void trap_unheard(int how)
{
	struct sigaction act = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	sigset_t set;

	sigaction(SIGSYS, &act, NULL);
	if (how == 1)
		signal(SIGSYS, SIG_IGN);
	if (how == 2) {
		sigemptyset(&set);
		sigaddset(&set, SIGSYS);
		sigprocmask(SIG_BLOCK, &set, NULL);
	}
	if (how == 3)
		signal(SIGSYS, SIG_DFL);
	nnp();
	on(SYS_getpgid, SECCOMP_RET_TRAP);
	TELL(syscall(SYS_getpgid, 5));
}

static void kill_all(uint32_t action)
{
	struct sigaction act = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	sigaction(SIGSYS, &act, NULL);
	nnp();
	on(SYS_getpgid, action);
	printf("now\n");
	fflush(stdout);
	TELL(syscall(SYS_getpgid, 5));
}

static pthread_barrier_t barrier;
static volatile pid_t other;

static void *killed(void *arg)
{
	other = gettid();
	on(SYS_getpgid, SECCOMP_RET_KILL_THREAD);
	syscall(SYS_getpgid, 5);
	puts("not killed");
	return arg;
}

static void thread(void)
{
	pthread_t t;

	nnp();
	pthread_create(&t, NULL, killed, NULL);
	while (!other || syscall(SYS_tgkill, getpid(), other, 0) == 0)
		usleep(1000);
	TELL(syscall(SYS_getpgid, 0) > 0);
}

static void *waits(void *arg)
{
	other = gettid();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	if (arg)
		on(SYS_getsid, SECCOMP_RET_ERRNO | ENOANO);
	printf("a thread: %s, %s\n", text(getppid()), text(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	printf("a thread: %d\n", syscall(SYS_getpgid, 0) == -1 ? errno : 0);
	return arg;
}

static void tsync(int another)
{
	struct sock_filter f[] = {LOAD(nr), IF(SYS_getppid, SECCOMP_RET_ERRNO | EXDEV),
	                          RET(SECCOMP_RET_ALLOW)};
	struct sock_filter g[] = {LOAD(nr), IF(SYS_getpgid, SECCOMP_RET_ERRNO | EXDEV),
	                          RET(SECCOMP_RET_ALLOW)};
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, waits, another ? &t : NULL);
	pthread_barrier_wait(&barrier);
	nnp();
	TELL(install(f, N(f), SECCOMP_FILTER_FLAG_TSYNC));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	if (another)
		TELL(install(g, N(g), SECCOMP_FILTER_FLAG_TSYNC | TSYNC_ESRCH));
	printf("%d\n", install(g, N(g), SECCOMP_FILTER_FLAG_TSYNC) == (another ? other : 0));
	fflush(stdout);
	pthread_barrier_wait(&barrier);
	pthread_join(t, NULL);
	TELL(getppid());
}

static void child(const char *self)
{
	nnp();
	on(SYS_getppid, SECCOMP_RET_ERRNO | EXDEV);
	on(SYS_getpgid, SECCOMP_RET_ERRNO | ENOSPC);
	fflush(stdout);
	if (fork() == 0) {
		TELL(getppid());
		TELL(syscall(SYS_getpgid, 0));
		exit(0);
	}
	wait(NULL);
	if (vfork() == 0) {
		execl("/proc/self/exe", self, "inherited", NULL);
		_exit(1);
	}
	wait(NULL);
	execl("/proc/self/exe", self, "inherited", NULL);
}

static void inherited(void)
{
	TELL(getppid());
	TELL(syscall(SYS_getpgid, 0));
	status();
}

/* The kernel takes over. */
static void late(void)
{
	nnp();
	on(SYS_getppid, SECCOMP_RET_ERRNO | EXDEV);
	on(SYS_getpgid, SECCOMP_RET_ERRNO | ENOSPC);
	while (is_traced())
		;
	inherited();
}

static void strict(void)
{
	static char text[] = "strict\n";
	int p[2];

	if (pipe(p) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		exit(9);
	write(p[1], text, sizeof(text) - 1);
	write(1, text, read(p[0], text, sizeof(text)));
	getppid();
	write(1, "not killed\n", 11);
	syscall(SYS_exit, 3);
}

/* A filter for others. */
static int as_bytes(void)
{
	struct sock_filter f[] = {LOAD(nr), IF(SYS_getppid, SECCOMP_RET_ERRNO | EXDEV),
	                          IF(SYS_getpgid, SECCOMP_RET_ERRNO | ENOSPC), RET(SECCOMP_RET_ALLOW)};

	return write(1, f, sizeof(f)) != sizeof(f);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "write"))
		return as_bytes();
	if (!strcmp(what, "calls"))
		calls();
	else if (!strcmp(what, "errors"))
		errors();
	else if (!strcmp(what, "trap"))
		trap();
	else if (!strcmp(what, "ignored"))
		trap_unheard(1);
	else if (!strcmp(what, "blocked"))
		trap_unheard(2);
	else if (!strcmp(what, "default"))
		trap_unheard(3);
	else if (!strcmp(what, "kill"))
		kill_all(SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(what, "kill-thread"))
		kill_all(SECCOMP_RET_KILL_THREAD);
	else if (!strcmp(what, "unknown"))
		kill_all(0x12340000);
	else if (!strcmp(what, "thread"))
		thread();
	else if (!strcmp(what, "tsync"))
		tsync(0);
	else if (!strcmp(what, "tsync-fails"))
		tsync(1);
	else if (!strcmp(what, "child"))
		child(argv[0]);
	else if (!strcmp(what, "inherited"))
		inherited();
	else if (!strcmp(what, "late"))
		late();
	else if (!strcmp(what, "strict"))
		strict();
	puts("well");
	return 0;
}
