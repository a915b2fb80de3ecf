/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory, registers and debug registers of a ptraced process. */
#include <common/base/cleanup.h>
#include <common/process/guard.h>
#include <lizard/error.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

int lz_proc_open(struct lz_proc *p, pid_t pid)
{
	char path[64];

	if (lz_proc_mine() < 0)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno == EACCES) {
		lz_fail("cannot open %s: it runs as another user now, or its program may not be "
		        "read, and Lizard has no CAP_SYS_PTRACE (in a container: docker run "
		        "--cap-add SYS_PTRACE)",
		        path);
		errno = EACCES;
		return -1;
	}
	if (fd < 0)
		return lz_fail_errno("cannot open %s", path);
	*p = (struct lz_proc){.pid = pid, .mem = fd};
	return 0;
}

void lz_proc_close(struct lz_proc *p)
{
	if (p->mem >= 0)
		close(p->mem);
	p->mem = -1;
}

bool lz_proc_has_ended(pid_t pid)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	lz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return false; /* nobody can tell: there are no descriptors left */
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
	const char *name_end = n > 0 ? memrchr(text, ')', (size_t)n) : NULL;
	return !name_end || text + n - name_end <= 2 || name_end[2] == 'Z' || name_end[2] == 'X';
}

int lz_proc_wait(pid_t pid, int *status)
{
	pid_t got;

	while ((got = waitpid(pid, status, __WALL)) < 0 && errno == EINTR) {
		if (!lz_proc_has_ended(pid))
			continue;
		got = waitpid(pid, status, WNOHANG | __WALL);
		break;
	}
	if (got == 0)
		return lz_fail("thread %d has ended, and its process with it", (int)pid);
	return got == pid ? 0 : lz_fail_errno("cannot wait for process %d", (int)pid);
}

/* Needs no descriptor; slow. */
static size_t peek(const struct lz_proc *p, uint64_t addr, uint8_t *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		uint64_t at = (addr + done) & ~7ULL, off = (addr + done) & 7, word;
		size_t n = len - done < 8 - off ? len - done : 8 - off;
		errno = 0;
		word = (uint64_t)ptrace(PTRACE_PEEKDATA, p->pid, at, NULL);
		if (errno)
			break;
		memcpy(buf + done, (uint8_t *)&word + off, n);
		done += n;
	}
	return done;
}

size_t lz_proc_read_some(const struct lz_proc *p, uint64_t addr, void *buf, size_t len)
{
	size_t done = 0;

	if (p->mem < 0)
		return peek(p, addr, buf, len);
	while (done < len) {
		ssize_t n = pread(p->mem, (char *)buf + done, len - done, (off_t)(addr + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

int lz_proc_read(const struct lz_proc *p, uint64_t addr, void *buf, size_t len)
{
	struct iovec here = {buf, len}, there = {(void *)(uintptr_t)addr, len};

	/* Faster than /proc/PID/mem, but refuses what the program itself may not read. */
	if (process_vm_readv(p->pid, &here, 1, &there, 1, 0) == (ssize_t)len)
		return 0;
	if (lz_proc_read_some(p, addr, buf, len) == len)
		return 0;
	return lz_fail("cannot read %zu bytes at %#lx of process %d", len, (unsigned long)addr,
	               (int)p->pid);
}

/* Where ADDR is in an object that is mapped more than once. */
struct place {
	uint64_t addr, at, left;
	uint32_t object;
};

static int find_place(void *arg, const struct lz_maps_entry *e)
{
	struct place *w = arg;

	if (w->addr < e->start || w->addr >= e->end)
		return 0;
	w->object = e->shared ? lz_proc_shared_object(e) : 0;
	w->at = e->offset + (w->addr - e->start);
	w->left = e->end - w->addr;
	return 1;
}

/* A shared mapping that is not writable takes no write by way of the process. */
static ssize_t write_shared(const struct lz_proc *p, uint64_t addr, const void *buf, size_t len)
{
	struct place w = {.addr = addr};
	char path[64];

	if (!p->stub || !p->stub->shares || lz_proc_maps(p->pid, find_place, &w) < 0 || !w.object)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/fd/%u", (int)p->pid, LZ_SHARED_FD(w.object));
	lz_auto_close int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -1 : pwrite(fd, buf, len < w.left ? len : w.left, (off_t)w.at);
}

/* Needs no descriptor; slow. */
static int poke(const struct lz_proc *p, uint64_t addr, const uint8_t *buf, size_t len)
{
	for (size_t done = 0, n; done < len; done += n) {
		uint64_t at = (addr + done) & ~7ULL, off = (addr + done) & 7, word;
		n = len - done < 8 - off ? len - done : 8 - off;
		errno = 0;
		word = (uint64_t)ptrace(PTRACE_PEEKDATA, p->pid, at, NULL);
		memcpy((uint8_t *)&word + off, buf + done, n);
		if (errno || ptrace(PTRACE_POKEDATA, p->pid, at, word) < 0)
			return lz_fail_errno("cannot write %zu bytes at %#lx of process %d", len,
			                     (unsigned long)addr, (int)p->pid);
	}
	return 0;
}

static int write_all(const struct lz_proc *p, uint64_t addr, const void *buf, size_t len)
{
	size_t done = 0;

	if (p->mem < 0)
		return poke(p, addr, buf, len);
	while (done < len) {
		ssize_t n =
		    pwrite(p->mem, (const char *)buf + done, len - done, (off_t)(addr + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			n = write_shared(p, addr + done, (const char *)buf + done, len - done);
		if (n <= 0)
			return lz_fail("cannot write %zu bytes at %#lx of process %d", len,
			               (unsigned long)addr, (int)p->pid);
		done += (size_t)n;
	}
	return 0;
}

int lz_proc_write(const struct lz_proc *p, uint64_t addr, const void *buf, size_t len)
{
	return lz_guard_range(p, addr, len) < 0 ? -1 : write_all(p, addr, buf, len);
}

int lz_proc_write_own(const struct lz_proc *p, uint64_t addr, const void *buf, size_t len)
{
	if (addr < p->stub->start || addr > p->stub->end || len > p->stub->end - addr)
		return lz_fail("%zu bytes do not fit into the replay stub at %#lx", len,
		               (unsigned long)addr);
	return write_all(p, addr, buf, len);
}

int lz_proc_clear(const struct lz_proc *p, uint64_t addr, size_t len)
{
	static const uint8_t zeroes[1 << 16];
	struct iovec here = {(void *)zeroes, 0}, there = {(void *)(uintptr_t)addr, 0};

	if (lz_guard_range(p, addr, len) < 0)
		return -1;
	for (size_t done = 0; done < len; done += here.iov_len) {
		there.iov_base = (void *)(uintptr_t)(addr + done);
		here.iov_len = there.iov_len =
		    len - done < sizeof zeroes ? len - done : sizeof zeroes;
		if (process_vm_writev(p->pid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
			return lz_fail_errno("cannot clear %zu bytes at %#lx of process %d", len,
			                     (unsigned long)addr, (int)p->pid);
	}
	return 0;
}

int lz_proc_regs(const struct lz_proc *p, struct user_regs_struct *r)
{
	if (ptrace(PTRACE_GETREGS, p->pid, NULL, r) < 0)
		return lz_fail_errno("cannot read the registers of process %d", (int)p->pid);
	if (p->elsewhere)
		p->elsewhere->show(p->elsewhere, r);
	return 0;
}

int lz_proc_set_regs(const struct lz_proc *p, const struct user_regs_struct *r)
{
	struct user_regs_struct hidden;

	if (p->elsewhere) {
		hidden = *r;
		p->elsewhere->hide(p->elsewhere, &hidden);
		r = &hidden;
	}
	if (ptrace(PTRACE_SETREGS, p->pid, NULL, r) < 0)
		return lz_fail_errno("cannot set the registers of process %d", (int)p->pid);
	return 0;
}

int lz_proc_xstate(const struct lz_proc *p, uint8_t *buf, uint32_t *len)
{
	struct iovec io = {buf, *len};

	if (ptrace(PTRACE_GETREGSET, p->pid, (void *)NT_X86_XSTATE, &io) < 0)
		return lz_fail_errno("cannot read the vector registers of process %d", (int)p->pid);
	*len = (uint32_t)io.iov_len;
	return 0;
}

int lz_proc_set_xstate(const struct lz_proc *p, const uint8_t *buf, uint32_t len)
{
	struct iovec io = {(void *)buf, len};

	if (ptrace(PTRACE_SETREGSET, p->pid, (void *)NT_X86_XSTATE, &io) < 0)
		return lz_fail_errno("cannot set the vector registers of process %d", (int)p->pid);
	return 0;
}

static int poke_debug(const struct lz_proc *p, int i, uint64_t value)
{
	size_t at = offsetof(struct user, u_debugreg) + (size_t)i * sizeof(value);

	if (ptrace(PTRACE_POKEUSER, p->pid, at, value) < 0)
		return lz_fail_errno("cannot set debug register %d of process %d", i, (int)p->pid);
	return 0;
}

static int peek_debug(const struct lz_proc *p, int i, uint64_t *value)
{
	size_t at = offsetof(struct user, u_debugreg) + (size_t)i * sizeof(*value);

	errno = 0;
	*value = (uint64_t)ptrace(PTRACE_PEEKUSER, p->pid, at, NULL);
	if (errno)
		return lz_fail_errno("cannot read debug register %d of process %d", i, (int)p->pid);
	return 0;
}

/* DR7: two enable bits per slot from bit 0, four bits of kind and length per slot from bit 16
 * (Intel SDM volume 3, section 18.2.4). */
int lz_proc_set_debug(const struct lz_proc *p, int slot, uint64_t addr, int len, int kind)
{
	static const uint8_t len_code[9] = {[1] = 0, [2] = 1, [4] = 3, [8] = 2};
	uint64_t dr7;

	if (slot < 0 || slot > 3 || (kind && len != 1 && len != 2 && len != 4 && len != 8))
		return lz_fail("debug register %d with length %d does not exist", slot, len);
	/* root could have the kernel's own memory watched */
	if (kind && addr >> 47)
		return lz_fail(
		    "the address %#lx is not a program's: the recording is damaged or forged",
		    (unsigned long)addr);
	if (peek_debug(p, 7, &dr7) < 0)
		return -1;
	uint64_t off = dr7 & ~(3ULL << (2 * slot)) & ~(15ULL << (16 + 4 * slot));
	if (off != dr7 && poke_debug(p, 7, off) < 0)
		return -1;
	if (!kind)
		return 0;
	uint64_t rw = kind == 'x' ? 0 : kind == 'w' ? 1 : 3;
	uint64_t size = kind == 'x' ? 0 : len_code[len];
	if (poke_debug(p, slot, addr) < 0)
		return -1;
	return poke_debug(p, 7, off | 1ULL << (2 * slot) | (rw | size << 2) << (16 + 4 * slot));
}

int lz_proc_take_debug(const struct lz_proc *p, uint64_t *fired)
{
	if (peek_debug(p, 6, fired) < 0)
		return -1;
	*fired &= 0x400f;
	return *fired ? poke_debug(p, 6, 0) : 0;
}
