/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls that are refused, or answered by us, because of their arguments. */
#include "tracer/calls/calls.h"
#include "tracer/state/state.h"

#include <lizard/error.h>
#include <asm/prctl.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/memfd.h>
#include <linux/sched.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Newer than Debian 12's headers. */
enum { ARCH_SET_CPUID_ = 0x1012, MADV_COLLAPSE_ = 25, PR_LAST_KNOWN = 78 };
enum { MAP_DROPPABLE_ = 8, SOL_XDP_ = 283, AF_XDP_ = 44, PR_GET_AUXV_ = 0x41555856 };

/* An option that we do not know may write, or change what the program's instructions do. */
static int64_t refuse_prctl(uint64_t option)
{
	switch (option) {
	case PR_SET_PTRACER:
	case PR_SET_VMA:
	case PR_GET_AUXV_: return 0;
	case PR_SET_TSC:
	case PR_SET_SECCOMP:
	case PR_SET_MM:
	case PR_SET_SYSCALL_USER_DISPATCH: break;
	default:
		if (option <= PR_LAST_KNOWN)
			return 0;
	}
	lz_warn("prctl option %d is not supported: the program gets EINVAL", (int)option);
	return -EINVAL;
}

static int64_t refuse_arch_prctl(uint64_t code)
{
	switch (code) {
	case ARCH_SET_CPUID_: return -ENODEV;
	case 0x1023: /* ARCH_REQ_XCOMP_PERM: registers that replay has no room for */
	case 0x1025: return -EOPNOTSUPP;
	case 0x2001: /* ARCH_MAP_VDSO_* */
	case 0x2002:
	case 0x2003:
	case 0x5001: /* ARCH_SHSTK_*: shadow stacks */
	case 0x5002:
	case 0x5003:
	case 0x5004:
	case 0x5005: return -EINVAL;
	case 0x4002: /* ARCH_ENABLE_TAGGED_ADDR */
	case 0x4004: return -ENODEV;
	}
	return 0;
}

/* MADV_FREE shows its effect at a time of the kernel's choosing. */
static int64_t refuse_madvise(uint64_t advice)
{
	if (advice == MADV_FREE || advice > MADV_COLLAPSE_)
		return -EINVAL;
	return 0;
}

/* Options by which the kernel shares memory with the program. */
static int64_t refuse_sockopt(const struct lz_call *c)
{
	int level = (int)c->args[1], name = (int)c->args[2];

	if (c->nr == SYS_getsockopt)
		return level == IPPROTO_TCP && name == TCP_ZEROCOPY_RECEIVE ? -ENOPROTOOPT : 0;
	if (level == SOL_PACKET && (name == PACKET_RX_RING || name == PACKET_TX_RING))
		return -ENOPROTOOPT;
	return level == SOL_XDP_ ? -ENOPROTOOPT : 0;
}

static int64_t refuse_mmap(uint32_t flags)
{
	if ((flags & MAP_TYPE) == MAP_DROPPABLE_)
		return -EINVAL;
	return flags & MAP_HUGETLB ? -ENOMEM : 0;
}

static int64_t refuse_clone(struct lz_tracer *t)
{
	uint64_t flags = t->cur->call.args[0];

	if ((flags & CLONE_VM) && !(flags & (CLONE_VFORK | CLONE_THREAD))) {
		lz_warn("a child that shares memory with its running parent is not supported: "
		        "clone gives ENOSYS");
		return -ENOSYS;
	}
	return 0;
}

/* Only that can be mapped a second time by mremap(). */
static bool is_shared(const struct lz_tracer *t, uint64_t addr)
{
	ptrdiff_t i = lz_vmas_find(&t->vmas, addr);

	return i >= 0 && t->vmas.a[i].v.flags & MAP_SHARED;
}

static int64_t refuse_by_args(struct lz_tracer *t)
{
	const uint64_t *a = t->cur->call.args;

	switch (t->cur->call.nr) {
	case SYS_ioctl: return lz_ioctl_refuse(t, (uint32_t)a[1], a[2]);
	case SYS_prctl: return refuse_prctl(a[0]);
	case SYS_arch_prctl: return refuse_arch_prctl(a[0]);
	case SYS_madvise: return refuse_madvise(a[2]);
	case SYS_clone: return refuse_clone(t);
	case SYS_mmap: return refuse_mmap((uint32_t)a[3]);
	case SYS_memfd_create: return a[1] & MFD_HUGETLB ? -EINVAL : 0;
	case SYS_shmget: return a[2] & SHM_HUGETLB ? -ENOMEM : 0;
	case SYS_personality: return a[0] != 0xffffffff && a[0] & READ_IMPLIES_EXEC ? -EINVAL : 0;
	case SYS_socket: return a[0] == AF_XDP_ ? -EAFNOSUPPORT : 0;
	case SYS_getsockopt:
	case SYS_setsockopt: return refuse_sockopt(&t->cur->call);
	case SYS_mremap: return (!a[1] && !is_shared(t, a[0])) || (a[3] & ~3ULL) ? -EINVAL : 0;
	case SYS_pkey_mprotect: return a[3] != ~0ULL ? -EINVAL : 0;
	}
	return 0;
}

bool lz_answer_by_args(struct lz_tracer *t, int64_t *result)
{
	uint64_t pid = t->cur->call.args[0];

	if (lz_answer_dumpable(t, result))
		return true;

	if (t->cur->call.nr == SYS_sched_setaffinity && (!pid || lz_thread_find(t, (pid_t)pid))) {
		*result = lz_affinity_set(t);
		return true;
	}
	*result = refuse_by_args(t);
	return *result != 0;
}
