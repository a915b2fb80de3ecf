/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stub: an empty process that mappings are then built in. It is started from a few bytes kept
 * here (an ELF header and one instruction), so that no file has to be found or installed. */
#include "restorer/confine.h"
#include "restorer/share.h"

#include <lizard/restore.h>
#include <lizard/error.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARCH_SET_CPUID = 0x1012, STUB_BASE = 0x400000, STUB_FALLBACK = 0x70000000 };

/* syscall; int3; int3, and syscall; ret */
static const uint8_t stub_code[LZ_STUB_CODE_ROOM] = {
    0x0f, 0x05, 0xcc, 0xcc, [LZ_STUB_MAP_INSN] = 0x0f, 0x05, 0xc3};

struct stub_file {
	Elf64_Ehdr head;
	Elf64_Phdr load;
	uint8_t code[4];
};

static const struct stub_file stub_file = {
    .head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
             .e_type = ET_EXEC,
             .e_machine = EM_X86_64,
             .e_version = EV_CURRENT,
             .e_entry = STUB_BASE + offsetof(struct stub_file, code),
             .e_phoff = offsetof(struct stub_file, load),
             .e_ehsize = sizeof(Elf64_Ehdr),
             .e_phentsize = sizeof(Elf64_Phdr),
             .e_phnum = 1},
    .load = {.p_type = PT_LOAD,
             .p_flags = PF_R | PF_X,
             .p_vaddr = STUB_BASE,
             .p_paddr = STUB_BASE,
             .p_filesz = sizeof(struct stub_file),
             .p_memsz = sizeof(struct stub_file),
             .p_align = LZ_PAGE},
    .code = {0x0f, 0x05, 0xcc, 0xcc},
};

/* What this thread was allowed before it was pinned. */
static __thread cpu_set_t own_cpus;
static cpu_set_t other_cpus;

void lz_stub_unpin(void)
{
	if (CPU_COUNT(&other_cpus))
		sched_setaffinity(0, sizeof other_cpus, &other_cpus);
}

/* Threads beside the pinned one use the other CPUs, if there are any. */
static void note_cpus(int pinned)
{
	other_cpus = own_cpus;
	if (CPU_COUNT(&other_cpus) > 1)
		CPU_CLR(pinned, &other_cpus);
}

void lz_stub_pin(const struct lz_meta *m)
{
	cpu_set_t want, have;

	if (!CPU_COUNT(&own_cpus))
		sched_getaffinity(0, sizeof own_cpus, &own_cpus);
	CPU_ZERO(&want);
	if (m && m->cpu_number < CPU_SETSIZE)
		CPU_SET(m->cpu_number, &want);
	if (m && sched_setaffinity(0, sizeof want, &want) == 0) {
		note_cpus((int)m->cpu_number);
		return;
	}
	if (sched_getaffinity(0, sizeof have, &have) < 0)
		return;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &have))
			continue;
		CPU_ZERO(&want);
		CPU_SET(i, &want);
		sched_setaffinity(0, sizeof want, &want);
		note_cpus(i);
		lz_debug("replay does not run on the recording's CPU but on %d", i);
		return;
	}
}

int lz_stub_cpu(unsigned i)
{
	cpu_set_t pinned, all = own_cpus;

	if (sched_getaffinity(0, sizeof pinned, &pinned) < 0)
		return -1;
	for (int pass = 0; pass < 2; pass++)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &all) && !!CPU_ISSET(cpu, &pinned) == !pass && !i--)
				return cpu;
	return -1;
}

void lz_stub_pin_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) < 0)
		lz_debug("this thread may not run on CPU %d: %s", cpu, strerror(errno));
}

static int stub_memfd(void)
{
	int fd = memfd_create("lizard-stub", MFD_CLOEXEC);

	if (fd < 0)
		return lz_fail_errno("cannot make the file of the replay stub");
	if (write(fd, &stub_file, sizeof stub_file) != sizeof stub_file) {
		lz_fail_errno("cannot write the replay stub");
		close(fd);
		return -1;
	}
	return fd;
}

/* In the child: no libc function that could change state shared with the parent. */
static void __attribute__((noreturn)) become_stub(int fd, int socket)
{
	struct rlimit none = {0, 0};
	static char name[] = "lizard-replay";
	char *argv[] = {name, NULL}, *envp[] = {NULL};
	sigset_t empty;

	setsid();
	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	for (int sig = 1; sig < 65; sig++)
		signal(sig, SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* both to where the socket's number is in nobody's way */
	fd = fcntl(fd, F_DUPFD, LZ_STUB_SOCKET + 1);
	socket = fcntl(socket, F_DUPFD, LZ_STUB_SOCKET + 1);
	close_range(0, ~0U, CLOSE_RANGE_CLOEXEC);
	if (dup2(socket, LZ_STUB_SOCKET) == LZ_STUB_SOCKET && ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)
		syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
	_exit(127);
}

static int wait_stop(pid_t pid, int *status)
{
	pid_t got;

	do {
		got = waitpid(pid, status, __WALL);
	} while (got < 0 && errno == EINTR);
	return got == pid && WIFSTOPPED(*status) ? 0 : -1;
}

struct ranges {
	uint64_t keep, keep_end;
	uint64_t start[64], end[64];
	unsigned n;
};

static int collect(void *arg, const struct lz_maps_entry *e)
{
	struct ranges *r = arg;

	if (e->start >> 63 || (e->start >= r->keep && e->end <= r->keep_end))
		return 0;
	if (r->n < 64)
		r->start[r->n] = e->start, r->end[r->n++] = e->end;
	return 0;
}

static int unmap_rest(struct lz_proc *p, uint64_t keep, uint64_t keep_end)
{
	struct ranges r = {.keep = keep, .keep_end = keep_end};
	int64_t result;

	if (lz_proc_maps(p->pid, collect, &r) < 0)
		return -1;
	for (unsigned i = 0; i < r.n; i++) {
		if (lz_proc_syscall(p, &result, SYS_munmap, r.start[i], r.end[i] - r.start[i], 0, 0,
		                    0, 0) < 0)
			return -1;
		if (result)
			return lz_fail("the replay stub cannot unmap %#lx-%#lx: %s",
			               (unsigned long)r.start[i], (unsigned long)r.end[i],
			               strerror((int)-result));
	}
	return 0;
}

/* Where the recording says that the program has nothing. */
static int find_place(struct lz_stub *stub, const struct lz_meta *m)
{
	enum { LENGTH_MAX = 1 << 20, LOWEST = 1 << 16 };
	uint64_t addr = m->stub_addr ? m->stub_addr : STUB_FALLBACK;
	uint64_t len = m->stub_len ? m->stub_len : LZ_STUB_PAGES * LZ_PAGE;

	if ((addr | len) % LZ_PAGE || len > LENGTH_MAX || len < LZ_STUB_PAGES * LZ_PAGE ||
	    addr < LOWEST || addr > (1ULL << 47) - LENGTH_MAX)
		return lz_fail("the recording reserves no valid range for the replay stub");
	stub->start = addr;
	stub->end = addr + len;
	return 0;
}

static int map_own(struct lz_proc *p, uint64_t addr, uint64_t len, int prot)
{
	int64_t result;

	if (lz_proc_syscall(p, &result, SYS_mmap, addr, len, (uint64_t)prot,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (uint64_t)-1, 0) < 0)
		return -1;
	return result == (int64_t)addr ? 0
	                               : lz_fail("cannot map the replay stub at %#lx: %s",
	                                         (unsigned long)addr, strerror((int)-result));
}

/* From here on the range is the stub's. */
static int move_code(struct lz_proc *p, struct lz_stub *stub, const struct lz_meta *m)
{
	if (find_place(stub, m) < 0 ||
	    map_own(p, stub->start, stub->end - stub->start, PROT_READ | PROT_EXEC) < 0 ||
	    map_own(p, stub->start + LZ_PAGE, LZ_PAGE, PROT_NONE) < 0 ||
	    lz_proc_write(p, stub->start, stub_code, sizeof stub_code) < 0)
		return -1;
	p->syscall_insn = stub->start;
	stub->map_insn = stub->start + LZ_STUB_MAP_INSN;
	stub->barred_byte = stub->start + LZ_STUB_BARRED_BYTE;
	p->stub = stub;
	return unmap_rest(p, stub->start, stub->end);
}

/* When memory is short it is the first to go: a recording may ask for any amount. Best effort. */
static void go_first(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4)
		lz_debug("%s cannot be set: %s", path, strerror(errno));
	close(fd);
}

static int prepare(struct lz_proc *p, struct lz_stub *stub, const struct lz_meta *m)
{
	int64_t result;

	/* whatever it might start is traced as well, and killed with it */
	if (ptrace(PTRACE_SETOPTIONS, p->pid, 0,
	           PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
	               PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD) < 0)
		return lz_fail_errno("cannot set up the replay process");
	go_first(p->pid);
	p->syscall_insn = STUB_BASE + offsetof(struct stub_file, code);
	if (move_code(p, stub, m) < 0)
		return -1;
	if (lz_proc_syscall(p, &result, SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0, 0) < 0)
		return -1;
	if (result)
		lz_debug("rdtsc cannot be trapped here: %s", strerror((int)-result));
	if (lz_proc_syscall(p, &result, SYS_arch_prctl, ARCH_SET_CPUID, 0, 0, 0, 0, 0) < 0)
		return -1;
	if (result)
		lz_debug("cpuid cannot be trapped here: %s", strerror((int)-result));
	return lz_confine(p);
}

static struct lz_stub *new_stub(int socket)
{
	struct lz_stub *stub = calloc(1, sizeof *stub);

	if (stub)
		stub->socket = socket;
	else
		lz_fail("out of memory");
	return stub;
}

static void free_stub(struct lz_stub *stub)
{
	if (stub && stub->socket >= 0)
		close(stub->socket);
	free(stub);
}

/* The child stands at its first instruction, or is gone. */
static pid_t spawn(int file, int socket)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		become_stub(file, socket);
	if (pid < 0)
		return lz_fail_errno("cannot start the replay process");
	if (wait_stop(pid, &status) < 0)
		return lz_fail("cannot start the replay process: ptrace or running a file in "
		               "memory is not allowed here (status %#x)",
		               status);
	return pid;
}

static int set_up(struct lz_proc *p, pid_t pid, int socket, const struct lz_meta *m)
{
	struct lz_stub *stub = NULL;

	if (lz_proc_open(p, pid) < 0 || !(stub = new_stub(socket))) {
		close(socket);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
		lz_proc_close(p);
		return -1;
	}
	int ret = prepare(p, stub, m);
	p->stub = stub;
	if (ret < 0) {
		lz_stub_kill(p);
		return lz_fail_in("the replay process");
	}
	return 0;
}

int lz_stub_start(struct lz_proc *p, const struct lz_meta *m)
{
	int pair[2], file = stub_memfd();

	*p = LZ_NO_PROC;
	if (file < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		close(file);
		return lz_fail_errno("cannot make a socket for the replay process");
	}
	pid_t pid = spawn(file, pair[1]);
	close(file);
	close(pair[1]);
	if (pid > 0)
		return set_up(p, pid, pair[0], m);
	close(pair[0]);
	return -1;
}

/* Is it gone? Once it is, its number may be that of another thread's process. */
static bool reap(pid_t pid, int options)
{
	int status = 0;
	pid_t got;

	do {
		got = waitpid(pid, &status, __WALL | options);
	} while ((got == pid && WIFSTOPPED(status)) || (got < 0 && errno == EINTR));
	return got != 0;
}

static void forget(struct lz_proc *p)
{
	lz_proc_close(p);
	free_stub(p->stub);
	*p = LZ_NO_PROC;
}

void lz_stub_kill(struct lz_proc *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		reap(p->pid, 0);
	}
	forget(p);
}

enum { DYING_MAX = 16 };
static _Thread_local struct {
	pid_t v[DYING_MAX];
	unsigned n;
} dying;

static void reap_dying(int options)
{
	unsigned n = 0;

	for (unsigned i = 0; i < dying.n; i++)
		if (!reap(dying.v[i], options))
			dying.v[n++] = dying.v[i];
	dying.n = n;
}

void lz_stub_drop(struct lz_proc *p)
{
	if (p->pid > 0) {
		reap_dying(WNOHANG);
		if (dying.n == DYING_MAX)
			reap_dying(0);
		if (CPU_COUNT(&other_cpus))
			sched_setaffinity(p->pid, sizeof other_cpus, &other_cpus);
		kill(p->pid, SIGKILL);
		dying.v[dying.n++] = p->pid;
	}
	forget(p);
}

void lz_stub_reap(void)
{
	reap_dying(0);
}

void lz_stub_limit_stack(struct lz_proc *p, uint64_t limit)
{
	struct rlimit now, lim;

	if (prlimit(p->pid, RLIMIT_STACK, NULL, &now) < 0 || now.rlim_cur == limit)
		return;
	lim = (struct rlimit){limit, limit > now.rlim_max ? limit : now.rlim_max};
	static atomic_flag told = ATOMIC_FLAG_INIT;
	if (prlimit(p->pid, RLIMIT_STACK, &lim, NULL) < 0 && !atomic_flag_test_and_set(&told))
		lz_warn(
		    "cannot set the replayed program's stack limit to %lu bytes: %s; a deep stack "
		    "may end elsewhere",
		    (unsigned long)limit, strerror(errno));
}

/* What the copy has of Lizard's is the same, with a descriptor of its own. */
static struct lz_stub *copy_stub(const struct lz_stub *stub)
{
	int socket = fcntl(stub->socket, F_DUPFD_CLOEXEC, 0);
	struct lz_stub *copy = socket < 0 ? NULL : new_stub(socket);

	if (socket < 0) {
		lz_fail_errno("cannot copy the replay process");
		return NULL;
	}
	if (!copy) {
		close(socket);
		return NULL;
	}
	*copy = *stub;
	copy->socket = socket;
	/* of the byte the kernel knows in the original only */
	copy->can_bar = false;
	return copy;
}

/* CLONE_PARENT: the copy is our child, not the stub's, so that it never remains as a zombie. */
static int clone_process(struct lz_proc *p, struct lz_proc *copy)
{
	int64_t child;
	int status;

	if (lz_proc_syscall(p, &child, SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0, 0) < 0)
		return -1;
	if (child <= 0)
		return lz_fail("cannot copy the replay process: %s", strerror((int)-child));
	if (wait_stop((pid_t)child, &status) < 0)
		return lz_fail("the copy of the replay process died at once");
	if (lz_proc_open(copy, (pid_t)child) == 0)
		return 0;
	kill((pid_t)child, SIGKILL);
	waitpid((pid_t)child, NULL, __WALL);
	return -1;
}

int lz_stub_fork(struct lz_proc *p, struct lz_proc *copy)
{
	struct user_regs_struct regs;
	uint64_t mask = 0;

	*copy = LZ_NO_PROC;
	if (lz_proc_regs(p, &regs) < 0 || clone_process(p, copy) < 0)
		return -1;
	copy->syscall_insn = p->syscall_insn;
	copy->stub = copy_stub(p->stub);
	if (!copy->stub || ptrace(PTRACE_SETSIGMASK, copy->pid, sizeof mask, &mask) < 0 ||
	    lz_proc_set_regs(copy, &regs) < 0) {
		lz_stub_kill(copy);
		return lz_fail("cannot set up the copy of the replay process");
	}
	if (p->stub->shares && lz_share_split(p, copy) < 0) {
		lz_stub_kill(copy);
		return lz_fail_in("the copy of the replay process");
	}
	return 0;
}
