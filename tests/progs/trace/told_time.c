/* Reads clocks so often that a recorder may leave them to the processor, and then does what that must not
 * miss: rdtsc in code that comes later, threads, children, signals, an execve. What must be so is told as
 * "yes"; lines with "value" differ each time, but not in replay. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { MANY = 40000, MOST_MS = 50 };
typedef uint64_t counter_fn(void);

static void tell(const char *what, int is)
{
	printf("%s: %s\n", what, is ? "yes" : "no");
}

static int64_t ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		return -1;
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void read_often(void)
{
	int64_t last = ns(CLOCK_MONOTONIC), now;
	int goes_on = 1;

	for (int i = 0; i < MANY; i++, last = now)
		goes_on &= (now = ns(CLOCK_MONOTONIC)) >= last;
	tell("the time goes on", goes_on);
}

static uint64_t value(const char *what, uint64_t n)
{
	printf("value of %s: %llu\n", what, (unsigned long long)n);
	return n;
}

/* ---- the same clocks as the kernel's ---- */

static int is_near(int64_t a, int64_t b)
{
	const int64_t most = MOST_MS * 1000000LL;

	return a - b < most && b - a < most;
}

/* What the kernel stores by itself, in a file's times. */
static int64_t of_file(void)
{
	FILE *f = tmpfile();
	struct stat st;

	if (!f || futimens(fileno(f), NULL) != 0 || fstat(fileno(f), &st) != 0)
		return 0;
	fclose(f);
	return st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static int64_t uptime_ns(void)
{
	double seconds = 0;
	FILE *f = fopen("/proc/uptime", "r");

	if (!f || fscanf(f, "%lf", &seconds) != 1)
		return 0;
	fclose(f);
	return (int64_t)(seconds * 1e9);
}

static void clocks(void)
{
	static const clockid_t all[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
	                                CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, CLOCK_TAI};
	struct timeval day, before;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		value("a clock", (uint64_t)ns(all[i]));
	tell("the day's time is the kernel's", is_near(ns(CLOCK_REALTIME), of_file()));
	tell("so is the coarse one", is_near(ns(CLOCK_REALTIME_COARSE), of_file()));
	tell("the time since the boot is", is_near(ns(CLOCK_BOOTTIME), uptime_ns()));
	tell("the monotonic ones are one", is_near(ns(CLOCK_MONOTONIC), ns(CLOCK_MONOTONIC_COARSE)));
	const int64_t leap = ns(CLOCK_TAI) - ns(CLOCK_REALTIME);
	tell("TAI is whole seconds off", leap >= 0 && is_near(leap, (leap + 500000000) / 1000000000 * 1000000000));
	gettimeofday(&before, NULL);
	const int64_t at = ns(CLOCK_REALTIME);
	gettimeofday(&day, NULL);
	const int64_t us = day.tv_sec * 1000000LL + day.tv_usec;
	tell("gettimeofday() is that of the day", us >= at / 1000 && us - at / 1000 < MOST_MS * 1000 && day.tv_usec < 1000000 &&
	                                              before.tv_sec * 1000000LL + before.tv_usec <= at / 1000);
	tell("time() has its seconds", llabs(time(NULL) - at / 1000000000) <= 1);
	time_t stored = 0, returned = syscall(SYS_time, &stored);
	tell("time() stores it", stored == returned);
	errno = 0;
	tell("no such clock", ns(1000) == -1 && errno == EINVAL);
	tell("the clock of the thread", ns(CLOCK_THREAD_CPUTIME_ID) > 0);
	tell("nowhere to store it", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, NULL) == -1 && errno == EFAULT);
	tell("nothing is there", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, 8) == -1 && errno == EFAULT);
	const int64_t a = ns(CLOCK_MONOTONIC);
	const uint64_t c = __rdtsc();
	usleep(20000);
	const uint64_t cycles = __rdtsc() - c;
	value("cycles", cycles);
	tell("the counter counts", cycles > (uint64_t)(ns(CLOCK_MONOTONIC) - a) / 10);
}

/* ---- the counter ---- */

/* So often that no log has room for it. */
static void counter(void)
{
	uint64_t last = __rdtsc(), sum = 0, now;
	unsigned cpu;
	int goes_on = 1;

	for (int i = 0; i < MANY; i++, last = now, sum = sum * 3 + now)
		goes_on &= (now = i & 1 ? __rdtsc() : __rdtscp(&cpu)) > last;
	tell("the counter goes on", goes_on);
	value("all of it", sum);
}

/* ---- registers ---- */

static uint8_t vectors[2][16][16];

static void registers(void)
{
	struct timespec t;
	long nr = SYS_clock_gettime;

	for (size_t i = 0; i < sizeof(vectors[0]); i++)
		vectors[0][i / 16][i % 16] = (uint8_t)(i * 7 + 1);
	for (int i = 0; i < 1000; i++) {
		memset(vectors[1], 0, sizeof(vectors[1]));
		__asm__ volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
		                 "	movups 16*\\n(%[in]), %%xmm\\n\n"
		                 ".endr\n"
		                 "	syscall\n"
		                 ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
		                 "	movups %%xmm\\n, 16*\\n(%[out])\n"
		                 ".endr\n"
		                 : "+a"(nr)
		                 : [in] "r"(vectors[0]), [out] "r"(vectors[1]), "D"(CLOCK_MONOTONIC), "S"(&t)
		                 : "rcx", "r11", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
		                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
		if (nr != 0 || memcmp(vectors[0], vectors[1], sizeof(vectors[0]))) {
			tell("vectors stay", 0);
			return;
		}
		nr = SYS_clock_gettime;
	}
	tell("vectors stay", 1);
}

/* ---- code that comes later ---- */

static const uint8_t code[] = {0x0f, 0x31,             /* rdtsc */
                               0x48, 0xc1, 0xe2, 0x20, /* shl */
                               0x48, 0x09, 0xd0,       /* or */
                               0xc3};

static void *new_code(int prot)
{
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, code, sizeof(code));
	mprotect(at, 4096, prot);
	return at;
}

static void made(void)
{
	counter_fn *fn = (counter_fn *)new_code(PROT_READ | PROT_EXEC);

	const uint64_t first = value("new code", fn());
	tell("it goes on", value("new code", fn()) > first);
}

/* Without another stop between the last reading and the new code but that of a log that is full. */
static void quiet(int readings)
{
	enum { CALLS = 30000 };

	/* the first calls at a place have stops */
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	for (int i = 0; i < readings; i++)
		ns(CLOCK_MONOTONIC);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	made();
}

static void at_once(void)
{
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, code, sizeof(code));
	const uint64_t first = value("new code", ((counter_fn *)at)());
	tell("it goes on", value("new code", ((counter_fn *)at)()) > first);
}

static void from_file(void)
{
	FILE *f = tmpfile();

	fwrite(code, 1, sizeof(code), f);
	fflush(f);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	const uint64_t first = value("a file", ((counter_fn *)at)());
	tell("it goes on", value("a file", ((counter_fn *)at)()) > first);
}

static void library(void)
{
	void *l = dlopen(getenv("TOLD_LIBRARY"), RTLD_NOW);
	counter_fn *fn = l ? (counter_fn *)dlsym(l, "library_counter") : NULL;

	tell("the library is there", fn != NULL);
	if (!fn)
		return;
	const uint64_t first = value("the library", fn());
	read_often();
	tell("it goes on", value("the library", fn()) > first);
	for (int i = 0; i < 1000; i++)
		fn();
	value("the library", fn());
}

/* A function of the program's, with a page of its own, becomes another. */
__attribute__((noinline, aligned(4096))) static uint64_t changed(void)
{
	__asm__ volatile(".fill 4096, 1, 0x90");
	return 1;
}

static void patched(void)
{
	uint8_t *at = (uint8_t *)changed;

	tell("as it was", changed() == 1);
	mprotect(at, 4096, PROT_READ | PROT_WRITE);
	memcpy(at, code, sizeof(code));
	mprotect(at, 4096, PROT_READ | PROT_EXEC);
	const uint64_t first = value("changed code", changed());
	read_often();
	tell("it goes on", value("changed code", changed()) > first);
}

/* Another byte of the program's code, by way of a file. */
static void through_memory(void)
{
	int fd = open("/proc/self/mem", O_RDWR);

	tell("as it was", changed() == 1);
	tell("it is written", pwrite(fd, code, sizeof(code), (off_t)(uintptr_t)changed) == sizeof(code));
	const uint64_t first = value("changed code", changed());
	read_often();
	tell("it goes on", value("changed code", changed()) > first);
}

/* What was data becomes code. */
static const uint8_t constant[8192] __attribute__((aligned(4096))) = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3};

static void constants(void)
{
	mprotect((void *)constant, 4096, PROT_READ | PROT_EXEC);
	const uint64_t first = value("constants", ((counter_fn *)constant)());
	tell("it goes on", value("constants", ((counter_fn *)constant)()) > first);
}

#ifdef ODD
/* Code of which a reader of machine code cannot be sure: constants in a function, prefixes without a
 * meaning, a jump into an instruction. */
__attribute__((naked)) static unsigned inner(void)
{
	__asm__("	lea 1f(%rip), %rax\n"
	        "	mov (%rax), %eax\n"
	        "	ret\n"
	        "1:	.byte 0x0f, 0x31, 0x90, 0x90\n"
	        "	ret\n");
}

static uint64_t odd_counter(int which)
{
	uint32_t low, high = 0, cpu;

	switch (which) {
	case 0: __asm__ volatile(".byte 0x66, 0x0f, 0x31" : "=a"(low), "=d"(high)); break;
	case 1: __asm__ volatile(".byte 0x48, 0x0f, 0x31" : "=a"(low), "=d"(high)); break;
	case 2: __asm__ volatile(".byte 0x48, 0x0f, 0x01, 0xf9" : "=a"(low), "=d"(high), "=c"(cpu)); break;
	default:
		__asm__ volatile("	jmp 1f+1\n"
		                 "1:	mov $0x9090310f, %%eax\n"
		                 : "=a"(low), "=d"(high));
	}
	return (uint64_t)high << 32 | low;
}

static void odd(void)
{
	uint64_t last = 0, now;
	int goes_on = 1;

	tell("the constant is what it is", inner() == 0x9090310f);
	for (int i = 0; i < 400; i++, last = now)
		goes_on &= (now = odd_counter(i % 4)) > last;
	tell("it goes on", goes_on);
	value("odd code", last);
}
#endif

/* ---- threads, children, signals ---- */

static void *_Atomic shared;

static void *waits(void *arg)
{
	read_often();
	while (!shared)
		;
	value("another thread", ((counter_fn *)shared)());
	return arg;
}

/* It is there before the clocks are read often, and does little. */
static void *is_early(void *arg)
{
	uint64_t last = 0, now;
	int goes_on = 1;

	for (int i = 0; i < 50; i++, last = now) {
		usleep(1000);
		goes_on &= ns(CLOCK_MONOTONIC) > 0 && (now = __rdtsc()) > last;
	}
	tell("it goes on in a thread", goes_on);
	value("a thread", last);
	return arg;
}

static pthread_t early;

static void threads(void)
{
	pthread_t t;

	pthread_create(&t, NULL, waits, NULL);
	usleep(100000);
	shared = new_code(PROT_READ | PROT_EXEC);
	pthread_join(t, NULL);
	value("this one", ((counter_fn *)shared)());
}

static void child(void)
{
	int status;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		value("a child", __rdtsc());
		read_often();
		value("a child", __rdtsc());
		value("a child", ((counter_fn *)new_code(PROT_READ | PROT_EXEC))());
		exit(0);
	}
	waitpid(pid, &status, 0);
	tell("the child has ended", status == 0);
	value("its parent", __rdtsc());
}

static volatile int n_signals;

static void on_signal(int signo)
{
	(void)signo;
	ns(CLOCK_MONOTONIC);
	n_signals++;
}

static void signals(void)
{
	const struct itimerval every = {{0, 3000}, {0, 3000}}, never = {0};

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &every, NULL);
	while (n_signals < 20)
		value("a clock", (uint64_t)ns(CLOCK_MONOTONIC) % 7);
	setitimer(ITIMER_REAL, &never, NULL);
	tell("signals have come", 1);
}

/* ---- who may read it ---- */

static sigjmp_buf back;

static void on_fault(int signo)
{
	siglongjmp(back, signo);
}

static void forbid(void)
{
	int mode = 0;

	prctl(PR_GET_TSC, &mode);
	tell("it may", mode == PR_TSC_ENABLE);
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	prctl(PR_GET_TSC, &mode);
	tell("it may not", mode == PR_TSC_SIGSEGV);
	signal(SIGSEGV, on_fault);
	if (!sigsetjmp(back, 1)) {
		__rdtsc();
		tell("it faults", 0);
	}
	tell("it faults", 1);
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	value("the counter", __rdtsc());
}

static void again(char **argv)
{
	fflush(stdout);
	execl("/proc/self/exe", argv[0], "only", NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "only") == 0) {
		value("the new program", __rdtsc());
		what = "clocks";
	}
	if (strcmp(what, "quiet") == 0) {
		quiet(argc > 2 ? atoi(argv[2]) : 0);
		return 0;
	}
	value("the counter", __rdtsc());
	if (strcmp(what, "early") == 0)
		pthread_create(&early, NULL, is_early, NULL);
	read_often();
	read_often();
	if (strcmp(what, "early") == 0)
		pthread_join(early, NULL);
	for (int i = 0; i < 100; i++)
		value("the counter", __rdtsc());
	if (strcmp(what, "clocks") == 0)
		clocks();
	if (strcmp(what, "counter") == 0)
		counter();
	if (strcmp(what, "registers") == 0)
		registers();
	if (strcmp(what, "made") == 0)
		made();
	if (strcmp(what, "once") == 0)
		at_once();
	if (strcmp(what, "file") == 0)
		from_file();
	if (strcmp(what, "library") == 0)
		library();
	if (strcmp(what, "patched") == 0)
		patched();
	if (strcmp(what, "memory") == 0)
		through_memory();
	if (strcmp(what, "constants") == 0)
		constants();
#ifdef ODD
	odd();
#endif
	if (strcmp(what, "threads") == 0)
		threads();
	if (strcmp(what, "child") == 0)
		child();
	if (strcmp(what, "signals") == 0)
		signals();
	if (strcmp(what, "forbid") == 0)
		forbid();
	if (strcmp(what, "again") == 0)
		again(argv);
	for (int64_t end = ns(CLOCK_MONOTONIC) + 2000000000; strcmp(what, "late") == 0 && ns(CLOCK_MONOTONIC) < end;)
		value("the counter", __rdtsc());
	value("the counter", __rdtsc());
	read_often();
	value("the counter", __rdtsc());
	return 0;
}
