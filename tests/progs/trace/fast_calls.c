/* System calls that the recorder lets the program make without a stop, and what could show that it does: the result of each, as
 * often as it takes to be fast, code that is read, written, moved or jumped into, signals, children and threads. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TIMES = 60 };
extern char **environ;

#define CHECK(x) \
	do { \
		if (!(x)) { \
			printf("line %d: %s: %s\n", __LINE__, #x, strerror(errno)); \
			exit(1); \
		} \
	} while (0)

static uint64_t sum;

static void add(const void *bytes, size_t n)
{
	const uint8_t *b = bytes;

	while (n--)
		sum = (sum ^ *b++) * 0x100000001b3;
}

/* ---- results ---- */

static void files(const char *dir)
{
	char path[4096], bytes[70000], back[70000];
	struct stat st;

	snprintf(path, sizeof(path), "%s/file", dir);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 % 251);
	for (int i = 0; i < TIMES; i++) {
		size_t n = (size_t)i * i * 19 % sizeof(bytes) + 1;
		int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

		CHECK(fd >= 0);
		for (int k = 0; k < 4; k++) {
			CHECK(write(fd, bytes, n) == (ssize_t)n);
			CHECK(pwrite(fd, bytes, 100, 3) == 100);
			memset(back, 0, sizeof(back));
			CHECK(pread(fd, back, n, 0) == (ssize_t)n);
			CHECK(n < 103 || (!memcmp(back, bytes, 3) && !memcmp(back + 3, bytes, 100) && !memcmp(back + 103, bytes + 103, n - 103)));
			CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)n && lseek(fd, -1, SEEK_SET) == -1 && errno == EINVAL);
			CHECK(lseek(fd, 0, SEEK_SET) == 0 && read(fd, back, sizeof(back)) == (ssize_t)(n < 103 ? 103 : n));
			CHECK(read(fd, back, 10) == 0 && lseek(fd, 0, SEEK_SET) == 0);
			add(back, n);
			CHECK(fstat(fd, &st) == 0 && st.st_size == (off_t)(n < 103 ? 103 : n));
		}
		CHECK(close(fd) == 0 && close(fd) == -1 && errno == EBADF);
		CHECK(read(fd, back, 1) == -1 && errno == EBADF);
		CHECK(stat(path, &st) == 0 && access(path, R_OK) == 0 && access("/nowhere", R_OK) == -1);
	}
	/* a number that becomes another thing's */
	for (int i = 0; i < TIMES; i++) {
		int fd = open(path, O_RDONLY), two[2];

		CHECK(fd >= 0 && read(fd, back, 16) == 16 && read(fd, back, 16) == 16);
		close(fd);
		CHECK(pipe(two) == 0 && write(two[1], "xy", 2) == 2);
		CHECK(read(two[0], back, 16) == 2 && back[0] == 'x');
		close(two[0]);
		CHECK(dup2(open(path, O_RDONLY), two[0]) >= 0);
		CHECK(read(two[0], back, 16) == 16 && back[1] == 7);
		for (int k = two[0]; k <= two[1] + 1; k++)
			close(k);
	}
	/* a file that is mapped */
	char *m = NULL;
	for (int i = 0; i < TIMES; i++) {
		int fd = open(path, O_RDWR), twin = dup(fd), none = open("/dev/null", O_RDWR);

		CHECK(fd >= 0 && none >= 0 && write(none, "x", 1) == 1 && dup2(none, twin) == twin);
		CHECK(read(twin, back, 9) == 0 && pwrite(fd, &(char){(char)i}, 1, 5) == 1);
		if (i == TIMES / 2)
			CHECK((m = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0)) != MAP_FAILED);
		CHECK(!m || m[5] == (char)i);
		CHECK(ftruncate(fd, 4000 + i) == 0 && fstat(fd, &st) == 0 && st.st_size == 4000 + i);
		CHECK(close(fd) == 0 && close(twin) == 0 && close(none) == 0 && (!m || m[5] == (char)i));
	}
	CHECK(munmap(m, 4096) == 0);
	DIR *d = opendir("/usr/include");
	for (struct dirent *e; d && (e = readdir(d));)
		add(e->d_name, strlen(e->d_name));
	CHECK(!d || closedir(d) == 0);
}

/* From FROM to TO it is new, and zero; all of it is used. */
static void use_heap(char *from, const char *to, int with)
{
	for (; from < to; from++) {
		CHECK(!*from);
		*from = (char)with;
	}
}

static char *page_behind(const char *at)
{
	return (char *)(((uintptr_t)at + 4095) & ~(uintptr_t)4095);
}

static void heap(void)
{
	char *const start = page_behind(sbrk(0)), *end = start, *in_the_way;
	const int any = MAP_PRIVATE | MAP_ANONYMOUS;

	CHECK(brk(start) == 0);
	for (int i = 1; i < 10 * TIMES; i++) {
		char *to = start + i * 7919 % 64 * 5000;
		CHECK(brk(to) == 0 && sbrk(0) == to);
		if (to > page_behind(end))
			use_heap(page_behind(end), to, i % 100 + 1);
		end = to;
		add(start, (size_t)(end - start));
	}
	/* no further than to what is in the way */
	in_the_way = page_behind(end) + 0x10000;
	for (int i = 0; i < TIMES; i++) {
		CHECK(mmap(in_the_way, 4096, PROT_READ, any | MAP_FIXED_NOREPLACE, -1, 0) == in_the_way);
		CHECK(brk(in_the_way + 1) == -1 && errno == ENOMEM && brk(end + 1) == 0 && brk(end) == 0);
		CHECK(munmap(in_the_way, 4096) == 0 && brk(in_the_way + 1) == 0 && brk(end) == 0);
	}
	/* what has been put into it goes with it */
	for (int i = 0; i < TIMES; i++) {
		CHECK(brk(start + 0x20000) == 0);
		CHECK(mmap(start + 0x4000, 4096, PROT_READ, any | MAP_FIXED, -1, 0) == start + 0x4000);
		CHECK(mprotect(start + 0x8000, 4096, PROT_NONE) == 0);
		CHECK(brk(start + 0x1c000) == 0 && brk(start + 0x2000) == 0);
		CHECK(msync(start + 0x4000, 4096, MS_ASYNC) == -1 && errno == ENOMEM);
		CHECK(brk(start + 0x20000) == 0 && !start[0x8000] && brk(start) == 0);
	}
	add(&in_the_way, sizeof(in_the_way));
}

static void others(void)
{
	struct timespec ts, before = {0};
	struct rusage ru;
	struct utsname un;
	char bytes[300];

	for (int i = 0; i < TIMES; i++) {
		CHECK(clock_gettime(CLOCK_MONOTONIC, &ts) == 0);
		CHECK(ts.tv_sec > before.tv_sec || (ts.tv_sec == before.tv_sec && ts.tv_nsec >= before.tv_nsec));
		before = ts;
		add(&ts, sizeof(ts));
		CHECK(clock_gettime(12345, &ts) == -1 && errno == EINVAL);
		CHECK(getpid() == syscall(SYS_getpid) && gettid() == getpid() && getppid() > 0);
		CHECK(uname(&un) == 0 && getrusage(RUSAGE_SELF, &ru) == 0 && getuid() == geteuid());
		CHECK(syscall(SYS_gettimeofday, NULL, NULL) == 0 && syscall(SYS_time, NULL) > 0);
		CHECK(getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes) && getcwd(bytes, sizeof(bytes)));
		add(bytes, sizeof(bytes));
		CHECK(readlink("/proc/self/exe", bytes, sizeof(bytes)) > 0 && sched_yield() == 0);
		/* the kernel may have written a part */
		char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(edge != MAP_FAILED && munmap(edge + 4096, 4096) == 0);
		CHECK(syscall(SYS_uname, edge + 4096 - 100) == -1 && errno == EFAULT);
		add(edge, 4096);
		CHECK(syscall(SYS_clock_gettime, 1, 8) == -1 && errno == EFAULT);
		munmap(edge, 4096);
	}
}

/* ---- code ---- */

/* Two system calls behind which other instructions are, and ways into what is behind them. */
long by_test(long into);
long by_cmp(long into);
__asm__(".macro call_site name, first, second\n"
        "	.globl \\name\n"
        "	.balign 64\n"
        "\\name:	push %rbx\n"
        "	mov %rdi, %rbx\n"
        "	mov $-5, %rax\n"
        "	cmp $1, %rbx\n"
        "	je 1f\n"
        "	cmp $0, %rax\n"
        "	mov $-5, %rax\n"
        "	cmp $2, %rbx\n"
        "	je 2f\n"
        "	mov $110, %eax\n"
        "	syscall\n"
        "1:	\\first\n"
        "2:	\\second\n"
        "	mov $7, %eax\n"
        "	pop %rbx\n"
        "	ret\n"
        "3:	mov $8, %eax\n"
        "	pop %rbx\n"
        "	ret\n"
        ".endm\n"
        "call_site by_test, \"test %eax, %eax\", \"js 3f\"\n"
        "call_site by_cmp, \"cmp $-4095, %rax\", \"jae 3f\"\n");

/* Others, behind which registers are popped, and ways to each of those instructions. */
long by_pop(long into);
long by_pops(long into);
__asm__(".macro pop_site name, first, second, push\n"
        "	.globl \\name\n"
        "	.balign 64\n"
        "\\name:	\\push\n"
        "	push %rbx\n"
        "	mov %rdi, %rbx\n"
        "	mov $-5, %rax\n"
        "	cmp $1, %rbx\n"
        "	je 1f\n"
        "	cmp $2, %rbx\n"
        "	je 4f\n"
        "	cmp $3, %rbx\n"
        "	je 5f\n"
        "	mov $110, %eax\n"
        "	syscall\n"
        "1:	\\first\n"
        "2:	\\second\n"
        "3:	ret\n"
        "	.balign 16, 0x90\n"
        "4:	\\first\n"
        "	jmp 2b\n"
        "5:	\\first\n"
        "	\\second\n"
        "	jmp 3b\n"
        ".endm\n"
        "pop_site by_pop, \"pop %rbx\"\n"
        "pop_site by_pops, \"pop %rbx\", \"pop %rbp\", \"push %rbp\"\n");

static void jumps(void)
{
	for (int i = 0; i < TIMES; i++) {
		CHECK(by_test(0) == 7 && by_cmp(0) == 7);
		CHECK(by_test(1) == 8 && by_cmp(1) == 8);
		CHECK(by_cmp(2) == 7 || by_cmp(2) == 8);
		CHECK(by_test(2) == 7 || by_test(2) == 8);
		CHECK(by_pop(0) == getppid() && by_pops(0) == getppid());
		for (long into = 1; into <= 3; into++)
			CHECK(by_pop(into) == -5 && by_pops(into) == -5);
	}
}

/* Code of the program that becomes writable is the program's own; so is what is moved. */
static void own_code(void)
{
	uint8_t *at = (uint8_t *)by_cmp, *page = (uint8_t *)((uintptr_t)at & ~4095UL), *call = memmem(at, 64, "\xb8\x6e\x00\x00\x00", 5);

	CHECK(call && mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	CHECK(call[5] == 0x0f && call[6] == 0x05 && call[7] == 0x48);
	call[1] = 39; /* getpid */
	CHECK(by_cmp(0) == 7);
	call[1] = 110;
	CHECK(mprotect(page, 8192, PROT_READ | PROT_EXEC) == 0);
	jumps();
	CHECK(call[1] == 110);
}

/* It may also be sent, or copied by a call: at each of these sites by another one. */
static const uint8_t *call_of(long (*f)(long))
{
	return memmem((void *)f, 64, "\xb8\x6e\x00\x00\x00", 5);
}

static void code_elsewhere(void)
{
	enum { LEN = 7 };
	static const uint8_t real[LEN] = {0xb8, 0x6e, 0, 0, 0, 0x0f, 0x05};
	uint8_t copy[4][LEN + sizeof(long)] = {0};
	int s[2], q = msgget(IPC_PRIVATE, 0600), fd = memfd_create("code", 0);

	jumps();
	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
	struct iovec io = {(void *)call_of(by_test), LEN}, to = {copy[1], LEN};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = &io, .msg_iovlen = 1}};
	CHECK(sendmmsg(s[0], &m, 1, 0) == 1 && read(s[1], copy[0], LEN) == LEN);
	io.iov_base = (void *)call_of(by_cmp);
	CHECK(process_vm_readv(getpid(), &to, 1, &io, 1, 0) == LEN);
	/* what is in front of it is the message's type, and must not be negative */
	CHECK(q < 0 || msgsnd(q, call_of(by_pop) - sizeof(long), LEN, 0) == 0 || errno == EINVAL);
	if (q >= 0 && msgrcv(q, copy[2], LEN, 0, IPC_NOWAIT) == LEN)
		CHECK(!memcmp(copy[2] + sizeof(long), real, LEN));
	if (fsetxattr(fd, "user.code", call_of(by_pops), LEN, 0) == 0) {
		CHECK(fgetxattr(fd, "user.code", copy[3], LEN) == LEN);
		CHECK(!memcmp(copy[3], real, LEN));
	}
	CHECK(!memcmp(copy[0], real, LEN));
	CHECK(!memcmp(copy[1], real, LEN));
	msgctl(q, IPC_RMID, NULL);
	close(s[0]), close(s[1]), close(fd);
}

/* ---- signals ---- */

static volatile sig_atomic_t alarms, strange;
static sigjmp_buf out;
static volatile sig_atomic_t jump;

static struct {
	uint64_t start, end;
} code[64];
static int n_code;

/* Code of files, and the kernel's. */
static void find_code(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], prot[5], name[256];
	unsigned long start, end;

	CHECK(f);
	while (n_code < 64 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %255s", &start, &end, prot, name) == 4 && prot[2] == 'x') {
			code[n_code].start = start;
			code[n_code++].end = end;
		}
	fclose(f);
}

/* It has interrupted nothing else. */
static void on_alarm(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	uint64_t rip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	int i = 0;

	(void)info;
	alarms++;
	while (i < n_code && (rip < code[i].start || rip >= code[i].end))
		i++;
	strange |= i == n_code;
	if (jump && alarms % 5 == 0)
		siglongjmp(out, sig);
}

static void signals(void)
{
	struct sigaction act = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {0};
	volatile uint64_t rounds = 0;

	find_code();
	CHECK(sigaction(SIGALRM, &act, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
	while (alarms < 40) {
		rounds += getppid() > 0;
		if (rounds % 64 == 0)
			usleep(1);
	}
	jump = 1;
	if (sigsetjmp(out, 1) == 0 || alarms < 80)
		while (alarms < 80)
			rounds += (by_test(0) == 7) + (by_pop(0) > 0) + (by_pops(0) > 0) + (syscall(SYS_gettid) > 0);
	jump = 0;
	CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && !strange && rounds > 0);
	/* blocked, ignored */
	sigset_t all;
	sigfillset(&all);
	CHECK(sigprocmask(SIG_BLOCK, &all, NULL) == 0 && signal(SIGTRAP, SIG_IGN) != SIG_ERR && signal(SIGSYS, SIG_IGN) != SIG_ERR);
	jumps();
	others();
	CHECK(sigprocmask(SIG_UNBLOCK, &all, NULL) == 0);
	CHECK(signal(SIGTRAP, SIG_DFL) == SIG_IGN && signal(SIGSYS, SIG_DFL) == SIG_IGN);
}

/* A signal that waits comes before the call that lets it in returns, to the handler that was set last. */
static volatile sig_atomic_t caught_by;
static void first(int sig)
{
	caught_by = 1;
}
static void second(int sig)
{
	caught_by = 2;
}

static void masks(void)
{
	sigset_t one, none, now;

	sigemptyset(&none);
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	for (int i = 0; i < TIMES; i++) {
		int how = i % 3 ? SIG_UNBLOCK : SIG_SETMASK;

		caught_by = 0;
		CHECK(signal(SIGUSR1, i % 2 ? second : first) != SIG_ERR && sigprocmask(SIG_BLOCK, &one, NULL) == 0);
		CHECK(raise(SIGUSR1) == 0 && !caught_by && sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1));
		CHECK(sigprocmask(how, how == SIG_UNBLOCK ? &one : &none, NULL) == 0 && caught_by == 1 + i % 2);
		caught_by = 0;
		CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0 && !sigismember(&now, SIGUSR1));
		CHECK(raise(SIGUSR1) == 0 && caught_by == 1 + i % 2);
		CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR && raise(SIGUSR1) == 0);
	}
	CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	/* those that the recorder uses, too */
	for (int i = 0; i < TIMES; i++) {
		sigaddset(&one, SIGSYS);
		sigaddset(&one, SIGTRAP);
		CHECK(sigprocmask(SIG_BLOCK, &one, NULL) == 0 && getppid() > 0 && (i % 3 || nanosleep(&(struct timespec){0, 1}, NULL) == 0));
		CHECK(syscall(SYS_uname, 8) == -1 && errno == EFAULT && sigprocmask(SIG_SETMASK, &none, &now) == 0);
		CHECK(sigismember(&now, SIGSYS) && sigismember(&now, SIGTRAP) && sigismember(&now, SIGUSR1));
	}
}

/* ---- children and threads ---- */

static void *thread(void *arg)
{
	uint64_t n = 0;

	for (int i = 0; i < 300; i++) {
		n += getppid() > 0;
		n += (uint64_t)syscall(SYS_gettid) > 0;
		if (i % 50 == 0)
			sched_yield();
	}
	*(uint64_t *)arg = n;
	return NULL;
}

static void threads(void)
{
	uint64_t n[4] = {0};
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, thread, &n[i]) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(t[i], NULL) == 0 && n[i] == 600);
}

/* A thread with descriptors of its own: a number is a pipe's there, and a file's elsewhere. */
static struct {
	int fd, pipe[2];
	sem_t has_own, go;
} apart;

static void read_often(int fd)
{
	char b[16];

	for (int i = 0; i < TIMES; i++)
		CHECK(lseek(fd, 0, SEEK_SET) == 0 && read(fd, b, sizeof(b)) == sizeof(b));
}

static void *with_own(void *path)
{
	char two[2];
	int other;

	CHECK(unshare(CLONE_FILES) == 0 && dup2(apart.pipe[0], apart.fd) == apart.fd);
	CHECK((other = open(path, O_RDONLY)) >= 0);
	read_often(other);
	sem_post(&apart.has_own);
	sem_wait(&apart.go);
	read_often(other);
	CHECK(read(apart.fd, two, 2) == 2 && two[0] == 'a');
	return NULL;
}

static void own_descriptors(const char *dir)
{
	char path[4096];
	pthread_t t;

	snprintf(path, sizeof(path), "%s/file", dir);
	apart.fd = open(path, O_RDONLY);
	CHECK(apart.fd >= 0 && pipe(apart.pipe) == 0);
	sem_init(&apart.has_own, 0, 0);
	sem_init(&apart.go, 0, 0);
	CHECK(pthread_create(&t, NULL, with_own, path) == 0);
	sem_wait(&apart.has_own);
	read_often(apart.fd);
	sem_post(&apart.go);
	usleep(1000);
	CHECK(write(apart.pipe[1], "ab", 2) == 2 && pthread_join(t, NULL) == 0);
	close(apart.fd);
	close(apart.pipe[0]);
	close(apart.pipe[1]);
}

/* A directory is opened at once, a FIFO when somebody else opens it. */
static void *open_fifo(void *path)
{
	char dir[4096];

	*strrchr(strcpy(dir, path), '/') = 0;
	for (int i = 0; i < TIMES; i++) {
		int fd = open(dir, O_RDONLY | O_DIRECTORY), twin = fcntl(fd, F_DUPFD, 100);

		CHECK(fd >= 0 && twin >= 100 && close(fd) == 0 && close(twin) == 0);
	}
	CHECK(open(path, O_RDONLY) >= 0);
	return NULL;
}

static void fifo(const char *dir)
{
	char path[4096];
	pthread_t t;

	snprintf(path, sizeof(path), "%s/fifo", dir);
	unlink(path);
	CHECK(mkfifo(path, 0600) == 0 && pthread_create(&t, NULL, open_fifo, path) == 0);
	usleep(100000);
	CHECK(open(path, O_WRONLY) >= 0 && pthread_join(t, NULL) == 0);
}

static void children(void)
{
	char *const argv[] = {"true", NULL};
	int status;
	pid_t pid;

	for (int i = 0; i < 8; i++) {
		pid = i % 2 ? fork() : (pid_t)syscall(SYS_fork);
		CHECK(pid >= 0);
		if (pid == 0) {
			jumps();
			if (i == 1)
				heap();
			for (int k = 0; k < TIMES; k++)
				CHECK(getppid() > 0);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		pid = vfork();
		if (pid == 0) {
			for (int k = 0; k < 3; k++)
				getppid();
			_exit(3);
		}
		CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
		CHECK(posix_spawnp(&pid, "true", NULL, NULL, argv, environ) == 0);
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		jumps();
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	jumps();
	others();
	heap();
	files(argv[1]);
	code_elsewhere();
	own_code();
	signals();
	masks();
	threads();
	fifo(argv[1]);
	children();
	files(argv[1]);
	own_descriptors(argv[1]);
	if (argc > 2)
		execl(argv[0], argv[0], argv[1], (char *)NULL);
	printf("well\n%016llx\n", (unsigned long long)sum);
	return 0;
}
