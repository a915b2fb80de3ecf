/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The vDSO, as the C library, unwinders and programs find it that read it themselves. Prints the same whoever provides it. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 2000 };

static const char *image;
static const char *strings;
static const Elf64_Sym *symbols;
static const Elf64_Half *versions;
static const Elf64_Verdef *definitions;
static const Elf64_Word *hashed;

static void say(const char *what, int well)
{
	printf("%s %s\n", what, well ? "yes" : "NO");
}

/* By the program headers, as Go does it. The addresses in it count from where it is mapped: the first segment begins at 0. */
static void read_image(void)
{
	const Elf64_Ehdr *e = (const void *)image;
	const Elf64_Phdr *p = (const void *)(image + e->e_phoff);
	const Elf64_Dyn *d = NULL;

	for (int i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_DYNAMIC)
			d = (const void *)(image + p[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		const void *at = image + d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_STRTAB: strings = at; break;
		case DT_SYMTAB: symbols = at; break;
		case DT_VERSYM: versions = at; break;
		case DT_VERDEF: definitions = at; break;
		case DT_HASH: hashed = at; break;
		}
	}
	say("tables", strings && symbols && versions && definitions && hashed);
}

static const char *version(Elf64_Half index)
{
	const Elf64_Verdef *v = definitions;

	for (;; v = (const void *)((const char *)v + v->vd_next)) {
		const Elf64_Verdaux *a = (const void *)((const char *)v + v->vd_aux);

		if (v->vd_ndx == (index & 0x7fff))
			return strings + a->vda_name;
		if (!v->vd_next)
			return "";
	}
}

static unsigned long hash_of(const char *name)
{
	unsigned long h = 0, g;

	for (; *name; name++) {
		h = (h << 4) + (unsigned char)*name;
		g = h & 0xf0000000;
		h = (h ^ g >> 24) & ~g;
	}
	return h;
}

static void *function(const char *name)
{
	const Elf64_Word *bucket = hashed + 2, *chain = bucket + hashed[0];

	for (Elf64_Word i = bucket[hash_of(name) % hashed[0]]; i; i = chain[i])
		if (strcmp(strings + symbols[i].st_name, name) == 0 && symbols[i].st_shndx != SHN_UNDEF &&
		    strcmp(version(versions[i]), "LINUX_2.6") == 0)
			return (void *)(image + symbols[i].st_value);
	printf("no %s\n", name);
	exit(1);
}

static long long ns(const struct timespec *t)
{
	return t->tv_sec * 1000000000LL + t->tv_nsec;
}

/* Each of its functions says what the system call says. */
static void call_all(void)
{
	int (*get)(clockid_t, struct timespec *) = function("__vdso_clock_gettime");
	int (*res)(clockid_t, struct timespec *) = function("__vdso_clock_getres");
	int (*day)(struct timeval *, struct timezone *) = function("__vdso_gettimeofday");
	time_t (*seconds)(time_t *) = function("__vdso_time");
	long (*cpu)(unsigned *, unsigned *, void *) = function("__vdso_getcpu");
	const unsigned n_cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	int well[5] = {1, 1, 1, 1, 1};

	for (int i = 0; i < ROUNDS; i++) {
		struct timespec before, now, after;
		struct timeval v;
		unsigned here, node;
		time_t stored;

		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &before);
		well[0] &= get(CLOCK_MONOTONIC, &now) == 0;
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &after);
		well[0] &= ns(&before) <= ns(&now) && ns(&now) <= ns(&after);
		well[1] &= res(CLOCK_REALTIME, &now) == 0 && now.tv_sec == 0 && now.tv_nsec == 1;
		well[2] &= day(&v, NULL) == 0;
		well[3] &= seconds(&stored) - v.tv_sec <= 1 && stored >= v.tv_sec - 1;
		well[4] &= cpu(&here, &node, NULL) == 0 && here < n_cpus;
	}
	say("clock_gettime", well[0]);
	say("clock_getres", well[1]);
	say("gettimeofday", well[2]);
	say("time", well[3]);
	say("getcpu", well[4]);
	printf("errors %d %d\n", get(1000, &(struct timespec){0}), res(1000, NULL));
	say("through the C library", clock_gettime(1000, &(struct timespec){0}) == -1 && errno == EINVAL);
}

static int is_listed(struct dl_phdr_info *i, size_t n, void *arg)
{
	return i->dlpi_addr == (uintptr_t)image;
}

/* The kernel has told the same address. */
static int told_again(void)
{
	Elf64_auxv_t v[64];
	int fd = open("/proc/self/auxv", O_RDONLY);
	ssize_t n = read(fd, v, sizeof(v)) / (ssize_t)sizeof(*v);
	int same = 0;

	close(fd);
	for (ssize_t i = 0; i < n; i++)
		same |= v[i].a_type == AT_SYSINFO_EHDR && v[i].a_un.a_val == (uintptr_t)image;
	return same;
}

struct bases {
	void *tbase, *dbase, *func;
};
extern const void *_Unwind_Find_FDE(const void *pc, struct bases *b);

static int can_unwind(void)
{
	struct bases b = {0};
	char *at = function("__vdso_clock_gettime");

	return _Unwind_Find_FDE(at + 2, &b) && b.func == at;
}

static int well_in_child(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(clock_gettime(CLOCK_MONOTONIC, &(struct timespec){0}) == 0 && time(NULL) > 0 ? 3 : 4);
	return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3;
}

/* As a checkpointing program does it. */
static int well_when_moved(void)
{
	char *get = function("__vdso_clock_gettime"), *was = (char *)image, *now = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char copy[4096];
	int same, well = 1;

	memcpy(copy, was, sizeof(copy));
	if (mremap(was, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, now) != now)
		return errno == EINVAL; /* the kernel's own may have two pages */
	int (*moved)(clockid_t, struct timespec *) = (void *)(now + (get - was));
	for (int i = 0; i < ROUNDS; i++)
		well &= moved(CLOCK_MONOTONIC, &(struct timespec){0}) == 0;
	same = memcmp(now, copy, 128) == 0;
	return mremap(now, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, was) == was && same && well;
}

/* Long enough for a recorder to let go meanwhile. */
static void spin(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (ns(&now) - ns(&begin) < 500000000);
}

static int tells_time(clockid_t clock)
{
	return clock_gettime(clock, &(struct timespec){0}) == 0;
}

static int tells_all(void)
{
	return tells_time(CLOCK_MONOTONIC) && tells_time(CLOCK_REALTIME_COARSE) && time(NULL) > 0 &&
	       gettimeofday(&(struct timeval){0}, NULL) == 0 && clock_getres(CLOCK_REALTIME, &(struct timespec){0}) == 0;
}

/* A filter does not see what makes no call. */
static void sees_filtered(void)
{
	enum { GIVEN = 77 };
	struct sock_filter calls[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 4, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_getres, 3, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_time, 2, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettimeofday, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | GIVEN),
	};
	struct sock_fprog filter = {sizeof(calls) / sizeof(*calls), calls};

	say("filter", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
	say("told in spite of it", tells_all());
	say("a call is seen", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &(struct timespec){0}) == -1 && errno == GIVEN);
	say("so is one by the vDSO", !tells_time(CLOCK_PROCESS_CPUTIME_ID) && errno == GIVEN);
}

/* Only read, write and exit are allowed, and the time-stamp counter is not. */
static void run_strict(void)
{
	int well = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;

	for (int i = 0; i < ROUNDS; i++)
		well &= time(NULL) > 0 && tells_time(CLOCK_REALTIME_COARSE) && clock_getres(CLOCK_REALTIME, &(struct timespec){0}) == 0;
	if (well)
		write(STDOUT_FILENO, "strict yes\n", 11);
	syscall(SYS_exit, 0);
}

/* Without an argument it runs itself, with one. */
int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "strict") == 0)
		run_strict();
	if (argc > 1 && strcmp(argv[1], "late") == 0)
		spin();
	image = (const char *)getauxval(AT_SYSINFO_EHDR);
	say("vDSO", image != NULL && memcmp(image, ELFMAG, SELFMAG) == 0);
	if (!image)
		return 1;
	read_image();
	call_all();
	say("listed", dl_iterate_phdr(is_listed, NULL));
	say("told again", told_again());
	say("unwinding", can_unwind());
	say("child", well_in_child());
	say("moved", well_when_moved());
	if (argc > 1 && strcmp(argv[1], "filtered") == 0)
		sees_filtered();
	fflush(stdout);
	if (argc == 1)
		execl("/proc/self/exe", argv[0], "once", (char *)NULL);
	return argc == 1;
}
