/* refuse [ptrace|interrupt|unknown|all|old|dispatch] PROGRAM ARGS: runs it where what containers refuse is refused: personality,
 * userfaultfd, pidfd_getfd and process_vm_readv; instead, if asked for, ptrace, or only what it has to stop a process.
 * Where what is unknown to Linux 7.0 kills; where all kills that a C library's start and puts() do not need. Old: where
 * there is nothing that came after Linux 5.14, which is RHEL 9's: neither calls nor PAGEMAP_SCAN. Dispatch: where there is no syscall user
 * dispatch, which Linux 5.11 has. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(nr)                                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                           \
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

#define ALLOW(nr)                                                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                           \
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

enum { LAST_KNOWN = 471, LAST_OLD = 447 };

#define PAGEMAP_SCAN_REQUEST _IOC(_IOC_READ | _IOC_WRITE, 'f', 16, 96)

static struct sock_filter unknown[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_filter all[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(SYS_execve),
    ALLOW(SYS_brk),
    ALLOW(SYS_mmap),
    ALLOW(SYS_mprotect),
    ALLOW(SYS_munmap),
    ALLOW(SYS_access),
    ALLOW(SYS_openat),
    ALLOW(SYS_newfstatat),
    ALLOW(SYS_fstat), /* glibc 2.39 */
    ALLOW(SYS_read),
    ALLOW(SYS_pread64),
    ALLOW(SYS_readlink), /* statically linked */
    ALLOW(SYS_readlinkat),
    ALLOW(SYS_close),
    ALLOW(SYS_arch_prctl),
    ALLOW(SYS_set_tid_address),
    ALLOW(SYS_set_robust_list),
    ALLOW(SYS_rseq),
    ALLOW(SYS_prlimit64),
    ALLOW(SYS_getrandom),
    ALLOW(SYS_write),
    ALLOW(SYS_exit_group),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static struct sock_filter tools[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    REFUSE(SYS_personality),
    REFUSE(SYS_userfaultfd),
    REFUSE(SYS_pidfd_getfd),
    REFUSE(SYS_process_vm_readv),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_filter ptrace_calls[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    REFUSE(SYS_ptrace),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_filter interrupts[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
    REFUSE(PTRACE_INTERRUPT),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_filter newer[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_OLD, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PAGEMAP_SCAN_REQUEST, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_filter dispatch[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SYSCALL_USER_DISPATCH, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

#define FILTER(name, filter)                                                                       \
	{                                                                                          \
		name,                                                                              \
		{                                                                                  \
			sizeof(filter) / sizeof(filter[0]), filter                                 \
		}                                                                                  \
	}

static const struct {
	const char *name;
	struct sock_fprog prog;
} filters[] = {FILTER("ptrace", ptrace_calls), FILTER("interrupt", interrupts),
               FILTER("unknown", unknown), FILTER("all", all), FILTER("old", newer),
               FILTER("dispatch", dispatch)};

int main(int argc, char **argv)
{
	struct sock_fprog prog = {sizeof(tools) / sizeof(tools[0]), tools};

	for (size_t i = 0; argc > 2 && i < sizeof(filters) / sizeof(filters[0]); i++)
		if (strcmp(argv[1], filters[i].name) == 0) {
			prog = filters[i].prog;
			argv++;
			break;
		}
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return 125;
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
