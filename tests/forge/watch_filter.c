/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter. It cannot know who calls, but from where. The stub and the text of a program that is
 * replayed lie low. What Lizard's and GDB's libraries call by the thousand lies high and passes. */
#include "tests/forge/watch.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum { HIGH = 0x7000, KERNEL = 0x8000, X32 = 0x40000000, PAGE = 4096 };

/* Of these no call makes a file, a process or a connection. */
static const int harmless[] = {
    SYS_read,
    SYS_pread64,
    SYS_write,
    SYS_pwrite64,
    SYS_close,
    SYS_ptrace,
    SYS_wait4,
    SYS_futex,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_fstat,
    SYS_newfstatat,
    SYS_lseek,
    SYS_poll,
    SYS_ppoll,
    SYS_pselect6,
    SYS_rt_sigprocmask,
    SYS_rt_sigaction,
    SYS_rt_sigreturn,
    SYS_getrusage,
    SYS_clock_gettime,
    SYS_readlink,
    SYS_clock_nanosleep,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
};
enum { N_HARMLESS = sizeof(harmless) / sizeof(*harmless) };

#define DATA(field) offsetof(struct seccomp_data, field)
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define SKIP_IF(op, k, skip) BPF_JUMP(BPF_JMP | op | BPF_K, k, skip, 0)
#define SKIP_UNLESS(op, k, skip) BPF_JUMP(BPF_JMP | op | BPF_K, k, 0, skip)
#define ASK RETURN(SECCOMP_RET_USER_NOTIF)

/* Asks about calls of 32-bit code, and those from below HIGH, the kernel's page or the stub's. */
#define WHERE(stub_high, stub_low)                                                                 \
	LOAD(DATA(arch)), SKIP_IF(BPF_JEQ, AUDIT_ARCH_X86_64, 1), ASK,                             \
	    LOAD(DATA(instruction_pointer) + 4), SKIP_IF(BPF_JGE, HIGH, 1), ASK,                   \
	    SKIP_UNLESS(BPF_JGE, KERNEL, 1), ASK, SKIP_UNLESS(BPF_JEQ, stub_high, 4),              \
	    LOAD(DATA(instruction_pointer)), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~(PAGE - 1u)),    \
	    SKIP_UNLESS(BPF_JEQ, stub_low, 1), ASK, LOAD(DATA(nr)), SKIP_UNLESS(BPF_JGE, X32, 1),  \
	    ASK
enum { WHERE_LEN = 16 };

static int install(const struct stub *stub)
{
	struct sock_filter code[WHERE_LEN + 2 * N_HARMLESS + 1] = {
	    WHERE((uint32_t)(stub->addr >> 32), (uint32_t)stub->addr)};
	struct sock_fprog prog = {.filter = code};
	unsigned n = WHERE_LEN;

	for (int i = 0; i < N_HARMLESS; i++) {
		code[n++] = (struct sock_filter)SKIP_UNLESS(BPF_JEQ, (uint32_t)harmless[i], 1);
		code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)ASK;
	prog.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(
	    SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &prog);
}

/* Under the filter, the child waits at each call until that is answered: it tells by memory. */
pid_t watch_start(char **argv, const struct stub *stub, int *listener)
{
	volatile int *told =
	    mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (told == MAP_FAILED)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		int fd = install(stub);
		*told = fd < 0 ? -errno : fd;
		execvp(argv[0], argv);
		_exit(127);
	}
	while (pid > 0 && !*told)
		usleep(100);
	if (pid < 0 || *told < 0) {
		errno = pid < 0 ? errno : -*told;
		return -1;
	}
	int pidfd = pidfd_open(pid, 0);
	*listener = pidfd < 0 ? -1 : pidfd_getfd(pidfd, *told, 0);
	if (pidfd >= 0)
		close(pidfd);
	munmap((void *)told, PAGE);
	return *listener < 0 ? -1 : pid;
}
