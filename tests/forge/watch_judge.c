/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who makes a call, and whether it is one of those that are made for a replayed process. */
#include "tests/forge/watch.h"

#include "tests/forge/calls.h"
#include <lizard/syscalls.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAGE = 4096, SYSCALL_LEN = 2 };

static bool is_replayed(pid_t pid)
{
	static const char stub[] = "/memfd:lizard-stub";
	char path[64], exe[256];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, exe, sizeof(exe));
	return n >= (ssize_t)sizeof(stub) - 1 && !memcmp(exe, stub, sizeof(stub) - 1);
}

static bool in_table(const struct seccomp_data *d)
{
	for (size_t i = 0; i < sizeof(replay_calls) / sizeof(*replay_calls); i++) {
		const struct call_row *row = &replay_calls[i];
		if (d->nr == row->nr && (d->args[row->arg] & row->mask) == row->value)
			return true;
	}
	return false;
}

static bool overlap(const struct stub *stub, uint64_t addr, uint64_t len)
{
	return addr < stub->addr + stub->len && addr + len > stub->addr;
}

/* The page in which descriptors are taken, which only the replayer may write to. */
static bool opens_page(const struct stub *stub, const struct seccomp_data *d)
{
	return d->nr == SYS_mprotect && d->args[0] == stub->addr + PAGE && d->args[1] == PAGE &&
	       !(d->args[2] & ~(uint64_t)(PROT_READ | PROT_WRITE));
}

static bool touches(const struct stub *stub, const struct seccomp_data *d)
{
	if (opens_page(stub, d))
		return false;
	switch (d->nr) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_madvise: return overlap(stub, d->args[0], d->args[1]);
	case SYS_mremap:
		return overlap(stub, d->args[0], d->args[1]) ||
		       overlap(stub, d->args[4], d->args[2]);
	default: return false;
	}
}

static bool is_own(const struct seccomp_data *d)
{
	const bool data = !(d->args[2] & ~(uint64_t)(PROT_READ | PROT_WRITE));

	switch (d->nr) {
	case SYS_mmap:
		return data && d->args[3] == OWN_FLAGS && d->args[4] == UINT64_MAX && !d->args[5];
	case SYS_munmap: return true;
	case SYS_mprotect: return data;
	case SYS_madvise: return d->args[2] == MADV_DONTNEED;
	default: return false;
	}
}

/* All other calls are barred, but for those of an instruction that is not injected calls'. */
static bool bars(const struct stub *stub, const struct seccomp_data *d)
{
	return d->args[1] == PR_SYS_DISPATCH_ON && d->args[2] == stub->addr + OWN_INSN &&
	       d->args[3] <= 3 && d->args[4] - stub->addr < PAGE;
}

/* What is wrong with a replayed process's call; NULL: nothing. */
static const char *wrong(const struct seccomp_data *d, const struct stub *stub)
{
	uint64_t at = d->instruction_pointer - SYSCALL_LEN;

	if (d->arch != AUDIT_ARCH_X86_64)
		return "a 32-bit call";
	if (!in_table(d))
		return "not in the table";
	if (at - STUB_FIRST < PAGE)
		return NULL;
	if (at == stub->addr + OWN_INSN && !is_own(d))
		return "not a call of its own";
	if (d->nr == SYS_prctl && d->args[0] == PR_SET_SYSCALL_USER_DISPATCH && !bars(stub, d))
		return "another bar";
	if (at != stub->addr && at != stub->addr + OWN_INSN)
		return "not from the stub's instruction";
	return touches(stub, d) ? "touches the stub" : NULL;
}

const char *watch_judge(const struct seccomp_notif *n, const struct stub *stub)
{
	static char text[512];
	const struct seccomp_data *d = &n->data;
	bool native = d->arch == AUDIT_ARCH_X86_64;
	bool replayed = is_replayed((pid_t)n->pid);
	const char *why = replayed ? wrong(d, stub) : NULL;

	if (!replayed && native && d->nr == SYS_socket && d->args[0] != AF_UNIX)
		why = "a socket";
	if (!why)
		return NULL;
	snprintf(text, sizeof(text),
	         "%s %d: %s: %s(%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ", %#" PRIx64
	         ") at %#" PRIx64,
	         replayed ? "replayed process" : "process", (int)n->pid, why,
	         native ? lz_syscall_name((uint64_t)d->nr) : "call", (uint64_t)d->args[0],
	         (uint64_t)d->args[1], (uint64_t)d->args[2], (uint64_t)d->args[3],
	         (uint64_t)d->instruction_pointer);
	return text;
}
